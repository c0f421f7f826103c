#include "learner/decoder.h"

#include "core/base/error.h"

namespace rlgo::learner {

void Decoder::ahead(const Episode& episode) {
  if (ready_.contains(episode.get())) return;
  try {
    ready_.emplace(episode.get(), std::pair{episode, mdp::whole(*episode)});
  } catch (const Error&) {
    // take() meets it again, and can report it.
  }
}

std::vector<mdp::Trajectory> Decoder::take(std::vector<Episode> episodes, std::vector<std::string>& notes,
                                           const std::function<void()>& between) {
  std::vector<mdp::Trajectory> trajectories;
  trajectories.reserve(episodes.size());
  for (auto& episode : episodes) {
    if (auto found = ready_.find(episode.get()); found != ready_.end()) {
      trajectories.push_back(std::move(found->second.second));
      ready_.erase(found);
      episode.reset();
      continue;
    }
    try {
      trajectories.push_back(mdp::whole(*episode));
    } catch (const Error& e) {
      notes.push_back(
          fmt::format("episode {} of rank {} is left out: {}", episode->facts.episode, episode->facts.rank, e.what()));
    }
    episode.reset();
    if (between) between();
  }
  ready_.clear();
  return trajectories;
}

}  // namespace rlgo::learner
