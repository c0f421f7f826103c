// Whole graphs that were timed, kept from call to call: what the learned cost begins with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/cost/residual.h"
#include "core/cost/table.h"

namespace rlgo::optimise {

struct TimedGraph {
  uint64_t model = 0;       // hash of the unmodified graph
  uint64_t graph = 0;       // hash of the graph that was timed
  double sum = 0;           // of its prices, in fractions of the unmodified graph's, > 0
  double ratio = 0;         // its time to the unmodified graph's, > 0
  cost::Features features;  // as GraphFeatures shows them
};

// File: a header of "# key value" lines as cost tables have it, a line of column names, then a line for each graph in
// the order in which they were timed: model, graph, sum, ratio, and features as "name=value name=value", separated by
// tabs. Numbers read back exactly.
class TimedGraphs {
 public:
  static constexpr size_t kMost = 2000;             // graphs that are kept, the latest
  static constexpr size_t kMostFeatures = 1 << 14;  // of one graph

  explicit TimedGraphs(cost::TableOrigin origin);
  // An earlier time of the same graph is replaced. Throws Error on a number that is out of range, or a feature without
  // a name or whose name has a blank or '='.
  void add(TimedGraph graph);
  std::span<const TimedGraph> graphs() const { return graphs_; }
  // What a residual is fitted to, those of `model` last (the last ones count most: acquisition.h).
  std::vector<cost::ResidualExample> examples(uint64_t model) const;

  // Whole or not at all. Throws Error.
  void save(const std::filesystem::path& path) const;
  // Adds the file's graphs. Throws Error "FILE:LINE: reason", and one that shows both origins where the file's differs;
  // nothing is added then.
  void load(const std::filesystem::path& path);

 private:
  cost::TableOrigin origin_;
  std::vector<TimedGraph> graphs_;
};

}  // namespace rlgo::optimise
