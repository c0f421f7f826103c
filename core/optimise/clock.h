// How the time of `rlgo optimise` is shared out, where it went, and what its progress bar states.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "core/base/status_line.h"

namespace rlgo::optimise {

// Times that elapsed in one kind of work, in s.
struct PhaseTime {
  std::string name;
  double seconds = 0;
};

class OptimiseClock {  // fractions of --seconds, the status line
 public:
  // `now`: seconds, from any beginning; none: the machine's clock.
  OptimiseClock(StatusLine& line, double seconds, const std::function<bool()>& interrupted,
                std::function<double()> now = {});
  double passed() const { return now_() - begin_s_; }
  // True when so many seconds have passed since the start, or the user wants an end.
  bool over(double at_s) const { return interrupted() || passed() >= at_s; }
  bool interrupted() const { return interrupted_(); }
  double left() const { return seconds_ - passed(); }

  // What is done from now on is cut short at `at_s`, in s since the start, and `answer_s` after the user was seen to
  // want an end, whichever comes first.
  void end_by(double at_s, double answer_s);
  // Seconds until then.
  double left_to_end() const;
  // The same, for what runs long; it follows later calls of end_by(), and refers to this clock.
  Deadline deadline() const {
    return Deadline([this] { return left_to_end(); });
  }

  // From now on time belongs to `kind`; `text` is shown.
  void phase(std::string kind, std::string text);
  // Time of all kinds so far, in the order in which they began.
  std::vector<PhaseTime> phases() const;
  void costs(double initial_us, double best_us);
  void graphs(int64_t count) { graphs_ = count; }
  // Groups of operators that are being timed, whatever the phase is; done == of: none any more.
  void timing(size_t done, size_t of);
  void show(bool force = false) { line_.show(text(), force); }
  void clear() { line_.clear(); }
  // "[########............]  search (taso)  12345 graphs  cost 8.1 ms (-28.1 %)  36 s left"
  std::string text() const;

 private:
  // Books what has passed since the last call under the kind that it belongs to.
  void book();

  StatusLine& line_;
  double seconds_;
  const std::function<bool()>& interrupted_;
  std::function<double()> now_;
  double begin_s_ = 0, booked_s_ = 0;
  double end_s_ = std::numeric_limits<double>::infinity(), answer_s_ = 0;
  mutable std::optional<double> interrupted_s_;  // when that was seen
  std::vector<PhaseTime> phases_;
  std::string kind_ = "start", text_ = "start";
  double initial_us_ = 0, best_us_ = 0;
  int64_t graphs_ = 0;
  size_t timed_ = 0, to_time_ = 0;
};

}  // namespace rlgo::optimise
