// The style sheet and the script of every report.
#pragma once

#include <string_view>

namespace rlgo::report {

std::string_view page_style();  // CSS of all pages
// Zooming and panning of pictures (wheel, drag, buttons), all or only what changed, details of a clicked operator.
std::string_view page_script();

}  // namespace rlgo::report
