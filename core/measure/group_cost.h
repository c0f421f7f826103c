// The cost model of an external runtime: graphs are priced group by group, as the runtime fuses them (partition.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/table.h"
#include "core/measure/measurer.h"
#include "core/measure/predicted_cost.h"

namespace rlgo::measure {

// A group that has no price yet.
struct Group {
  std::string signature;
  graph::Graph graph;  // see group_graph()
};
// Why a group has no time.
struct GroupResult {
  std::optional<cost::Measured> measured;
  std::string error;
};
using MeasureGroups = std::function<std::vector<GroupResult>(std::span<const Group> groups)>;

// Times by a measurer, many groups in one request. The time that layout changes at a group's own borders take is left
// out: neighbours in a model share the layout. All have the clock calibration that `table`, where they go,
// holds at (kReferenceSignature); the first request sets that of a new one.
MeasureGroups measure_groups(std::shared_ptr<Measurer> measurer, std::shared_ptr<cost::TableCost> table);

// A group's time is the price of its head; its other members cost nothing. A group that cannot be measured gets what is
// predicted for it (predicted_cost.h) times the median ratio of measured and predicted times so far (1 before the
// first), until refresh(). Prices are whole multiples of 2^-10 us, so that sums and differences of them are exact. Not
// thread-safe, except for dependents().
class GroupCost : public cost::CostModel {
 public:
  // Told how many groups are measured, answers how many seconds more it may take: 0 or less ends it.
  using Watch = std::function<double(size_t done, size_t of)>;
  // `table` keeps the times, by group signature; it may be shared with others. `predictor`: what
  // estimates are made from.
  GroupCost(std::shared_ptr<cost::TableCost> table, MeasureGroups measure, GroupPredictor predictor = GroupPredictor());

  std::string name() const override { return table_->name(); }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  bool is_local() const override { return false; }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                        std::span<const graph::NodeId> changed) const override;

  // While deferring, a group without a price is noted and costs its estimate; then all of them are measured together,
  // which is much quicker than one by one.
  bool defer() override;
  size_t deferred() const override { return estimates_given_; }
  bool flush() override {
    const size_t groups = deferred_.size();
    return measure_deferred(watch_) == groups;
  }
  void forget_deferred() override;
  // Measures what was noted, and ends deferring. Returns the number of groups measured. Where `watch` ends it,
  // the others remain without a price.
  size_t measure_deferred(const Watch& watch = {});
  // Of a group, for learning prices from.
  GroupFeatures features(const graph::Graph& group) { return predictor_.features(group); }
  // Told of each group that is timed.
  using Observer = std::function<void(const Group& group, const cost::Measured& measured)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }
  // Told by flush() what it does.
  void set_watch(Watch watch) { watch_ = std::move(watch); }
  // All groups of these graphs that have no price, measured together. Returns their number.
  size_t prepare(std::span<const graph::Graph* const> graphs, const Watch& watch = {});

  // Makes all estimates again from the times that are known by now, so that costs asked for from here on belong
  // together.
  void refresh();

  // Price of a group that another process asks for.
  cost::Measured price(const Group& group);

  size_t estimated() const { return estimated_us_.size(); }
  // Reasons of estimates, with how many groups each.
  const std::map<std::string, int>& failures() const { return failures_; }
  // "212 groups measured, 3 estimated (unsupported operator)".
  std::string summary() const;

 private:
  double group_us(const graph::Graph& graph, std::span<const graph::NodeId> members, uint64_t hash);
  double estimate_us(double predicted_us) const;
  void note_ratio(const graph::Graph& group, double measured_us);
  void measure(std::span<const Group> groups);

  std::shared_ptr<cost::TableCost> table_;
  MeasureGroups measure_;
  GroupPredictor predictor_;
  std::unordered_map<uint64_t, double> us_by_hash_;
  std::unordered_map<std::string, double> estimated_us_;  // by signature
  std::unordered_map<std::string, double> predicted_us_;  // of the same groups
  std::unordered_set<std::string> known_;                 // groups whose ratio is noted
  std::vector<double> ratios_;                            // measured to predicted
  std::map<std::string, int> failures_;
  bool deferring_ = false;
  Watch watch_;
  Observer observer_;
  std::vector<Group> deferred_;
  std::unordered_map<std::string, double> deferred_us_;  // estimates by signature
  std::unordered_map<uint64_t, double> estimate_by_hash_;
  size_t estimates_given_ = 0;
};

}  // namespace rlgo::measure
