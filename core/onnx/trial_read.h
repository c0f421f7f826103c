// Third-party code on files of others, tried in a child process first.
#pragma once

#include <cstdint>
#include <functional>

#include "core/onnx/onnx.h"

namespace rlgo::onnx_io {

// Runs `work` in a child process with the limits' time and memory, which grow with the model's `bytes` and `nodes`.
// Throws Error where it throws, crashes, or asks for more. `work` may use all of ONNX.
void try_in_child(const std::function<void()>& work, uint64_t bytes, int64_t nodes, const ImportLimits& limits);

}  // namespace rlgo::onnx_io
