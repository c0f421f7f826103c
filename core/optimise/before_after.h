// Original and result side by side, and where the time of a model is spent: for the summary of rlgo optimise.
#pragma once

#include <string>

#include "core/optimise/result.h"

namespace rlgo::optimise {

// A table of what changed, one line each: latency, load time, peak memory, file, operators, then the operators whose
// number changed, the most first. "" where the model was not changed.
std::string before_after_table(const Result& result);

// "conv2d 78 % (53), matmul 12 % (1), ...": the five kinds of operators of the original that take the most, by prices
// of single operators. "" where there are no prices.
std::string time_by_operators(const Result& result);

}  // namespace rlgo::optimise
