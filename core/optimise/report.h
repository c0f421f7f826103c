// The report of `rlgo optimise`.
#pragma once

#include <string>

#include "core/optimise/result.h"

namespace rlgo::optimise {

std::string to_html(const Result& result);  // the page of --report

}  // namespace rlgo::optimise
