#include "actors/network_policy.h"

#include "core/base/error.h"
#include "core/nets/weights.h"

namespace rlgo::actors {

NetworkPolicy::NetworkPolicy(nets::Agent network, int64_t version) : network_(std::move(network)), version_(version) {
  if (network_->local_encoder() && network_->device().is_cpu()) rows_.emplace(*network_);
}

nets::GraphBatch NetworkPolicy::collate(std::span<const mdp::Observation* const> observations) {
  return rows_ ? rows_->collate(observations) : nets::collate(observations, network_->spec(), network_->device());
}

std::vector<Decision> NetworkPolicy::act(std::span<const mdp::Observation* const> observations,
                                         std::span<Rng* const> rngs) {
  RLGO_CHECK_EQ(observations.size(), rngs.size());
  const auto batch = collate(observations);
  std::vector<double> uniforms;
  for (Rng* rng : rngs) {
    uniforms.push_back(rng->uniform());
    uniforms.push_back(rng->uniform());
  }
  const auto chosen = network_->act(batch, uniforms, greedy());
  std::vector<Decision> decisions;
  decisions.reserve(observations.size());
  for (size_t i = 0; i < observations.size(); ++i) {
    decisions.push_back({chosen.actions[i], chosen.log_prob_rule[i], chosen.log_prob_location[i], chosen.value_rule[i],
                         chosen.value_location[i]});
  }
  return decisions;
}

std::vector<float> NetworkPolicy::value(std::span<const mdp::Observation* const> observations) {
  // Greedy needs no random numbers; the values do not depend on the action that it takes.
  return network_->act(collate(observations), {}, true).value_rule;
}

void NetworkPolicy::load(std::string_view weights, int64_t version) {
  nets::unpack(*network_, weights);
  if (rows_) rows_->load(*network_);
  version_ = version;
}

}  // namespace rlgo::actors
