// Shorter scripts: which rewrites can be left out.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace rlgo::rules {

// Of these steps, in order, those that could be made and with which what is wanted holds; nothing where it does not.
using Attempt = std::function<std::optional<std::vector<size_t>>(const std::vector<size_t>& steps)>;

// Steps none of which can be left out (delta debugging: Zeller and Hildebrandt 2002), given that all hold: leaves out
// `chunk` neighbours at a time, the last ones first, then half as many, at last one by one until all are needed.
// `may_continue` is asked before each attempt; where it returns false, some that could be left out may remain.
std::vector<size_t> minimise(std::vector<size_t> steps, size_t chunk, const Attempt& attempt,
                             const std::function<bool()>& may_continue);

}  // namespace rlgo::rules
