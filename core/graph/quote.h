// Quoted strings of the text forms.
#pragma once

#include <string>
#include <string_view>

namespace rlgo::graph {

// In double quotes on one line, whatever the bytes: \" \\ \n \t, and \xHH for other control characters.
std::string quoted(std::string_view text);
// Two lower-case digits a byte.
std::string to_hex(std::string_view bytes);

}  // namespace rlgo::graph
