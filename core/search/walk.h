// A graph that is rewritten in place, with what each of its rewrites would change. A move changes what few other moves
// would do: only these are tried again, so a step costs what it touches (ordering the nodes apart).
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/trial.h"
#include "core/search/state.h"

namespace rlgo::search {

// One match, and what its rewrite would change.
struct Move {
  std::shared_ptr<const rules::Match> match;
  double delta_us = std::numeric_limits<double>::infinity();  // infinite where its cost is not known
  uint64_t delta_hash = 0;                                    // added to the hash of the graph
  SmallVector<graph::NodeId, 24> reads;                       // the change is the same as long as none of these changes
  uint64_t mask = 0;                                          // bit id % 64 of each of `reads`
  bool reads_leaves = false;                                  // and as long as no node without inputs comes or goes
  bool is_estimate = false;                                   // some price behind delta_us was not measured
};
// Where the match stands now, as a trace names it.
struct Place {
  rules::Rewrite step;
  std::shared_ptr<const Move> move;
};

class Walk {  // see the top of the file
 public:
  // Asked before each rewrite that is tried; false: it, and those after it, stay without a known cost.
  using Allowance = std::function<bool()>;
  // All of a walk's state: see mark().
  struct Mark {
    graph::Graph graph;
    rules::MatchIndex index;
    graph::NameHash hash;
    std::vector<Place> places;
    std::vector<double> node_us;
    double cost_us = 0;
    int depth = 0;
    std::shared_ptr<const Trail> trail;
    uint64_t stamp = 0;

    // About what it holds in memory, without what it shares with others.
    int64_t bytes() const;
  };

  // Prices of places that would have to be measured, where prices depend on their surroundings: measured together, or
  // never (what is known is then an estimate).
  enum class Unknown : uint8_t { measured, estimated };
  // `measured`: the model behind `cost`, asked to defer and to flush where prices depend on their surroundings.
  // Refers to both. `max_locations`: as in Options. Without `may_try` no rewrite is tried but those that are taken: the
  // costs of the places are unknown.
  Walk(const State& start, cost::CostModel& cost, cost::CostModel& measured, int max_locations, Allowance may_try,
       Unknown unknown = Unknown::measured);

  const graph::Graph& graph() const { return trial_.graph(); }
  const rules::MatchIndex& matches() const { return index_; }
  // What prices operators: `cost` of the constructor.
  cost::CostModel& cost() const { return cost_; }
  // By rule, then location.
  std::span<const Place> places() const { return places_; }
  // Index of the place that a trace names so; nothing where it is not offered (any more).
  std::optional<size_t> find(const rules::Rewrite& step) const;
  double cost_us() const { return cost_us_; }
  uint64_t hash() const { return hash_.value(); }
  const std::shared_ptr<const Trail>& trail() const { return trail_; }
  int depth() const { return depth_; }
  // Rewrites that were tried for their cost, and rewrites that were made.
  int64_t tried() const { return tried_; }
  int64_t moves() const { return moves_; }

  // Whether the costs of places are tried for.
  bool evaluates() const { return may_try_ != nullptr; }

  // Another walk that stands where `other` does; nothing is tried again.
  Walk(const Mark& other, cost::CostModel& cost, cost::CostModel& measured, int max_locations, Allowance may_try,
       Unknown unknown = Unknown::measured);

  // Makes the rewrite places()[k]. False, and nothing changes, where it would make a cycle.
  bool take(size_t k);
  // Makes a rewrite of matches() where `accepts` what it changes. False, and nothing changes, where not, or where it
  // would make a cycle.
  bool take(const rules::Rewrite& step, const std::function<bool(const Move&)>& accepts);
  // Of the last take(): the rewrite, with its cost; nodes that it made; live ones that it touched; all of these, and
  // those that it removed.
  const std::shared_ptr<const Move>& last() const { return last_; }
  std::span<const graph::NodeId> added() const { return added_; }
  std::span<const graph::NodeId> touched() const { return touched_; }
  std::span<const graph::NodeId> changed() const { return changed_; }

  // Names the state, ids of nodes included: two states with one stamp are the same, in whatever walk from one start.
  uint64_t stamp() const { return stamp_; }
  // Of the state that a rewrite makes of the one with this stamp.
  static uint64_t stamp_after(uint64_t stamp, const rules::Rewrite& step);
  // All of the walk's state, to come back to. Cheap: descriptions of nodes and moves are shared.
  Mark mark() const;
  void restore(const Mark& mark);

 private:
  double node_us(graph::NodeId id);
  double delta_us(const graph::Delta& delta);
  const graph::Delta& edit(const rules::Rewrite& step, Move& move);
  std::shared_ptr<const Move> evaluate(const rules::Rewrite& step);
  void evaluate(std::span<const size_t> stale);
  void note_changes(const graph::Delta& delta);
  void add_changed(std::span<const graph::NodeId> ids);
  bool is_stale(const Move& move) const;
  std::vector<size_t> find_places();
  void add_surroundings(const graph::Delta& delta, std::vector<graph::NodeId>& ids) const;

  graph::Trial trial_;
  graph::Graph before_;  // a copy of graph(), only where prices depend on their surroundings
  rules::MatchIndex index_;
  graph::NameHash hash_;
  cost::CostModel& cost_;
  cost::CostModel& measured_;
  const bool local_;
  const int max_locations_;
  Allowance may_try_;
  const Unknown unknown_;
  std::vector<Place> places_, old_places_;
  std::vector<double> node_us_;  // by id, 0 where constant or free
  double cost_us_ = 0;
  int depth_ = 0;
  std::shared_ptr<const Trail> trail_;
  int64_t tried_ = 0, moves_ = 0;
  std::shared_ptr<const Move> last_;

  graph::NameHash::Replaced replaced_;
  std::vector<graph::NodeId> reads_, added_, touched_, rewired_, changed_;
  std::vector<uint8_t> is_changed_;  // by id: among changed_
  uint64_t changed_mask_ = 0;
  bool leaves_changed_ = false;

  uint64_t stamp_ = 0;
};

}  // namespace rlgo::search
