#include "core/measure/predicted_cost.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/cost/profile.h"
#include "core/measure/group.h"
#include "core/measure/partition.h"

namespace rlgo::measure {
namespace {

// What trees may change a price by: they know nothing of groups that are unlike all that they learned from.
constexpr double kMostFactor = 20;

}  // namespace

std::vector<size_t> devices_like(const std::string& device, std::span<const std::string> known) {
  const auto maker = [](const std::string& name) { return name.substr(0, name.find_first_of(" (")); };
  const auto such = [&](const auto& is_like) {
    std::vector<size_t> out;
    for (size_t k = 0; k < known.size(); ++k)
      if (is_like(known[k])) out.push_back(k);
    return out;
  };
  auto like = such([&](const std::string& name) { return name == device; });
  if (like.empty()) like = such([&](const std::string& name) { return maker(name) == maker(device); });
  if (like.empty()) like = such([](const std::string&) { return true; });
  return like;
}

GroupPredictor::GroupPredictor(const std::string& runtime, const std::string& device, bool learned)
    : formula_(cost::fitted_to(runtime)) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  if (!learned || runtime.empty() || !std::ranges::all_of(runtime, plain)) return;
  std::filesystem::path folder;
  try {
    folder = shipped_config("costs/" + runtime);
  } catch (const Error&) {
    return;  // nothing was learned for this runtime
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".trees") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::shared_ptr<const cost::BoostedTrees>> all;
  std::vector<std::string> devices;
  for (const auto& file : files) {
    all.push_back(std::make_shared<const cost::BoostedTrees>(read_text(file), file.string()));
    devices.push_back(all.back()->device());
    if (devices.back().empty()) fail("{}: has no line 'device NAME': what its times were taken on", file.string());
  }
  for (const size_t k : devices_like(device, devices)) trees_.push_back(all[k]);
}

std::string GroupPredictor::devices() const {
  std::vector<std::string> names;
  for (const auto& trees : trees_) names.push_back(trees->device());
  return join(names, " and ");
}

double GroupPredictor::us(const graph::Graph& graph, std::span<const graph::NodeId> members) {
  double us = 0;
  for (const auto id : members) {
    if (!graph.node(id).constant) us += formula_.op_us(graph, id);
  }
  if (us == 0 || trees_.empty()) return us;
  const auto features = group_features(graph, members, formula_);
  double sum = 0;
  for (const auto& trees : trees_) sum += (*trees)(features);
  const double most = std::log(kMostFactor);
  return us * std::exp(std::clamp(sum / static_cast<double>(trees_.size()), -most, most));
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
