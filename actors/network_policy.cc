#include "actors/network_policy.h"

#include "core/base/error.h"
#include "core/nets/plain.h"
#include "core/nets/weights.h"

namespace rlgo::actors {

NetworkPolicy::NetworkPolicy(nets::Agent network, int64_t version) : network_(std::move(network)), version_(version) {
  make_player();
}

void NetworkPolicy::make_player() {
  const auto* actor_critic = dynamic_cast<const nets::ActorCriticImpl*>(network_.get());
  if (actor_critic == nullptr || !actor_critic->options().has_plain_form() || !network_->device().is_cpu()) return;
  player_.emplace(std::make_shared<const agent::Network>(nets::plain_network(*actor_critic)));
}

nets::GraphBatch NetworkPolicy::join(std::span<const mdp::Observation* const> observations) const {
  const auto& spec = network_->spec();
  const auto encoder = network_->local_encoder();
  if (!encoder || observations.size() == 1) return nets::collate(observations, spec, network_->device());
  nets::RowTable table(spec, encoder->rounds, encoder->both_directions);
  std::vector<nets::RowIds> rows;
  for (const auto* observation : observations) {
    mdp::check(*observation, spec);
    rows.push_back(table.add(*observation));
  }
  std::vector<const nets::RowIds*> pointers;
  for (const auto& one : rows) pointers.push_back(&one);
  return nets::collate(observations, spec, table, pointers, network_->device());
}

std::vector<Decision> NetworkPolicy::decide(std::span<const mdp::Observation* const> observations,
                                            std::span<const double> uniforms) {
  RLGO_CHECK_EQ(uniforms.size(), 2 * observations.size());
  std::vector<Decision> decisions;
  decisions.reserve(observations.size());
  if (player_) {
    for (size_t i = 0; i < observations.size(); ++i) {
      const auto c = player_->choose(*observations[i], uniforms[2 * i], uniforms[2 * i + 1], greedy());
      decisions.push_back({c.action, c.log_prob_rule, c.log_prob_location, c.value_rule, c.value_location});
    }
    return decisions;
  }
  const auto hold = hold_ ? hold_() : nullptr;
  const auto chosen = network_->act(join(observations), uniforms, greedy());
  for (size_t i = 0; i < observations.size(); ++i) {
    decisions.push_back({chosen.actions[i], chosen.log_prob_rule[i], chosen.log_prob_location[i], chosen.value_rule[i],
                         chosen.value_location[i]});
  }
  return decisions;
}

std::vector<float> NetworkPolicy::value(std::span<const mdp::Observation* const> observations) {
  if (player_) {
    std::vector<float> values;
    for (const auto* observation : observations) values.push_back(player_->value(*observation));
    return values;
  }
  const auto hold = hold_ ? hold_() : nullptr;
  // Greedy needs no random numbers; the values do not depend on the action that it takes.
  return network_->act(join(observations), {}, true).value_rule;
}

void NetworkPolicy::load(std::string_view weights, int64_t version) {
  nets::unpack(*network_, weights);
  make_player();
  version_ = version;
}

}  // namespace rlgo::actors
