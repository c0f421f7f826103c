// The report of `rlgo optimise`.
#pragma once

#include <string>

#include "core/optimise/result.h"

namespace rlgo::launch::report {

std::string story_html(const Story& story);

}  // namespace rlgo::launch::report
