// A trained network as the judge of a search.
#pragma once

#include <memory>

#include "core/cost/cost.h"
#include "core/nets/actor_critic.h"
#include "core/search/search.h"

namespace rlgo::learner {

// Log-probabilities of `network` for the moves of a graph, as search::PolicyPrior wants them. `cost` prices what each
// move would change; operators that are not priced yet count by their estimate.
std::unique_ptr<search::PolicyPrior> network_prior(nets::ActorCritic network, std::shared_ptr<cost::CostModel> cost);

}  // namespace rlgo::learner
