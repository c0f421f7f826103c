// The readers that are fuzzed, by what they read.
#pragma once

#include <vector>

#include "tests/fuzz/engine.h"

namespace rlgo::fuzz {

std::vector<Target> text_targets();  // rules, rule expressions, TASO's files, graphs, traces, tables, configurations
std::vector<Target> byte_targets();  // trajectories, observations, messages
std::vector<Target> h5_targets();    // rollout parts, checkpoints
std::vector<Target> onnx_targets();  // models in and out
std::vector<Target> measurer_targets();  // answers of a measurer's child process

}  // namespace rlgo::fuzz
