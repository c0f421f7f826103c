#include "core/optimise/clock.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"

namespace rlgo::optimise {
namespace {

constexpr int kBarWidth = 20;
constexpr const char* kPricing = "timing operators";

}  // namespace

OptimiseClock::OptimiseClock(StatusLine& line, double seconds, const std::function<bool()>& interrupted,
                             std::function<double()> now)
    : line_(line), seconds_(seconds), interrupted_(interrupted), now_(std::move(now)) {
  if (!now_) now_ = [watch = Stopwatch()] { return watch.seconds(); };
  begin_s_ = booked_s_ = now_();
}

void OptimiseClock::book() {
  const double now_s = now_();
  const std::string& kind = timed_ < to_time_ ? kPricing : kind_;
  const auto at = std::ranges::find(phases_, kind, &PhaseTime::name);
  if (at != phases_.end())
    at->seconds += now_s - booked_s_;
  else
    phases_.push_back({kind, now_s - booked_s_});
  booked_s_ = now_s;
}

void OptimiseClock::phase(std::string kind, std::string text) {
  book();
  timed_ = to_time_ = 0;
  kind_ = std::move(kind);
  text_ = std::move(text);
  show(true);
}

std::vector<PhaseTime> OptimiseClock::phases() const {
  OptimiseClock copy = *this;
  copy.book();
  return copy.phases_;
}

void OptimiseClock::end_by(double at_s, double answer_s) {
  end_s_ = at_s;
  answer_s_ = answer_s;
}

double OptimiseClock::left_to_end() const {
  const double now_s = passed();
  if (!interrupted_s_ && interrupted()) interrupted_s_ = now_s;
  return std::min(end_s_, interrupted_s_ ? *interrupted_s_ + answer_s_ : end_s_) - now_s;
}

void OptimiseClock::costs(double initial_us, double best_us) {
  initial_us_ = initial_us;
  best_us_ = best_us;
}

void OptimiseClock::timing(size_t done, size_t of) {
  book();
  timed_ = done;
  to_time_ = of;
  show(true);
}

std::string OptimiseClock::text() const {
  const double fraction = seconds_ > 0 ? std::clamp(passed() / seconds_, 0.0, 1.0) : 1.0;
  const int full = static_cast<int>(fraction * kBarWidth);
  std::string out = fmt::format("[{}{}]  {}", std::string(full, '#'), std::string(kBarWidth - full, '.'), text_);
  if (timed_ < to_time_) out += fmt::format("  timing {} of {} groups of operators", timed_ + 1, to_time_);
  if (graphs_ > 0) out += fmt::format("  {} graphs", graphs_);
  if (initial_us_ > 0)
    out +=
        fmt::format("  cost {:.3f} ms ({:+.1f} %)", best_us_ / 1000.0, 100.0 * (best_us_ - initial_us_) / initial_us_);
  if (left() > 0) out += fmt::format("  {} left", human_seconds(std::max(1.0, left())));
  return out;
}

}  // namespace rlgo::optimise
