// What X-RLflow's agent sees (He et al. 2023, "X-RLflow: Graph reinforcement learning for neural network subgraphs
// transformation"): the graph that each rewrite would make, whole.
#pragma once

#include <span>

#include "core/env/features.h"

namespace rlgo::env {

// Appends to an observation of `graph` the graph that each of its places would make, and behind each a node that reads
// all of it, of the last operator of the spec: the location's only node from now on. One observation then holds all
// graphs, without edges between them. `features` are those of `graph`.
void add_candidates(const rules::RuleSet& rules, const graph::Graph& graph, std::span<const search::Place> places,
                    const FeatureBuilder& features, const Progress& progress, mdp::Observation& observation);

}  // namespace rlgo::env
