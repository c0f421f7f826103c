#include "core/measure/group_cost.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/measure/group.h"
#include "core/measure/partition.h"

namespace rlgo::measure {
namespace {

using graph::Graph;
using graph::NodeId;

// Groups between two looks at the clock: few at first, then as many as are likely to take so many seconds.
constexpr size_t kFirstGroups = 8, kFewestGroups = 4, kMostGroups = 48;
constexpr double kRequestSeconds = 2;
// Weights of the groups of the first request: they are written, read and packed before anything is timed.
constexpr int64_t kFirstWeightBytes = 64 << 20;
constexpr double kRunsOfAGroup = 12;  // warming up and samples of one that takes long (cost::TimingOptions)

int64_t weight_bytes(const Graph& group) {
  int64_t bytes = 0;
  for (const NodeId id : group.order()) {
    if (group.node(id).op() == ops::Op::weight) bytes += group.node(id).info->outputs[0].bytes();
  }
  return bytes;
}

// So that reasons with paths or numbers of models do not fill the log: their beginning.
std::string shortened(const std::string& reason) {
  std::string text(trim(reason.substr(0, reason.find('\n'))));
  if (text.size() > 160) text.replace(160, std::string::npos, "...");
  return text;
}

GroupResult to_result(const Timing& timing) {
  if (!timing.ok()) return {std::nullopt, timing.error};
  const double us = timing.median_us * (1 - timing.layout_fraction);
  return {cost::Measured{exact_us(us), exact_us(timing.spread_us), timing.samples}, ""};
}

}  // namespace

MeasureGroups measure_groups(std::shared_ptr<Measurer> measurer, std::shared_ptr<cost::TableCost> table) {
  return [measurer = std::move(measurer), table = std::move(table)](std::span<const Group> groups) {
    std::vector<GroupResult> out(groups.size());
    std::vector<std::filesystem::path> files;
    std::vector<size_t> places;
    for (size_t i = 0; i < groups.size(); ++i) {
      try {
        files.push_back(export_temporary(*measurer, measurable(groups[i].graph, measurer->hello().pool_context), {}));
        places.push_back(i);
      } catch (const Error& e) {
        out[i].error = fmt::format("not exported: {}", e.what());
      }
    }
    if (const auto* reference = table->find(kReferenceSignature))
      measurer->calibration().set_reference_us(reference->us);
    std::vector<Timing> times(files.size());
    try {
      times = measurer->measure(files);
    } catch (const Stopped& stopped) {
      for (Timing& timing : times) timing.error = stopped.what();
    }
    if (measurer->calibration().reference_us() > 0)
      table->insert(kReferenceSignature, {measurer->calibration().reference_us(), 0, 1});
    for (size_t k = 0; k < times.size(); ++k) out[places[k]] = to_result(times[k]);
    std::error_code ignored;
    for (const auto& file : files) std::filesystem::remove(file, ignored);
    return out;
  };
}

GroupCost::GroupCost(std::shared_ptr<cost::TableCost> table, MeasureGroups measure, GroupPredictor predictor)
    : table_(std::move(table)), measure_(std::move(measure)), predictor_(std::move(predictor)) {}

double GroupCost::op_us(const Graph& graph, NodeId id) {
  if (cost::is_free(graph.node(id)) || leader(graph, id) != graph::kNoNode) return 0;
  const auto group = members(graph, id);
  return group_us(graph, group, group_hash(graph, group));
}

std::vector<NodeId> GroupCost::dependents(const Graph& graph, std::span<const NodeId> changed) const {
  return regrouped(graph, changed);
}

double GroupCost::group_us(const Graph& graph, std::span<const NodeId> members, uint64_t hash) {
  if (const auto known = us_by_hash_.find(hash); known != us_by_hash_.end()) return known->second;
  if (deferring_) {
    if (const auto noted = estimate_by_hash_.find(hash); noted != estimate_by_hash_.end()) {
      ++estimates_given_;
      return noted->second;
    }
  }
  std::string signature = group_signature(graph, members);
  const cost::Measured* measured = table_->find(signature);
  const auto estimate = estimated_us_.find(signature);
  if (measured == nullptr && estimate == estimated_us_.end()) {
    Group group{signature, group_graph(graph, members)};
    if (deferring_) {
      const auto [at, is_new] = deferred_us_.try_emplace(signature, 0.0);
      if (is_new) {
        at->second = estimate_us(predictor_.us(group.graph));
        deferred_.push_back(std::move(group));
      }
      ++estimates_given_;
      return estimate_by_hash_[hash] = at->second;
    }
    measure({&group, 1});
    measured = table_->find(signature);
  } else if (measured != nullptr && known_.insert(std::move(signature)).second) {
    note_ratio(group_graph(graph, members), measured->us);  // timed in an earlier call, or by another process
  }
  const double us = measured != nullptr ? exact_us(measured->us) : estimated_us_.at(group_signature(graph, members));
  us_by_hash_.emplace(hash, us);
  return us;
}

double GroupCost::estimate_us(double predicted_us) const {
  if (ratios_.empty()) return exact_us(predicted_us);
  std::vector<double> sorted = ratios_;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  return exact_us(predicted_us * sorted[sorted.size() / 2]);
}

void GroupCost::note_ratio(const Graph& group, double measured_us) {
  const double predicted = predictor_.us(group);
  if (predicted > 0) ratios_.push_back(measured_us / predicted);
}

void GroupCost::measure(std::span<const Group> groups) {
  if (groups.empty()) return;
  const auto results = measure_(groups);
  RLGO_CHECK_EQ(results.size(), groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!results[i].measured) continue;
    table_->insert(groups[i].signature, *results[i].measured);
    known_.insert(groups[i].signature);
    note_ratio(groups[i].graph, results[i].measured->us);
    if (observer_) observer_(groups[i], *results[i].measured);
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    if (results[i].measured) continue;
    ++failures_[shortened(results[i].error)];
    const double predicted = predictor_.us(groups[i].graph);
    predicted_us_.emplace(groups[i].signature, predicted);
    estimated_us_.emplace(groups[i].signature, estimate_us(predicted));
  }
}

void GroupCost::refresh() {
  us_by_hash_.clear();
  estimate_by_hash_.clear();
  for (auto& [signature, us] : estimated_us_) us = estimate_us(predicted_us_.at(signature));
}

bool GroupCost::defer() {
  if (deferring_) return false;
  return deferring_ = true;
}

void GroupCost::forget_deferred() {
  deferring_ = false;
  deferred_.clear();
  deferred_us_.clear();
  estimate_by_hash_.clear();
  estimates_given_ = 0;
}

size_t GroupCost::measure_deferred(const Watch& watch) {
  deferring_ = false;
  std::vector<Group> groups = std::move(deferred_);
  deferred_.clear();
  // The most expensive first: where time ends, what matters is known.
  const auto most_us = std::exchange(deferred_us_, {});
  std::ranges::stable_sort(groups, std::greater<>(), [&](const Group& g) { return most_us.at(g.signature); });
  estimate_by_hash_.clear();
  estimates_given_ = 0;
  size_t done = 0, at_once = kFirstGroups;
  double each_s = 0;
  while (done < groups.size()) {
    const double left_s = watch ? watch(done, groups.size()) : kRequestSeconds;
    if (left_s <= 0 || left_s < each_s) return done;
    if (each_s > 0) {
      const double fewest = std::min(double{kFewestGroups}, left_s / each_s);
      at_once =
          static_cast<size_t>(std::clamp(std::min(kRequestSeconds, left_s) / each_s, fewest, double{kMostGroups}));
    }
    size_t count = std::min(std::max<size_t>(1, at_once), groups.size() - done);
    if (each_s == 0) {  // how long one takes is not known yet
      int64_t bytes = 0;
      double expected_s = 0;
      for (size_t k = 0; k < count; ++k) {
        bytes += weight_bytes(groups[k].graph);
        expected_s += kRunsOfAGroup * most_us.at(groups[k].signature) / 1e6;
        if (k > 0 && (bytes > kFirstWeightBytes || expected_s > left_s)) count = k;
      }
    }
    const Stopwatch watch_request;
    measure(std::span(groups).subspan(done, count));
    done += count;
    each_s = std::max(1e-6, watch_request.seconds() / static_cast<double>(count));
  }
  if (watch) watch(done, done);
  return done;
}

size_t GroupCost::prepare(std::span<const Graph* const> graphs, const Watch& watch) {
  defer();
  for (const Graph* graph : graphs) cost::graph_cost(*this, *graph);
  return measure_deferred(watch);
}

cost::Measured GroupCost::price(const Group& group) {
  if (const auto* known = table_->find(group.signature)) return *known;
  if (!estimated_us_.contains(group.signature)) measure({&group, 1});
  if (const auto* known = table_->find(group.signature)) return *known;
  return {estimated_us_.at(group.signature), 0, 0};
}

std::string GroupCost::summary() const {
  std::string text = counted(table_->priced(), "group") + " measured";
  if (estimated_us_.empty()) return text;
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : failures_) reasons.push_back(fmt::format("{} x {}", count, reason));
  return text + fmt::format(", {} estimated ({})", estimated_us_.size(), join(reasons, "; "));
}

}  // namespace rlgo::measure
