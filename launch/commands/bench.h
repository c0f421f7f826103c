// The parts of rlgo bench behind a word of their own; arguments after it. Exit status.
#pragma once

#include <string>
#include <vector>

#include "launch/commands/command.h"
#include "launch/output.h"
#include "launch/problem.h"

namespace rlgo::launch {

// rlgo bench growth, same, groups, kernels, profile, verify: the usage of rlgo bench states what each does.
int run_bench_growth(Context& context);
int run_bench_same(Context& context);
int run_bench_groups(Context& context);
int run_bench_kernels(Context& context);
int run_bench_profile(Context& context);
int run_bench_verify(Context& context);
// With --target: how well the prices of an external runtime predict its times of whole models, for each graph and
// `variants` graphs that random rewriting makes of it. Reports a line each; members of "graphs" of "rlgo.bench/1".
Json bench_target(const Output& output, const Problem& config, const std::vector<std::string>& graphs, int variants);

}  // namespace rlgo::launch
