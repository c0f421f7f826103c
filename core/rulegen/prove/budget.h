// How much one rule's proof may cost, in steps and not in time: the answer does not depend on the machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "core/base/error.h"
#include "core/rulegen/prove/extent.h"

namespace rlgo::rulegen::sym {

// A step is a term that the left side of an axiom is held against; making terms and joining them count as several.
class Budget {
 public:
  // `stop` (may be empty) is asked now and then; it must outlive this.
  Budget(int64_t steps, const std::function<bool()>& stop) : steps_(steps), stop_(stop) {}
  // Throws Untranslatable where that is too much, or where it is asked to stop; stopped() shows which.
  void spend(int64_t steps) {
    spent_ += steps;
    if (spent_ >= next_look_) look();
  }
  int64_t spent() const { return spent_; }
  bool stopped() const { return stopped_; }

 private:
  void look() {
    if (spent_ > steps_) throw Untranslatable(fmt::format("gave up after {} steps of search", steps_));
    stopped_ = stop_ && stop_();
    if (stopped_) throw Untranslatable("stopped");
    constexpr int64_t kSteps = 1000;  // between looks
    next_look_ = std::min(steps_ + 1, spent_ + kSteps);
  }

  int64_t steps_, spent_ = 0, next_look_ = 0;
  const std::function<bool()>& stop_;
  bool stopped_ = false;
};

}  // namespace rlgo::rulegen::sym
