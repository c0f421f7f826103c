// The commands that need training. Exit status.
#pragma once

#include "launch/commands/command.h"

namespace rlgo::launch {

int run_train(Context& context);  // rlgo train
int run_evaluate(Context& context);
int run_replay(Context& context);
int run_training_bench(Context& context);  // rlgo bench without a word behind it
int run_bench_scale(Context& context);

}  // namespace rlgo::launch
