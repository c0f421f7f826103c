#include "core/base/error.h"

namespace rlgo::detail {

void check_failed(const char* file, int line, const char* expression, const std::string& values) {
  std::string_view path(file);
  // From the repository's root on; tests mirror the tree, so their folder comes first.
  for (std::string_view top : {"/tests/", "/core/", "/actors/", "/replay/", "/learner/", "/launch/"}) {
    if (const auto at = path.rfind(top); at != std::string_view::npos) {
      path = path.substr(at + 1);
      break;
    }
  }
  throw Error(fmt::format("internal check failed at {}:{}: {}{}{} (this is a bug of rlgo; please report it)", path,
                          line, expression, values.empty() ? "" : ": ", values));
}

}  // namespace rlgo::detail
