#include "core/search/walk.h"

#include <algorithm>

#include "core/base/hash.h"

namespace rlgo::search {
namespace {

using graph::NodeId;

uint64_t mask_of(NodeId id) { return uint64_t{1} << (static_cast<uint64_t>(id) % 64); }

}  // namespace

Walk::Walk(const State& start, cost::CostModel& cost, cost::CostModel& measured, int max_locations, Allowance may_try,
           Unknown unknown)
    : Walk(Mark{start.graph,
                start.index,
                start.hash,
                {},
                std::vector<double>(static_cast<size_t>(start.graph.id_bound()), 0.0),
                start.cost_us,
                start.depth,
                start.trail,
                start.hash.value()},
           cost, measured, max_locations, std::move(may_try), unknown) {
  if (local_) {
    for (const NodeId id : graph().order()) node_us_[static_cast<size_t>(id)] = node_us(id);
  }
  evaluate(find_places());
}

Walk::Walk(const Mark& other, cost::CostModel& cost, cost::CostModel& measured, int max_locations, Allowance may_try,
           Unknown unknown)
    : trial_(other.graph),
      before_(cost.is_local() ? graph::Graph() : other.graph),
      index_(other.index),
      hash_(other.hash),
      cost_(cost),
      measured_(measured),
      local_(cost.is_local()),
      max_locations_(max_locations),
      may_try_(std::move(may_try)),
      unknown_(unknown),
      places_(other.places),
      node_us_(other.node_us),
      cost_us_(other.cost_us),
      depth_(other.depth),
      trail_(other.trail),
      stamp_(other.stamp) {}

double Walk::node_us(NodeId id) { return cost::is_free(graph().node(id)) ? 0 : cost_.op_us(graph(), id); }

// Of the edit in hand. The nodes that it removed are gone, but what they cost is known.
double Walk::delta_us(const graph::Delta& delta) {
  if (!local_) return cost::delta_us(cost_, before_, graph(), delta);
  double change = 0;
  for (const NodeId id : delta.added) change += node_us(id);
  for (const NodeId id : delta.removed) change -= node_us_[static_cast<size_t>(id)];
  for (const NodeId id : delta.touched) {
    const double known_us = node_us_[static_cast<size_t>(id)];
    if (graph().node(id).constant) {
      change -= known_us;
    } else if (known_us == 0) {
      change += node_us(id);  // free as before, or no longer constant
    }
  }
  return change;
}

// Nodes whose price an edit may have changed although it did not touch them.
void Walk::add_surroundings(const graph::Delta& delta, std::vector<NodeId>& ids) const {
  std::vector<NodeId> changed = delta.added;
  changed.insert(changed.end(), delta.touched.begin(), delta.touched.end());
  const auto after = cost_.dependents(graph(), changed);
  changed.assign(delta.removed.begin(), delta.removed.end());
  changed.insert(changed.end(), delta.touched.begin(), delta.touched.end());
  const auto before = cost_.dependents(before_, changed);
  ids.insert(ids.end(), after.begin(), after.end());
  ids.insert(ids.end(), before.begin(), before.end());
}

// Makes the edit of a match, to be undone or kept, and notes in `move` what it changes.
const graph::Delta& Walk::edit(const rules::Rewrite& step, Move& move) {
  replaced_.clear();
  index_.edit(step.rule, step.location, trial_.editor(), &replaced_);
  const graph::Delta& delta = trial_.apply();
  move.match = index_.share(step.rule, step.location);
  move.delta_us = delta_us(delta);
  move.delta_hash = hash_.difference(graph(), delta, trial_.rewired(), replaced_);
  move.reads_leaves = trial_.looked_at_leaves();
  reads_.clear();
  trial_.reads(reads_);
  if (!local_) add_surroundings(delta, reads_);
  const auto bound = static_cast<NodeId>(node_us_.size());
  std::ranges::sort(reads_);
  for (size_t k = 0; k < reads_.size(); ++k) {
    if (reads_[k] >= bound || (k > 0 && reads_[k] == reads_[k - 1])) continue;
    move.reads.push_back(reads_[k]);
    move.mask |= mask_of(reads_[k]);
  }
  return delta;
}

std::shared_ptr<const Move> Walk::evaluate(const rules::Rewrite& step) {
  auto move = std::make_shared<Move>();
  edit(step, *move);
  trial_.undo();
  return move;
}

// Costs that are measured on demand are first asked for, all of them, then measured together.
void Walk::evaluate(std::span<const size_t> stale) {
  if (!evaluates()) {
    for (const size_t k : stale) {
      auto move = std::make_shared<Move>();
      move->match = index_.share(places_[k].step.rule, places_[k].step.location);
      places_[k].move = std::move(move);
    }
    return;
  }
  const bool gathers = !local_ && !stale.empty() && measured_.defer();
  std::vector<size_t> unknown;
  for (const size_t k : stale) {
    if (!may_try_()) break;
    ++tried_;
    const size_t estimates = local_ ? 0 : measured_.deferred();
    const auto move = std::make_shared<Move>();
    edit(places_[k].step, *move);
    trial_.undo();
    move->is_estimate = !local_ && measured_.deferred() > estimates;
    if (gathers && move->is_estimate) unknown.push_back(k);
    places_[k].move = move;
  }
  if (!gathers) return;
  if (unknown_ == Unknown::estimated) {
    measured_.forget_deferred();
    return;
  }
  const bool flushed = measured_.flush();
  for (const size_t k : unknown) {
    if (flushed) {
      places_[k].move = evaluate(places_[k].step);
    } else {
      Move move;
      move.match = places_[k].move->match;
      places_[k].move = std::make_shared<const Move>(std::move(move));
    }
  }
}

// Carries over what is known of the matches that are still there. Returns the places of the others.
std::vector<size_t> Walk::find_places() {
  std::swap(places_, old_places_);
  places_.clear();
  std::vector<size_t> stale;
  size_t first = 0;  // of the rule, in old_places_
  for (int32_t rule = 0; rule < index_.rules().size(); ++rule) {
    size_t last = first;
    while (last < old_places_.size() && old_places_[last].step.rule == rule) ++last;
    size_t next = first;  // matches mostly stand in the order in which they stood
    const rules::MatchView matches = index_.matches(rule);
    const auto count = static_cast<int32_t>(std::min(matches.size(), static_cast<size_t>(max_locations_)));
    for (int32_t location = 0; location < count; ++location) {
      const rules::Match* match = &matches[static_cast<size_t>(location)];
      size_t at = next;
      const auto is_here = [&](size_t k) { return old_places_[k].move && old_places_[k].move->match.get() == match; };
      while (at < last && !is_here(at)) ++at;
      if (at == last) {
        at = first;
        while (at < next && !is_here(at)) ++at;
        if (at == next) at = last;
      }
      places_.push_back({{rule, location}, nullptr});
      if (at < last) next = at + 1;
      if (at < last && !is_stale(*old_places_[at].move)) {
        places_.back().move = old_places_[at].move;
      } else {
        stale.push_back(places_.size() - 1);
      }
    }
    first = last;
  }
  old_places_.clear();
  return stale;
}

bool Walk::is_stale(const Move& move) const {
  if (!evaluates()) return false;
  if (move.reads_leaves && leaves_changed_) return true;
  if ((move.mask & changed_mask_) == 0 && !move.reads.empty()) return false;
  return move.reads.empty() ||
         std::ranges::any_of(move.reads, [&](NodeId id) { return is_changed_[static_cast<size_t>(id)] != 0; });
}

void Walk::add_changed(std::span<const NodeId> ids) {
  for (const NodeId id : ids) {
    changed_.push_back(id);
    changed_mask_ |= mask_of(id);
    is_changed_[static_cast<size_t>(id)] = 1;
  }
}

void Walk::note_changes(const graph::Delta& delta) {
  for (const NodeId id : changed_) is_changed_[static_cast<size_t>(id)] = 0;
  changed_.clear();
  changed_mask_ = 0;
  is_changed_.resize(static_cast<size_t>(graph().id_bound()), 0);
  add_changed(delta.removed);
  add_changed(delta.added);
  add_changed(delta.touched);
  if (local_) return;
  std::vector<NodeId> around;
  add_surroundings(delta, around);
  add_changed(around);
}

std::optional<size_t> Walk::find(const rules::Rewrite& step) const {
  const auto place = std::ranges::find(places_, step, &Place::step);
  if (place == places_.end()) return std::nullopt;
  return static_cast<size_t>(place - places_.begin());
}

bool Walk::take(size_t k) {
  return take(rules::Rewrite(places_[k].step), [](const Move&) { return true; });
}

bool Walk::take(const rules::Rewrite& step, const std::function<bool(const Move&)>& accepts) {
  const auto move = std::make_shared<Move>();
  const graph::Delta& delta = edit(step, *move);
  if (!accepts(*move)) {
    trial_.undo();
    return false;
  }
  rewired_.assign(trial_.rewired().begin(), trial_.rewired().end());
  const int64_t leaf_changes = trial_.leaf_changes();
  if (!trial_.keep()) return false;
  leaves_changed_ = trial_.leaf_changes() != leaf_changes;
  hash_.advance(graph(), delta, rewired_, replaced_);
  node_us_.resize(static_cast<size_t>(graph().id_bound()), 0.0);
  if (local_) {
    for (const NodeId id : delta.added) node_us_[static_cast<size_t>(id)] = node_us(id);
    for (const NodeId id : delta.removed) node_us_[static_cast<size_t>(id)] = 0;
    for (const NodeId id : delta.touched) {
      double& known_us = node_us_[static_cast<size_t>(id)];
      if (graph().node(id).constant || known_us == 0) known_us = node_us(id);
    }
  }
  index_.update(graph(), delta);
  note_changes(delta);
  stamp_ = stamp_after(stamp_, step);
  if (!local_) before_ = graph();
  cost_us_ += move->delta_us;
  last_ = move;
  ++depth_;
  ++moves_;
  trail_ = std::make_shared<const Trail>(Trail{trail_, step});
  added_ = delta.added;
  touched_ = delta.touched;
  evaluate(find_places());
  return true;
}

// The same rewrite of the same state makes the same state, ids included.
uint64_t Walk::stamp_after(uint64_t stamp, const rules::Rewrite& step) {
  return hash_combine(hash_combine(stamp, static_cast<uint64_t>(step.rule)), static_cast<uint64_t>(step.location));
}

int64_t Walk::Mark::bytes() const {
  return State{graph, index, hash, 0, 0, nullptr}.bytes() +
         static_cast<int64_t>(places.size() * (sizeof(Place) + sizeof(Move) / 8) + 8 * node_us.size());
}

Walk::Mark Walk::mark() const { return {graph(), index_, hash_, places_, node_us_, cost_us_, depth_, trail_, stamp_}; }

void Walk::restore(const Mark& mark) {
  trial_ = graph::Trial(mark.graph);
  if (!local_) before_ = mark.graph;
  index_ = mark.index;
  hash_ = mark.hash;
  places_ = mark.places;
  node_us_ = mark.node_us;
  cost_us_ = mark.cost_us;
  depth_ = mark.depth;
  trail_ = mark.trail;
  stamp_ = mark.stamp;
  for (const NodeId id : changed_) is_changed_[static_cast<size_t>(id)] = 0;
  changed_.clear();
  changed_mask_ = 0;
}

}  // namespace rlgo::search
