#include "launch/python/padded_env.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace rlgo::python {
namespace {

constexpr double kGrowth = 1.5;  // rewriting seldom makes a graph larger than that
constexpr int kLeastNodes = 16, kLeastCandidates = 32;

int with_growth(size_t size, int least) {
  return std::max(least, static_cast<int>(kGrowth * static_cast<double>(size)) + 8);
}

}  // namespace

PaddedEnv::PaddedEnv(std::unique_ptr<env::RewriteEnv> env, env::EnvOptions options, Room room)
    : env_(std::move(env)), options_(std::move(options)), room_(room) {
  const mdp::Observation first = env_->reset(0);
  if (room_.nodes <= 0) room_.nodes = with_growth(first.node_op.size(), kLeastNodes);
  if (room_.edges <= 0) room_.edges = with_growth(first.edge_src.size(), kLeastNodes);
  if (room_.candidates <= 0) room_.candidates = with_growth(first.loc_node.size(), kLeastCandidates);
}

std::unique_ptr<PaddedEnv> PaddedEnv::fork() const {
  std::unique_ptr<PaddedEnv> copy(new PaddedEnv());
  copy->env_ = env_->fork();
  copy->options_ = options_;
  copy->room_ = room_;
  copy->observation_ = observation_;
  copy->candidates_ = candidates_;
  copy->rows_ = rows_;
  copy->changes_ = changes_;
  copy->steps_ = steps_;
  copy->dropped_ = dropped_;
  copy->running_ = running_;
  copy->outgrown_ = outgrown_;
  return copy;
}

Outcome PaddedEnv::outcome() const {
  Outcome out;
  out.cost_us = env_->current_cost_us();
  out.dropped = dropped_;
  out.outgrown = outgrown_;
  return out;
}

Outcome PaddedEnv::reset(uint64_t key) {
  running_ = false;
  steps_ = 0;
  take(env_->reset(key));
  running_ = true;
  return outcome();
}

// A graph that is larger than the arrays at its start would end every episode at once: reported where it is made.
void PaddedEnv::take(mdp::Observation observation) {
  observation_ = std::move(observation);
  outgrown_ = observation_.node_op.size() > static_cast<size_t>(room_.nodes) ||
              observation_.edge_src.size() > static_cast<size_t>(room_.edges);
  choose_candidates();
}

// Where there are more than there is room for, the first location of each rule comes before the second one of any: no
// rule is left out for another's many locations.
void PaddedEnv::choose_candidates() {
  struct Place {
    int32_t rule, location, row;
  };
  std::vector<Place> places;
  int32_t row = 0;
  for (size_t rule = 0; rule < observation_.counts.size(); ++rule) {
    for (int32_t location = 0; location < observation_.counts[rule]; ++location)
      places.push_back({static_cast<int32_t>(rule), location, row++});
  }
  const auto room = static_cast<size_t>(room_.candidates);
  dropped_ = 0;
  if (places.size() > room) {
    dropped_ = static_cast<int>(places.size() - room);
    std::ranges::stable_sort(places, {}, &Place::location);
    places.resize(room);
    std::ranges::sort(places, {}, &Place::row);
  }
  const auto features = static_cast<size_t>(spec().location_features);  // the first one is the change of cost
  candidates_.clear();
  rows_.clear();
  changes_.clear();
  for (const Place& place : places) {
    candidates_.push_back({place.rule, place.location});
    rows_.push_back(place.row);
    changes_.push_back(observation_.loc_feat[static_cast<size_t>(place.row) * features]);
  }
}

Outcome PaddedEnv::illegal() {
  ++steps_;
  Outcome out = outcome();
  out.illegal = true;
  out.truncated = steps_ >= options_.max_steps;
  running_ = !out.truncated;
  return out;
}

Outcome PaddedEnv::step_index(int64_t index) {
  if (index == room_.candidates) return step({spec().rules, 0});
  if (!running_) fail("step() on an episode that has ended; call reset() first");
  if (index < 0 || index >= static_cast<int64_t>(candidates_.size())) return illegal();
  return step(candidates_[static_cast<size_t>(index)]);
}

Outcome PaddedEnv::step(mdp::Action action) {
  if (!running_) fail("step() on an episode that has ended; call reset() first");
  if (action.rule == spec().rules) action.location = 0;
  const bool known = action.rule >= 0 && action.rule <= spec().rules && action.location >= 0;
  if (!known ||
      (action.rule < spec().rules && action.location >= observation_.counts[static_cast<size_t>(action.rule)]))
    return illegal();
  running_ = false;  // an error below ends the episode
  mdp::StepResult result = env_->step(action);
  ++steps_;
  take(std::move(result.observation));
  Outcome out = outcome();
  out.reward = result.reward;
  out.terminal = result.terminal;
  out.truncated = !result.terminal && (result.truncated || steps_ >= options_.max_steps || outgrown_);
  out.rule = result.info.rule;
  running_ = !out.terminal && !out.truncated;
  return out;
}

void PaddedEnv::write(const Arrays& to) const {
  const mdp::Observation& o = observation_;
  const auto room_nodes = static_cast<size_t>(room_.nodes), room_edges = static_cast<size_t>(room_.edges);
  const auto node_features = static_cast<size_t>(spec().node_features);
  const auto edge_features = static_cast<size_t>(spec().edge_features);
  const size_t nodes = std::min(o.node_op.size(), room_nodes);
  std::fill(std::copy_n(o.node_op.data(), nodes, to.node_op), to.node_op + room_nodes, -1);
  std::fill(std::copy_n(o.node_feat.data(), nodes * node_features, to.node_feat),
            to.node_feat + room_nodes * node_features, 0.0F);
  size_t edges = 0;
  for (size_t e = 0; e < o.edge_src.size() && edges < room_edges; ++e) {
    if (static_cast<size_t>(std::max(o.edge_src[e], o.edge_dst[e])) >= nodes) continue;
    to.edges[2 * edges] = o.edge_src[e];
    to.edges[2 * edges + 1] = o.edge_dst[e];
    std::copy_n(o.edge_feat.data() + e * edge_features, edge_features, to.edge_feat + edges * edge_features);
    ++edges;
  }
  std::fill(to.edges + 2 * edges, to.edges + 2 * room_edges, -1);
  std::fill(to.edge_feat + edges * edge_features, to.edge_feat + room_edges * edge_features, 0.0F);
  std::ranges::copy(o.globals, to.globals);
  const auto room = static_cast<size_t>(room_.candidates);
  for (size_t k = 0; k < candidates_.size(); ++k) {
    const int32_t node = o.loc_node[static_cast<size_t>(rows_[k])];
    to.candidates[3 * k] = candidates_[k].rule;
    to.candidates[3 * k + 1] = candidates_[k].location;
    to.candidates[3 * k + 2] = static_cast<size_t>(node) < nodes ? node : -1;
  }
  std::fill(to.candidates + 3 * candidates_.size(), to.candidates + 3 * room, -1);
  std::fill(std::ranges::copy(changes_, to.change).out, to.change + room, 0.0F);
  std::fill(std::fill_n(to.mask, candidates_.size(), int8_t{1}), to.mask + room, int8_t{0});
  to.mask[room] = 1;
}

}  // namespace rlgo::python
