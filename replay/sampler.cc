// Why an index of lengths alone: a store may be larger than memory. Episodes are found by their numbers of steps and
// read when they are drawn; the parts used last stay open. A checksum is over a whole part and is computed once.
#include "replay/sampler.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "replay/parts.h"

namespace rlgo::replay {
namespace {

constexpr size_t kOpenParts = 32;

}  // namespace

Sampler::Sampler(std::filesystem::path path, Rng rng, bool skip_broken)
    : path_(std::move(path)), skip_broken_(skip_broken), rng_(rng) {
  refresh(rng);
}

void Sampler::refresh(Rng rng) {
  rng_ = rng;
  paths_.clear();
  episodes_.clear();
  open_.clear();
  broken_.clear();
  steps_ = length_ = 0;
  const auto found = part_paths(path_);
  const std::set<std::filesystem::path> there(found.begin(), found.end());
  std::erase_if(known_, [&](const auto& entry) { return !there.contains(entry.first); });
  for (const auto& path : found) add(path);
}

const Sampler::Part& Sampler::known(const std::filesystem::path& path) {
  if (const auto found = known_.find(path); found != known_.end()) return found->second;
  Part part;
  try {
    const PartReader reader(path);
    part.spec = reader.header().spec;
    for (int64_t i = 0; i < reader.episodes(); ++i) part.steps.push_back(reader.steps(i));
  } catch (const Error& error) {
    part.broken = error.what();
  }
  return known_.emplace(path, std::move(part)).first->second;
}

void Sampler::add(const std::filesystem::path& path) {
  const Part& part = known(path);
  std::string broken = part.broken;
  if (broken.empty() && paths_.empty()) spec_ = part.spec;
  if (broken.empty() && part.spec != spec_)
    broken = fmt::format("{}: its observation spec differs from that of {}", path.string(), paths_[0].string());
  if (!broken.empty()) {
    if (!skip_broken_) fail("{}", broken);
    broken_.push_back({path, broken});
    return;
  }
  for (size_t i = 0; i < part.steps.size(); ++i) {
    episodes_.push_back({paths_.size(), static_cast<int64_t>(i), part.steps[i]});
    steps_ += part.steps[i];
  }
  paths_.push_back(path);
}

std::optional<mdp::Trajectory> Sampler::read(const Place& place, int64_t first, int64_t count) {
  const auto path = paths_[place.part];
  try {
    const PartReader& reader = part(place.part);
    return count < 0 ? reader.read(place.index) : reader.read(place.index, first, count);
  } catch (const Error& error) {
    if (!skip_broken_) throw;
    known_[path].broken = error.what();  // since it was checked
    refresh(rng_);
    return {};
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
  for (;;) {
    if (episodes_.empty()) fail("rollout store: no episodes to sample from");
    const Place place = episodes_[rng_.below(episodes_.size())];
    if (auto trajectory = read(place, 0, -1)) return std::move(*trajectory);
  }
}

mdp::Trajectory Sampler::sequence(int64_t length) {
  if (length < 1) fail("rollout store: a sequence of {} steps", length);
  for (;;) {
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
    const Place place = episodes_[which];
    if (auto trajectory = read(place, start - starts_before_[which], length)) return std::move(*trajectory);
  }
}

}  // namespace rlgo::replay
