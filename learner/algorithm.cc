#include "learner/algorithm.h"

#include "core/base/error.h"

#include "core/base/hash.h"
#include "learner/checkpoint.h"

namespace rlgo::learner {

uint64_t digest(const Algorithm& algorithm) {
  Checkpoint checkpoint;
  algorithm.store(checkpoint);
  std::erase_if(checkpoint.tensors, [](const auto& item) { return item.first.starts_with(kOwnPrefix); });
  const std::string bytes = encode(checkpoint);
  return hash_bytes(bytes.data(), bytes.size());
}

std::vector<mdp::Trajectory> decoded(std::vector<Episode> episodes, std::vector<std::string>& notes) {
  std::vector<mdp::Trajectory> whole;
  whole.reserve(episodes.size());
  for (auto& episode : episodes) {
    try {
      whole.push_back(mdp::whole(*episode));
    } catch (const Error& e) {
      notes.push_back(
          fmt::format("episode {} of rank {} is left out: {}", episode->facts.episode, episode->facts.rank, e.what()));
    }
    episode.reset();
  }
  return whole;
}

}  // namespace rlgo::learner
