#include "core/rules/minimise.h"

#include <algorithm>

namespace rlgo::rules {

std::vector<size_t> minimise(std::vector<size_t> steps, size_t chunk, const Attempt& attempt,
                             const std::function<bool()>& may_continue) {
  for (bool shorter = true; may_continue() && (chunk > 1 || shorter);) {
    shorter = false;
    for (size_t to = steps.size(); to > 0 && may_continue();) {
      const size_t from = to - std::min(chunk, to);
      std::vector<size_t> rest = steps;
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(from), rest.begin() + static_cast<ptrdiff_t>(to));
      if (auto made = attempt(rest)) {
        steps = std::move(*made);
        shorter = true;
      }
      to = std::min(from, steps.size());
    }
    shorter |= chunk > 1;
    chunk = std::max<size_t>(1, chunk / 2);
  }
  return steps;
}

}  // namespace rlgo::rules
