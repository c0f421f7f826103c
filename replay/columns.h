// Between trajectories and the datasets of schema.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/mdp/mdp.h"
#include "replay/schema.h"

namespace rlgo::replay {

// Names of applied rules, by index of first use. -1 stands for "" (no rule).
class RuleNames {
 public:
  int32_t index(const std::string& rule);
  // Throws Error where the index is none of these.
  const std::string& name(int32_t index) const;
  const std::vector<std::string>& names() const { return names_; }
  RuleNames() = default;
  explicit RuleNames(const std::vector<std::string>& names);

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t> indices_;
};

// Codes the observations of a part, one after the other. `row` counts them.
class ObservationCoder {
 public:
  // Appends observation number `step` of an episode; `before` is the one before it, null for the first.
  void append(Columns& columns, const mdp::Observation& observation, int64_t step, const mdp::Observation* before);

 private:
  int64_t row_ = 0;
  mdp::Observation first_;  // of the part
};

// Appends an episode. The caller has checked its observations against the spec.
void append(Columns& columns, const mdp::Trajectory& trajectory, RuleNames& rules, ObservationCoder& coder);
// The one episode that `columns` hold (S steps), without its observations.
mdp::Trajectory to_trajectory(const Columns& columns, const RuleNames& rules);

}  // namespace rlgo::replay
