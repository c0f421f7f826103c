// Episodes become whole trajectories where they are learned from, and as early as there is time for it.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "learner/algorithm.h"

namespace rlgo::learner {

class Decoder {
 public:
  // Decodes an episode that take() will probably be given. One whose codes are broken is left to take().
  void ahead(const Episode& episode);
  // Whole trajectories, in order; what was decoded ahead is used, and what was not asked for is forgotten. One whose
  // codes are broken is left out, with a note. `between` is called after each that had to be decoded.
  std::vector<mdp::Trajectory> take(std::vector<Episode> episodes, std::vector<std::string>& notes,
                                    const std::function<void()>& between);

 private:
  // An entry keeps its episode, so that no other one can have the address meanwhile.
  std::unordered_map<const mdp::CodedTrajectory*, std::pair<Episode, mdp::Trajectory>> ready_;
};

}  // namespace rlgo::learner
