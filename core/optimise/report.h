// The report of `rlgo optimise`.
#pragma once

#include <functional>
#include <string>

#include "core/optimise/result.h"

namespace rlgo::optimise {

// The page of --report. `stop`: true where the user wants an end; what takes long is then left out.
std::string to_html(const Result& result, const std::function<bool()>& stop = {});

// "  no prices were learned under openvino: `rlgo calibrate --target openvino` learns them in about a minute\n", of a
// result under one of the shipped measurers; "" where prices of this runtime and of the processor's maker are known.
std::string offer_to_calibrate(const Result& result);

}  // namespace rlgo::optimise
