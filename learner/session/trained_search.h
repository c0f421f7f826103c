// A search that learns while it searches: an agent plays short episodes in windows of the graph, from where other
// searches got, and PPO makes likelier what paid. As `rlgo train --config configs/windows.cfg`, in one thread, without
// a run folder.
#pragma once

#include <vector>

#include "core/env/rewrite_env.h"
#include "core/nets/options.h"
#include "core/rules/trace.h"
#include "core/search/search.h"

namespace rlgo::learner {

// Goes on until options.stop() reports so, which must be given; of the options it takes seed, max_locations and
// progress, too. `ways`: rewrites from problem.graph to where episodes begin, each an island (core/env/starts.h); those
// that lead nowhere are left out, and without any the result is problem.graph. Its counters: `steps` and `candidates`
// are steps of episodes, `walks` episodes. Never above the cheapest graph on a way. Throws Error as environments do.
search::Result search_by_training(const search::Problem& problem, const search::Options& options,
                                  const std::vector<rules::Trace>& ways);

// What it plays and learns with: as configs/windows.cfg, but that every episode begins on a way.
env::EnvOptions window_env();
nets::AgentOptions window_agent();

}  // namespace rlgo::learner
