// Errors in the request, distinguished from bad input and failed work: the command line ends in another exit
// status, a binding raises another exception.
#pragma once

#include <string>
#include <utility>

#include "core/base/error.h"

namespace rlgo {

// The request is wrong whatever the files hold: an unknown command, option, name or value, a missing argument, options
// that exclude one another.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Throws UsageError with a formatted message.
template <typename... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

// Calls `f`; whatever it finds wrong is an error of the request.
template <typename F>
auto as_usage(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
}

}  // namespace rlgo
