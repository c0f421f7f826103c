#include "core/prior/agent_prior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/env/features.h"

namespace rlgo::prior {
namespace {

// States that are remembered: a chain of annealing comes back to three (core/search/chain.h), a walk to its start,
// backtracking to graphs of its queue.
constexpr size_t kMostStates = 64;

std::vector<int32_t> match_rules(const mdp::ObservationSpec& spec, const rules::RuleSet& rules) {
  std::vector<int32_t> result;
  for (int32_t rule = 0; rule < rules.size(); ++rule) {
    const auto found = std::ranges::find(spec.rule_names, rules.name(rule));
    result.push_back(found == spec.rule_names.end() ? -1 : static_cast<int32_t>(found - spec.rule_names.begin()));
  }
  return result;
}

bool same(const search::Position& a, const search::Position& b) {
  return a.initial_us == b.initial_us && a.current_us == b.current_us && a.best_us == b.best_us &&
         a.offered == b.offered;
}

AgentPrior::Values values_of(const agent::AgentFile& agent) {
  const auto reward = agent.about.find("reward");
  if (reward == agent.about.end()) return AgentPrior::Values::none;
  if (reward->second == "R1") return AgentPrior::Values::saved;
  return reward->second == "R5" ? AgentPrior::Values::best : AgentPrior::Values::none;
}

}  // namespace

AgentPrior::AgentPrior(const std::shared_ptr<const agent::Network>& network, const rules::RuleSet& rules, Values values)
    : AgentPrior(network, match_rules(network->spec, rules), values) {
  const auto& agent = network->spec;
  const auto own = env::observation_spec(rules, agent.max_locations);
  if (agent.ops != own.ops || agent.node_features != own.node_features || agent.edge_features != own.edge_features ||
      agent.global_features != own.global_features || agent.location_features != own.location_features ||
      agent.nonlocal_node_features != own.nonlocal_node_features) {
    fail(
        "the agent is of another version of rlgo: it reads {} operators and {}, {}, {}, {} features of nodes, edges, "
        "graphs, locations; this one has {} and {}, {}, {}, {}. Train it again",
        agent.ops, agent.node_features, agent.edge_features, agent.global_features, agent.location_features, own.ops,
        own.node_features, own.edge_features, own.global_features, own.location_features);
  }
}

AgentPrior::AgentPrior(std::shared_ptr<const agent::Network> network, std::vector<int32_t> agent_rule, Values values)
    : network_(std::move(network)),
      values_(values),
      agent_rule_(std::move(agent_rule)),
      rows_(network_),
      judge_(network_) {}

std::unique_ptr<search::PolicyPrior> AgentPrior::fork() const {
  return std::unique_ptr<PolicyPrior>(new AgentPrior(network_, agent_rule_, values_));
}

int AgentPrior::known_rules() const {
  return static_cast<int>(std::ranges::count_if(agent_rule_, [](int32_t rule) { return rule >= 0; }));
}

// The walk's state: remembered, brought up to date from one that the walk came from, or made anew.
AgentPrior::State& AgentPrior::find(const search::Walk& walk, double initial_us) {
  if (rows_.forget_if_full() || initial_us != initial_us_) states_.clear();
  initial_us_ = initial_us;
  for (auto state = states_.begin(); state != states_.end(); ++state) {
    if (state->stamp != walk.stamp()) continue;
    states_.splice(states_.begin(), states_, state);
    return states_.front();
  }
  const auto from =
      std::ranges::find_if(states_, [&](const State& s) { return walk.changed_since(s.stamp).has_value(); });
  if (from != states_.end()) {
    states_.splice(states_.begin(), states_, from);
    states_.push_front({walk.stamp(), {}, from->rows, {}, false});
    states_.front().rows.update(walk.graph(), *walk.changed_since(from->stamp), walk.cost(), initial_us, rows_);
  } else {
    states_.push_front({walk.stamp(), {}, {}, {}, false});
    states_.front().rows.reset(walk.graph(), walk.cost(), initial_us, rows_);
  }
  if (states_.size() > kMostStates) states_.pop_back();
  return states_.front();
}

// The places whose rules the agent knows, of those that are offered, by its rules.
void AgentPrior::gather(const search::Walk& walk, const search::Position& at, const GraphRows& rows) {
  const auto places = walk.places();
  const auto rule_of = [&](size_t k) { return agent_rule_[static_cast<size_t>(places[k].step.rule)]; };
  place_of_.clear();
  const size_t count = at.offered == nullptr ? places.size() : at.offered->size();
  for (size_t n = 0; n < count; ++n) {
    const size_t k = at.offered == nullptr ? n : (*at.offered)[n];
    if (places[k].move && rule_of(k) >= 0 && places[k].step.location < network_->spec.max_locations)
      place_of_.push_back(k);
  }
  if (!std::ranges::is_sorted(place_of_, {}, rule_of)) std::ranges::stable_sort(place_of_, {}, rule_of);
  locations_.counts.assign(static_cast<size_t>(network_->spec.rules), 0);
  locations_.root.clear();
  locations_.rest.clear();
  locations_.rest_end.clear();
  locations_.features.clear();
  for (const size_t k : place_of_) {
    ++locations_.counts[static_cast<size_t>(rule_of(k))];
    const auto& nodes = places[k].move->match->nodes;
    locations_.root.push_back(rows.row(nodes[0]));
    for (size_t n = 1; n < nodes.size(); ++n) {
      if (rows.has(nodes[n])) locations_.rest.push_back(rows.row(nodes[n]));
    }
    locations_.rest_end.push_back(static_cast<int32_t>(locations_.rest.size()));
    const auto features = env::location_row(*places[k].move, std::max(at.initial_us, 1e-9));
    locations_.features.insert(locations_.features.end(), features.begin(), features.end());
  }
  rows.pool(*network_, summary_.pooled);
  summary_.globals = env::global_row({at.initial_us, at.current_us, at.best_us}, static_cast<size_t>(rows.nodes()),
                                     static_cast<size_t>(rows.edges()), count);
}

// A rule that the agent has never seen is as good as it thinks the others are on average.
void AgentPrior::fill(const search::Walk& walk, const search::Position& at, Scores& scores) const {
  const auto places = walk.places();
  double sum = 0;
  for (const float logit : judged_->learned) sum += static_cast<double>(logit);
  const double mean = place_of_.empty() ? 0.0 : sum / static_cast<double>(place_of_.size());
  scores.learned.assign(places.size(), static_cast<float>(mean));
  for (size_t l = 0; l < place_of_.size(); ++l) scores.learned[place_of_[l]] = judged_->learned[l];
  scores.moves.assign(places.size(), -std::numeric_limits<float>::infinity());
  double top = static_cast<double>(judged_->stop);
  const auto score = [&](size_t k) {
    if (!places[k].move) return;  // the search ended before it was tried
    const float change = env::location_row(*places[k].move, std::max(at.initial_us, 1e-9))[0];
    scores.moves[k] = scores.learned[k] - network_->beta * change;
    top = std::max(top, static_cast<double>(scores.moves[k]));
  };
  if (at.offered != nullptr) {
    std::ranges::for_each(*at.offered, score);
  } else {
    for (size_t k = 0; k < places.size(); ++k) score(k);
  }
  double total = std::exp(static_cast<double>(judged_->stop) - top);
  for (const float logit : scores.moves) total += std::exp(static_cast<double>(logit) - top);
  const auto norm = static_cast<float>(top + std::log(total));
  for (float& logit : scores.moves) logit -= norm;
  scores.stop = judged_->stop - norm;
  scores.expected_us.reset();
  if (values_ == Values::none) return;
  const double from_us = values_ == Values::saved ? at.current_us : at.best_us;
  // Nothing is lost by leaving the graph as it is.
  const double percent = std::max(0.0, static_cast<double>(judge_.value_of_rule(judged_->global)));
  scores.expected_us = from_us - 0.01 * percent * at.initial_us;
}

const AgentPrior::Scores& AgentPrior::rank(const search::Walk& walk, const search::Position& at) {
  RLGO_CHECK_EQ(static_cast<size_t>(walk.matches().rules().size()), agent_rule_.size());
  State& state = find(walk, at.initial_us);
  if (state.is_ranked && same(state.at, at)) return state.scores;
  gather(walk, at, state.rows);
  judged_ = &judge_.judge(rows_, summary_, locations_);
  if (!std::isfinite(judged_->stop) || !std::ranges::all_of(judged_->score, [](float s) { return std::isfinite(s); }))
    fail("the agent's logits are not finite: its weights are damaged");
  fill(walk, at, state.scores);
  state.at = at;
  state.is_ranked = at.offered == nullptr;  // who offers some keeps what is said
  return state.scores;
}

std::unique_ptr<search::PolicyPrior> make_prior(const agent::AgentFile& agent, const std::string& name,
                                                const rules::RuleSet& rules, int max_locations) {
  if (agent.spec.max_locations < max_locations) {
    fail("{}: the agent knows {} locations of a rule; search with --search.max-locations {}", name,
         agent.spec.max_locations, agent.spec.max_locations);
  }
  try {
    auto prior =
        std::make_unique<AgentPrior>(std::make_shared<const agent::Network>(agent.network()), rules, values_of(agent));
    if (prior->known_rules() == 0)
      fail("the agent was trained with other rules and knows none of these; name those that it knows with --rules");
    return prior;
  } catch (const Error& error) {
    throw error.in(name);
  }
}

std::optional<std::filesystem::path> shipped_agent() {
  try {
    return shipped_config("agents/search.agent");
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace rlgo::prior
