// Prices of groups of operators that are predicted: no group is timed.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cost/analytic.h"
#include "core/cost/boosted_trees.h"
#include "core/cost/cost.h"
#include "core/cost/table.h"
#include "core/measure/group_features.h"

namespace rlgo::measure {

// "Intel" of "Intel(R) Xeon(R) Processor".
std::string maker(const std::string& device);
// Which of `known` devices (CPUs by their own names: "AMD EPYC") a device is like: those of its name, or else of its
// maker (the name's first word, "Intel(R)" as "Intel"), or else all. Numbers in `known`.
std::vector<size_t> devices_like(const std::string& device, std::span<const std::string> known);

// Prices that `rlgo calibrate` learned on this machine: a file of trees for one runtime, version, processor and number
// of threads, next to the table of measured costs of the same origin.
struct Calibrated {
  std::filesystem::path file;  // "": none; may not exist
  cost::TableOrigin origin;    // what they must hold for
};
// Its place in a folder of costs ("": none).
std::filesystem::path calibrated_file(const std::string& folder, const cost::TableOrigin& origin);
// The files of trees that rlgo comes with for a runtime, in order of name.
std::vector<std::filesystem::path> shipped_trees(const std::string& runtime);
// One of them. Throws Error where it is damaged or states no device.
std::shared_ptr<const cost::BoostedTrees> read_trees(const std::filesystem::path& file);

// A group's price by formula times e to the power of what boosted trees predict from its features: they learned from
// groups of other models, timed under the runtime (configs/costs/RUNTIME/*.trees, one file for a device, made by
// results/prices.py). Of the trees of several devices, the mean. Copies share the trees.
class GroupPredictor {
 public:
  // A formula, and no trees.
  explicit GroupPredictor(const cost::AnalyticOptions& formula = {}) : formula_(formula) {}
  // The formula that was fitted to `runtime` (cost::fitted_to), and the calibrated trees, else those of devices that
  // `device` is like. No trees where they are not to be used, or there are none. Throws Error where their file is
  // wrong.
  GroupPredictor(const std::string& runtime, const std::string& device, bool learned, const Calibrated& here = {});

  // us, >= 0.
  double us(const graph::Graph& graph, std::span<const graph::NodeId> members);
  // Of a graph that is one group (group_graph).
  double us(const graph::Graph& group);
  // What trees would see of it.
  GroupFeatures features(const graph::Graph& group);
  bool is_learned() const { return !trees_.empty(); }
  // "AMD EPYC and Intel(R) Xeon(R) Processor", "AMD EPYC, calibrated here on top of Intel(R) Xeon(R) Processor": what
  // the trees' times were taken on.
  std::string devices() const;

 private:
  bool take_calibrated(const Calibrated& here);

  cost::AnalyticCost formula_;
  std::vector<std::shared_ptr<const cost::BoostedTrees>> trees_;
};

// A group's price is predicted and belongs to its head; its other members cost nothing. Whole multiples of 2^-10 us.
// Not thread-safe, except for dependents().
class PredictedCost : public cost::CostModel {
 public:
  explicit PredictedCost(GroupPredictor predictor) : predictor_(std::move(predictor)) {}
  std::string name() const override { return "learned"; }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  bool is_local() const override { return false; }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                        std::span<const graph::NodeId> changed) const override;

 private:
  GroupPredictor predictor_;
  std::unordered_map<uint64_t, double> us_by_hash_;
};

}  // namespace rlgo::measure
