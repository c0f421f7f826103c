#include "core/search/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace rlgo::search {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kValueScale = 0.1;         // the paper's c_scale
constexpr int64_t kMostBytes = 256L << 20;  // of graphs that are kept, about

}  // namespace

Planner::Planner(std::unique_ptr<PolicyPrior> prior, int simulations, int considered, double unit_us)
    : prior_(std::move(prior)), simulations_(simulations), considered_(considered), unit_us_(unit_us) {}

void Planner::begin(const Walk& walk) {
  if (start_ != walk.stamp() || std::ssize(graphs_) * bytes_each_ > kMostBytes) graphs_.clear();
  start_ = walk.stamp();
  auto& start = graphs_[walk.hash()];
  if (!start) {
    start = std::make_shared<const Built>(Built{nullptr, {}, walk.mark()});
    bytes_each_ = start->mark.bytes();
  }
  nodes_.clear();
  played_ = {walk.hash()};
  ended_ = false;
  best_ = start;
  best_us_ = begin_us_ = walk.cost_us();
}

bool Planner::may_try() {
  ++tries_;
  ended_ = ended_ || !episode_->may_try();
  return !ended_;
}

std::shared_ptr<const Planner::Built> Planner::build(const Node& from, size_t place) {
  if (!may_try()) return nullptr;
  if (walk_->stamp() != from.built->mark.stamp) walk_->restore(from.built->mark);
  auto taken = take(*walk_, place);
  if (!taken) return nullptr;
  return std::make_shared<const Built>(Built{from.built, std::move(*taken), walk_->mark()});
}

Planner::Node* Planner::reach(Node& from, size_t action) {
  const size_t place = from.places[action];
  const Walk::Mark& mark = from.built->mark;
  const uint64_t hash = mark.hash.value() + mark.places[place].move->delta_hash;
  const auto node = nodes_.find(hash);
  if (node != nodes_.end()) return &node->second;
  auto& built = graphs_[hash];
  if (!built) built = build(from, place);
  if (built) return &enter(built);
  graphs_.erase(hash);
  return nullptr;
}

Planner::Node& Planner::enter(std::shared_ptr<const Built> built) {
  Node& node = nodes_[built->mark.hash.value()];
  node.built = std::move(built);
  find_actions(node);
  judge(node);
  return node;
}

// The rewrites of the window, but for those that lead back to a graph on the way here.
void Planner::find_actions(Node& node) const {
  const Walk::Mark& mark = node.built->mark;
  Region window = episode_->window;
  std::unordered_set<uint64_t> before;
  for (const Built* b = node.built.get(); b != nullptr; b = b->from.get()) {
    window.add(mark.graph, b->by.added);
    before.insert(b->mark.hash.value());
  }
  for (size_t k = 0; k < mark.places.size(); ++k) {
    const auto& move = mark.places[k].move;
    if (!move || !std::isfinite(move->delta_us) || !window.contains(mark.graph, *move->match)) continue;
    if (!before.contains(mark.hash.value() + move->delta_hash)) node.places.push_back(k);
  }
}

// What the graph is worth by itself, and what the agent says of its actions.
void Planner::judge(Node& node) {
  const Walk::Mark& mark = node.built->mark;
  double known_us = mark.cost_us;
  for (const size_t k : node.places) known_us = std::min(known_us, mark.cost_us + mark.places[k].move->delta_us);
  if (known_us < best_us_) {
    best_us_ = known_us;
    best_ = node.built;
  }
  std::vector<double> logits;
  double lowest_us = known_us;
  if (!node.places.empty()) {
    if (walk_->stamp() != mark.stamp) walk_->restore(mark);
    const Position at{episode_->initial_us, mark.cost_us, std::min(begin_us_, mark.cost_us), &node.places};
    const auto& scores = prior_->rank(*walk_, at);
    for (const size_t k : node.places) logits.push_back(static_cast<double>(scores.moves[k]));
    logits.push_back(static_cast<double>(scores.stop));
    if (scores.expected_us) lowest_us = std::min(lowest_us, *scores.expected_us);
  } else {
    logits.push_back(0);
  }
  node.branches.add(std::move(logits), -lowest_us / unit_us_);
}

// One simulation, which begins with an action of the root; `depth` moves were made before.
void Planner::simulate(Node& root, size_t action, int depth) {
  const auto own_value = [&](const Node& node) { return -node.built->mark.cost_us / unit_us_; };
  std::vector<Step> way;
  std::unordered_set<const Node*> on_way;
  double value = 0;
  for (Node* at = &root;; action = lagging_action(at->branches, kValueScale)) {
    way.push_back({at, action});
    on_way.insert(at);
    value = own_value(*at);
    if (action == at->places.size()) break;
    Node* next = reach(*at, action);
    if (next == nullptr) at->branches.logits[action] = kNever;
    if (next == nullptr) break;
    value = next->branches.value;
    const bool leaves_tree = !std::exchange(next->entered, true) || next->places.empty();
    if (leaves_tree || ++depth >= episode_->horizon || on_way.contains(next)) break;
    at = next;
  }
  for (; !way.empty(); way.pop_back()) {
    Node& node = *way.back().at;
    node.branches.visit(way.back().action, value);
    value = std::max(value, own_value(node));
  }
}

std::optional<size_t> Planner::decide(Node& root, int depth, Rng& rng) {
  for (auto& [hash, node] : nodes_) {
    node.branches.forget_visits();
    node.entered = false;
  }
  forbid_played(root);
  RootChoice choice(root.branches, kValueScale, considered_, simulations_, rng);
  tries_ = 0;
  for (int k = 0; k < simulations_ && !ended_; ++k) simulate(root, choice.next(), depth);
  // At least one graph, so that what has nowhere to go ends with the budget.
  if (tries_ == 0) may_try();
  const auto action = choice.best();
  if (ended_ || best_us_ < episode_->goal_us || action == root.places.size()) return std::nullopt;
  return action;
}

void Planner::forbid_played(Node& node) const {
  const Walk::Mark& mark = node.built->mark;
  for (size_t a = 0; a < node.places.size(); ++a) {
    if (played_.contains(mark.hash.value() + mark.places[node.places[a]].move->delta_hash))
      node.branches.logits[a] = kNever;
  }
}

std::vector<Taken> Planner::end_at(const std::shared_ptr<const Built>& built) {
  if (walk_->stamp() != built->mark.stamp) walk_->restore(built->mark);
  std::vector<Taken> taken;
  for (const Built* b = built.get(); b->from != nullptr; b = b->from.get()) taken.push_back(b->by);
  std::ranges::reverse(taken);
  return taken;
}

std::vector<Taken> Planner::play(Walk& walk, const Episode& episode, Rng& rng) {
  walk_ = &walk;
  episode_ = &episode;
  begin(walk);
  Node* at = &enter(best_);
  for (int depth = 0; depth < episode.horizon && !at->places.empty(); ++depth) {
    const auto action = decide(*at, depth, rng);
    Node* next = action ? reach(*at, *action) : nullptr;
    if (next == nullptr) break;
    at = next;
    played_.insert(at->built->mark.hash.value());
  }
  return end_at(best_us_ < episode.goal_us ? best_ : at->built);
}

}  // namespace rlgo::search
