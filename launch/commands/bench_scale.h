// rlgo bench scale: how a run grows with its actors.
#pragma once

#include "launch/commands/command.h"

namespace rlgo::launch {

// The part of rlgo bench behind the word "scale"; arguments after it. Exit status.
int run_bench_scale(Context& context);

}  // namespace rlgo::launch
