// rlgo bench same: how often two copies of one model are called different.
#pragma once

#include "launch/commands/command.h"

namespace rlgo::launch {

int run_bench_same(Context& context);

}  // namespace rlgo::launch
