#include "learner/decoder.h"

#include <utility>

#include "core/base/error.h"

namespace rlgo::learner {

Decoder::Decoder(bool thread) {
  if (thread) thread_ = std::thread([this] { work(); });
}

Decoder::~Decoder() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Decoder::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return over_ || !queue_.empty(); });
    if (over_) return;
    decode_one(lock);
  }
}

void Decoder::decode_one(std::unique_lock<std::mutex>& lock) {
  const auto* key = queue_.front();
  queue_.pop_front();
  const auto asked = entries_.find(key);
  if (asked == entries_.end() || asked->second.done) return;
  const Episode episode = asked->second.episode;
  lock.unlock();
  std::optional<mdp::Trajectory> found;
  try {
    found = mdp::whole(*episode);
  } catch (const std::exception&) {
    // take() meets it again, and can report it.
  }
  lock.lock();
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;  // forgotten meanwhile
  entry->second.trajectory = std::move(found);
  entry->second.done = true;
  decoded_.notify_all();
}

void Decoder::ahead(const Episode& episode) {
  std::unique_lock lock(mutex_);
  const auto [entry, fresh] = entries_.try_emplace(episode.get());
  entry->second.turn = turn_;
  if (!fresh) return;
  entry->second.episode = episode;
  queue_.push_back(episode.get());
  if (thread_.joinable()) {
    wake_.notify_one();
  } else {
    decode_one(lock);
  }
}

std::vector<mdp::Trajectory> Decoder::take(std::vector<Episode> episodes, std::vector<std::string>& notes,
                                           const std::function<void()>& between) {
  std::vector<mdp::Trajectory> trajectories;
  trajectories.reserve(episodes.size());
  std::unique_lock lock(mutex_);
  ++turn_;
  for (auto& episode : episodes) {
    const auto found = entries_.find(episode.get());
    if (found != entries_.end()) {
      decoded_.wait(lock, [&] { return found->second.done; });
      auto trajectory = std::move(found->second.trajectory);
      entries_.erase(found);
      if (trajectory) {
        trajectories.push_back(std::move(*trajectory));
        episode.reset();
        continue;
      }
    }
    lock.unlock();  // `between` may hand over more
    try {
      trajectories.push_back(mdp::whole(*episode));
    } catch (const Error& e) {
      notes.push_back(
          fmt::format("episode {} of rank {} is left out: {}", episode->facts.episode, episode->facts.rank, e.what()));
    }
    episode.reset();
    if (between) between();
    lock.lock();
  }
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.turn < turn_; });
  return trajectories;
}

}  // namespace rlgo::learner
