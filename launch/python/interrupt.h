// Ctrl-C and failing callbacks while the engine works without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace rlgo::python {

// What the engine asks whether to stop, and what callbacks report to. Made with Python's lock held; called without it,
// by any thread.
class Interrupt {
 public:
  // Lets Python handle signals now and then (in its main thread, as Python wants); true from the first exception on.
  bool stop() {
    const std::lock_guard lock(mutex_);
    if (failure_) return true;
    if (looked_ && since_.seconds() < kLook_s) return false;
    looked_ = true;
    since_.restart();
    const nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) failure_ = std::make_exception_ptr(nanobind::python_error());
    return failure_ != nullptr;
  }
  // Calls back into Python; an exception ends the work.
  template <typename F>
  void call(F&& f) {
    const nanobind::gil_scoped_acquire gil;
    try {
      f();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  // Does the work of one call of many; what stopped it comes before what came of stopping. Without Python's lock.
  template <typename F>
  auto watch(F&& work) {
    const auto take_failure = [this] {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    };
    try {
      auto done = work();
      take_failure();  // work that was cut short may end with an estimate
      return done;
    } catch (const Error&) {
      take_failure();
      throw;
    }
  }
  // Throws what stopped the work. With Python's lock held.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr double kLook_s = 0.05;
  std::mutex mutex_;
  Stopwatch since_;
  bool looked_ = false;
  std::exception_ptr failure_;
};

}  // namespace rlgo::python
