// Values of operators on constants that rlgo does not know, computed by ONNX Runtime.
#pragma once

#include <functional>
#include <string>

#include "core/onnx/onnx.h"

namespace rlgo::optimise {

// Runs models without inputs in ONNX Runtime, without its graph optimisation, in a process of `python` that starts with
// the first one and ends with the last copy of the result. Answers nothing where it is not installed, where a model
// does not run, where two runs differ in a bit, and where a whole number is beyond 2^53. `should_stop`: true ends it.
onnx_io::Evaluate constant_evaluator(std::string python, std::function<bool()> should_stop = {});

}  // namespace rlgo::optimise
