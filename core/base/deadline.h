// When work has to end: asked again and again by what may take long.
#pragma once

#include <functional>
#include <limits>
#include <utility>

#include "core/base/error.h"

namespace rlgo {

// Work was cut short: its time is over, or the user wants an end. Apart from other Errors, as nothing is wrong with
// what was worked on.
class Stopped : public Error {
 public:
  using Error::Error;
};

class Deadline {  // by any clock; one that was made by default never comes
 public:
  Deadline() = default;
  // `left_s`: seconds until then; 0 or less: it has come.
  explicit Deadline(std::function<double()> left_s) : left_s_(std::move(left_s)) {}
  // One that has come once `should_stop` reports so.
  static Deadline when(std::function<bool()> should_stop) {
    return Deadline([stop = std::move(should_stop)] { return stop && stop() ? 0.0 : kNever; });
  }
  double left() const { return left_s_ ? left_s_() : kNever; }
  bool over() const { return left() <= 0; }
  // Throws Stopped where it has come.
  void check() const {
    if (left_s_ && over()) throw Stopped("stopped: there is no time left");
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  std::function<double()> left_s_;
};

}  // namespace rlgo
