// Errors and checks. One exception type for the whole program; only `main` (and the actor loop, per episode) catches
// it.
#pragma once

#include <spdlog/fmt/fmt.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rlgo {

// What went wrong, where, and how to mend it, as one line (or a few) for people.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  // The same error with a place in front: "model.onnx: node 'x': ...".
  Error in(std::string_view place) const { return Error(std::string(place) + ": " + what()); }
};

// Throws Error with a formatted message: `fail("{}: no such graph", name)`.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

namespace detail {  // throws Error with the expression and both values; for the macros below
[[noreturn]] void check_failed(const char* file, int line, const char* expression, const std::string& values);
}  // namespace detail
}  // namespace rlgo

// Internal invariants, in every build type. A failure is a bug of rlgo, not of the user's input (use fail() for that).
#define RLGO_CHECK(condition)                                                           \
  do {                                                                                  \
    if (!(condition)) ::rlgo::detail::check_failed(__FILE__, __LINE__, #condition, {}); \
  } while (false)
#define RLGO_CHECK_OP(a, op, b)                                                   \
  do {                                                                            \
    const auto& rlgo_a = (a);                                                     \
    const auto& rlgo_b = (b);                                                     \
    if (!(rlgo_a op rlgo_b))                                                      \
      ::rlgo::detail::check_failed(__FILE__, __LINE__, #a " " #op " " #b,         \
                                   fmt::format("{} against {}", rlgo_a, rlgo_b)); \
  } while (false)
#define RLGO_CHECK_EQ(a, b) RLGO_CHECK_OP(a, ==, b)
#define RLGO_CHECK_LT(a, b) RLGO_CHECK_OP(a, <, b)
#define RLGO_CHECK_LE(a, b) RLGO_CHECK_OP(a, <=, b)
