// The parts of rlgo bench behind a word of their own; arguments after it. Exit status.
#pragma once

#include <string>
#include <vector>

#include "launch/commands/command.h"
#include "launch/config.h"
#include "launch/output.h"

namespace rlgo::launch {

// rlgo bench scale: how a run grows with its actors.
int run_bench_scale(Context& context);
// rlgo bench same: how often two copies of one model are called different.
int run_bench_same(Context& context);
// rlgo bench groups: groups of operators timed on this machine, to learn prices from.
int run_bench_groups(Context& context);
// rlgo bench profile: a cost profile fitted to operators timed on this machine.
int run_bench_profile(Context& context);
// With --target: how well the prices of an external runtime tell its times of whole models, for each graph and
// `variants` graphs that random rewriting makes of it. Says a line each; members of "graphs" of "rlgo.bench/1".
Json bench_target(const Output& output, const RunConfig& config, const std::vector<std::string>& graphs, int variants);

}  // namespace rlgo::launch
