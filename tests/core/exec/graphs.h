// Small graphs for the tests of exec.
#pragma once

#include "tests/core/exec/calls.h"
#include "tests/core/verify/graphs.h"

namespace rlgo::exec {

using verify::f32_blob;
using verify::linear_graph;

}  // namespace rlgo::exec
