// The report of `rlgo optimise`.
#pragma once

#include <functional>
#include <string>

#include "core/optimise/result.h"

namespace rlgo::optimise {

// The page of --report. `stop`: true where the user wants an end; what takes long is then left out.
std::string to_html(const Result& result, const std::function<bool()>& stop = {});

}  // namespace rlgo::optimise
