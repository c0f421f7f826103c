#include "replay/sampler.h"

#include <algorithm>

#include "core/base/error.h"
#include "replay/parts.h"

namespace rlgo::replay {
namespace {

constexpr size_t kOpenParts = 32;

}  // namespace

Sampler::Sampler(const std::filesystem::path& path, Rng rng, bool skip_broken) : rng_(rng) {
  for (const auto& candidate : part_paths(path)) {
    try {
      const PartReader reader(candidate);
      if (paths_.empty()) spec_ = reader.header().spec;
      if (reader.header().spec != spec_)
        fail("{}: its observation spec differs from that of {}", candidate.string(), paths_[0].string());
      for (int64_t i = 0; i < reader.episodes(); ++i) episodes_.push_back({paths_.size(), i, reader.steps(i)});
      steps_ += reader.steps();
      paths_.push_back(candidate);
    } catch (const Error& error) {
      if (!skip_broken) throw;
      broken_.push_back({candidate, error.what()});
    }
  }
}

const PartReader& Sampler::part(size_t index) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& entry) { return entry.first == index; });
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
  } else {
    open_.emplace_front(index, PartReader(paths_[index], true));
    if (open_.size() > kOpenParts) open_.pop_back();
  }
  return open_.front().second;
}

mdp::Trajectory Sampler::episode() {
  if (episodes_.empty()) fail("rollout store: no episodes to sample from");
  const Place& place = episodes_[rng_.below(episodes_.size())];
  return part(place.part).read(place.index);
}

mdp::Trajectory Sampler::sequence(int64_t length) {
  if (length < 1) fail("rollout store: a sequence of {} steps", length);
  if (length != length_) {
    starts_before_.assign(1, 0);
    for (const auto& place : episodes_)
      starts_before_.push_back(starts_before_.back() + std::max<int64_t>(place.steps - length + 1, 0));
    length_ = length;
  }
  if (starts_before_.back() == 0) fail("rollout store: no episode of {} steps or more", length);
  const auto start = static_cast<int64_t>(rng_.below(static_cast<uint64_t>(starts_before_.back())));
  const auto after = std::upper_bound(starts_before_.begin(), starts_before_.end(), start);
  const auto which = static_cast<size_t>(after - starts_before_.begin()) - 1;
  const Place& place = episodes_[which];
  return part(place.part).read(place.index, start - starts_before_[which], length);
}

}  // namespace rlgo::replay
