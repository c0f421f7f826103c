// Groups of operators of rewritten graphs and what they take: what prices of groups are learned from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/cost/runtime.h"
#include "core/measure/group_features.h"
#include "core/rules/rules.h"

namespace rlgo::calibrate {

struct GroupTime {
  std::string model;
  double us = 0, spread_us = 0;  // median and interquartile range of the samples
  measure::GroupFeatures features;
};

struct GroupTiming {
  std::shared_ptr<const rules::RuleSet> rules;  // that rewrite
  double seconds = 20;                          // of timing, for one graph
  uint64_t seed = 0;                            // of the rewrites
  int64_t graphs_at_once = 400;  // rewritten graphs whose groups are timed together, the most expensive first
};

struct GroupTimes {
  std::vector<GroupTime> groups;
  std::map<std::string, int> lost;  // why a group has no time, and how many have none
};

// Rewrites a zoo graph or .onnx file at random and by annealing under estimated prices, in turns, and times the groups
// of what comes out until the seconds are over or no new group comes. Throws Error where the graph cannot be read, and
// UsageError in the name of `command` where the runtime has no groups.
GroupTimes time_groups(const std::string& command, const std::string& graph, const GroupTiming& how,
                       cost::Runtime& runtime, const std::function<bool()>& should_stop);

// A file of groups: "# KEY VALUE" lines, then a line each: model, us, spread_us, NAME=VALUE of each feature that is not
// 0, separated by tabs.
std::string groups_header(const cost::Runtime& runtime);
std::string to_line(const GroupTime& group);
// Throws Error "FILE:LINE: reason" where a line is none of these, and where the header is not that of `runtime`.
std::vector<GroupTime> read_groups(const std::filesystem::path& file, const cost::Runtime& runtime);

}  // namespace rlgo::calibrate
