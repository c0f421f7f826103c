#include "core/measure/predicted_cost.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/base/text_file.h"
#include "core/cost/profile.h"
#include "core/measure/group.h"
#include "core/measure/partition.h"

namespace rlgo::measure {
namespace {

// What trees may change a price by: they know nothing of groups that are unlike all that they learned from.
constexpr double kMostFactor = 20;

}  // namespace

GroupPredictor::GroupPredictor(const std::string& runtime, bool learned) : formula_(cost::fitted_to(runtime)) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  if (!learned || runtime.empty() || !std::ranges::all_of(runtime, plain)) return;
  std::filesystem::path file;
  try {
    file = shipped_config("costs/" + runtime + ".trees");
  } catch (const Error&) {
    return;  // nothing was learned for this runtime
  }
  trees_ = std::make_shared<const cost::BoostedTrees>(read_text(file), file.string());
}

double GroupPredictor::us(const graph::Graph& graph, std::span<const graph::NodeId> members) {
  double us = 0;
  for (const auto id : members) {
    if (!graph.node(id).constant) us += formula_.op_us(graph, id);
  }
  if (us == 0 || !trees_) return us;
  const double most = std::log(kMostFactor);
  return us * std::exp(std::clamp((*trees_)(group_features(graph, members, formula_)), -most, most));
}

double GroupPredictor::us(const graph::Graph& group) {
  const auto members = members_of_group(group);
  return us(group, members);
}

GroupFeatures GroupPredictor::features(const graph::Graph& group) {
  const auto members = members_of_group(group);
  return group_features(group, members, formula_);
}

double PredictedCost::op_us(const graph::Graph& graph, graph::NodeId id) {
  if (cost::is_free(graph.node(id)) || leader(graph, id) != graph::kNoNode) return 0;
  const auto group = members(graph, id);
  const auto [known, is_new] = us_by_hash_.try_emplace(group_hash(graph, group), 0.0);
  if (is_new) known->second = exact_us(predictor_.us(graph, group));
  return known->second;
}

std::vector<graph::NodeId> PredictedCost::dependents(const graph::Graph& graph,
                                                     std::span<const graph::NodeId> changed) const {
  return regrouped(graph, changed);
}

}  // namespace rlgo::measure
