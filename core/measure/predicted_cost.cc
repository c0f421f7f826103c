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
#include "core/cost/table_file.h"
#include "core/measure/group.h"
#include "core/measure/partition.h"

namespace rlgo::measure {
namespace {

// What trees may change a price by: they know nothing of groups that are unlike all that they learned from.
constexpr double kMostFactor = 20;

}  // namespace

std::string maker(const std::string& device) { return device.substr(0, device.find_first_of(" (")); }

std::vector<size_t> devices_like(const std::string& device, std::span<const std::string> known) {
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

std::filesystem::path calibrated_file(const std::string& folder, const cost::TableOrigin& origin) {
  return folder.empty() ? std::filesystem::path()
                        : std::filesystem::path(folder) / (cost::file_stem(origin) + ".trees");
}

std::vector<std::filesystem::path> shipped_trees(const std::string& runtime) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  if (runtime.empty() || !std::ranges::all_of(runtime, plain)) return {};
  std::filesystem::path folder;
  try {
    folder = shipped_config("costs/" + runtime);
  } catch (const Error&) {
    return {};  // nothing was learned for this runtime
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".trees") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::shared_ptr<const cost::BoostedTrees> read_trees(const std::filesystem::path& file) {
  auto trees = std::make_shared<const cost::BoostedTrees>(read_text(file), file.string());
  if (trees->device().empty()) fail("{}: has no line 'device NAME': what its times were taken on", file.string());
  return trees;
}

bool GroupPredictor::take_calibrated(const Calibrated& here) {
  std::error_code error;
  if (here.file.empty() || !std::filesystem::exists(here.file, error)) return false;
  constexpr const char* kRemedy = "remove it, or run rlgo calibrate again";
  const auto of_this_machine = cost::on_one_line(here.origin);
  try {
    auto trees = read_trees(here.file);
    const cost::TableOrigin found{trees->note("model"), trees->device(),
                                  static_cast<int>(parse_int(trees->note("threads")).value_or(0))};
    if (found != of_this_machine)
      fail("{}: holds for {}, not for {}", here.file.string(), cost::describe(found), cost::describe(of_this_machine));
    trees_ = {std::move(trees)};
  } catch (const Error& e) {
    fail("{}; {}", e.what(), kRemedy);
  }
  return true;
}

GroupPredictor::GroupPredictor(const std::string& runtime, const std::string& device, bool learned,
                               const Calibrated& here)
    : formula_(cost::fitted_to(runtime)) {
  if (!learned || take_calibrated(here)) return;
  std::vector<std::shared_ptr<const cost::BoostedTrees>> all;
  std::vector<std::string> devices;
  for (const auto& file : shipped_trees(runtime)) {
    all.push_back(read_trees(file));
    devices.push_back(all.back()->device());
  }
  for (const size_t k : devices_like(device, devices)) trees_.push_back(all[k]);
}

std::string GroupPredictor::devices() const {
  std::vector<std::string> names;
  for (const auto& trees : trees_) names.push_back(trees->device());
  std::string text = join(names, " and ");
  if (trees_.empty() || trees_.front()->note("model").empty()) return text;
  const std::string& base = trees_.front()->note("base");
  return text + ", calibrated here" + (base.empty() ? "" : " on top of " + base);
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
