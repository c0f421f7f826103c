// Between trajectories and the datasets of schema.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/coded.h"
#include "replay/schema.h"

namespace rlgo::replay {

// Names of applied rules, by index of first use. -1 stands for "" (no rule).
class RuleNames {
 public:
  int32_t index(const std::string& rule);  // of a rule's name; added where new
  // Throws Error where the index is none of these.
  const std::string& name(int32_t index) const;
  const std::vector<std::string>& names() const { return names_; }
  RuleNames() = default;
  explicit RuleNames(const std::vector<std::string>& names);

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t> indices_;
};

// Puts episodes into a part: their observations stay coded as they are, but for each episode's first one, which is
// coded against the part's first.
class EpisodeAppender {
 public:
  // `facts`: the episode; its own observations are not looked at. The caller has checked that they fit the part.
  void append(Columns& columns, const mdp::Trajectory& facts, const mdp::ObservationCodes& observations,
              RuleNames& rules);

 private:
  std::string against_first(std::string_view code);

  int64_t row_ = 0;                        // of the next observation
  std::string first_code_;                 // of the part's first observation
  std::optional<mdp::Observation> first_;  // once another one was coded against it
  std::string again_;                      // the code that states: the same as the first
};

// The one episode that `columns` hold (S steps), without its observations.
mdp::Trajectory to_trajectory(const Columns& columns, const RuleNames& rules);

}  // namespace rlgo::replay
