#include "learner/session/network_prior.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/agent/player.h"
#include "core/env/features.h"
#include "core/nets/batch.h"
#include "core/nets/plain.h"
#include "learner/torch_tensors.h"

namespace rlgo::learner {
namespace {

class NetworkPrior : public search::PolicyPrior {
 public:
  NetworkPrior(nets::ActorCritic network, std::shared_ptr<cost::CostModel> cost)
      : network_(std::move(network)), cost_(std::move(cost)), features_(cost_) {
    if (network_->local_encoder())
      player_.emplace(std::make_shared<const agent::Network>(nets::plain_network(*network_)));
  }

  Scores rank(const graph::Graph& graph, const rules::MatchIndex& matches, int max_locations,
              const search::Position& at) override {
    features_.reset(graph);
    const search::State state{graph, matches, graph::NameHash(graph), at.current_us, 0, nullptr};
    const search::Walk walk(
        state, *cost_, *cost_, max_locations, [] { return true; }, search::Walk::Unknown::estimated);
    const env::Progress progress{at.initial_us, at.current_us, at.best_us};
    const auto seen = features_.observe(graph, walk.places(), matches.rules().size(), progress);
    const auto [score, stop] = logits(seen);
    double total = 0, highest = stop;
    for (const float s : score) highest = std::max(highest, static_cast<double>(s));
    for (const float s : score) total += std::exp(s - highest);
    const double norm = highest + std::log(total + std::exp(stop - highest));
    Scores scores;
    for (const float s : score) scores.moves.push_back(static_cast<float>(s - norm));
    scores.stop = static_cast<float>(stop - norm);
    return scores;
  }

 private:
  std::pair<std::vector<float>, float> logits(const mdp::Observation& seen) {
    if (player_) {
      const auto& judged = player_->judge(seen);
      return {judged.score, judged.stop};
    }
    const torch::NoGradGuard no_gradients;
    const auto batch = nets::collate(seen, network_->spec());
    const auto policy = network_->policy(batch, network_->encode(batch));
    return {nets::to_floats(policy.score), policy.stop.item<float>()};
  }

  nets::ActorCritic network_;
  std::optional<agent::Player> player_;  // of a local encoder
  std::shared_ptr<cost::CostModel> cost_;
  env::FeatureBuilder features_;
};

}  // namespace

std::unique_ptr<search::PolicyPrior> network_prior(nets::ActorCritic network, std::shared_ptr<cost::CostModel> cost) {
  return std::make_unique<NetworkPrior>(std::move(network), std::move(cost));
}

}  // namespace rlgo::learner
