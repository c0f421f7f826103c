// Who gets how much of the time of `rlgo optimise`: deadlines for what can be cut short, from what the rest will take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace rlgo::optimise {

// What running whole models takes, as the latest comparison showed it on a machine that may be busy with other things.
class TimingEstimate {
 public:
  // A comparison of `models` models (the first one's twin among them) in `rounds` rounds took `seconds`, loading
  // included. `timed_s`: a run as the runtime timed it (its own processor time where it has one thread), by which it
  // calls a model slow; 0: not known.
  void note(size_t models, int rounds, double seconds, double timed_s = 0);
  // The same for another comparison; 0 before the first one.
  double compare_s(size_t models, int rounds) const;
  double run_s() const { return run_s_; }  // of one model, about; 0 before the first comparison
  // The same without loading, as the runtime timed it, where it did: what a user of the model waits for.
  double timed_s() const { return timed_s_ > 0 ? std::min(timed_s_, run_s_) : run_s_; }
  // The most models that fit into `seconds`, and the most rounds, at least `least`.
  size_t models(double seconds, int rounds) const;
  int rounds(double seconds, size_t models, int least, int most) const;

 private:
  double run_s_ = 0, timed_s_ = 0;
  int load_runs_ = 0;  // that loading and warming up take about
};

// Ends, in s since the start of the command. What is being done then ends as soon as it can.
struct TimePlan {
  double timing_s = 0;       // timing the model's own operators
  double sweep_s = 0;        // the first sweep by costs of the target
  double sweeps_s = 0;       // both sweeps by costs of the target
  double search_s = 0;       // all searching: then the method that was asked for ends
  double more_timing_s = 0;  // timing operators that the choice asks for
  double choose_s = 0;       // comparisons between candidates
  double late_s = 0;         // searching that was cut, for checks, and found nothing: there is nothing to check then
};

// `seconds`: of the whole command, `passed_s` of them are over. `last_s`: what checks and the final comparison will
// take. `compare_s`: the shortest comparison of two candidates. Where there is too little for all, searching is cut
// first, then the comparisons, but each keeps a share: the command then takes longer than it was given, as the checks
// and the fewest rounds of the final comparison are made in any case.
TimePlan make_plan(double seconds, double passed_s, double last_s, double compare_s);

// When what runs is cut short, whatever it is, in s since the start of the command. So the command takes at most 1.5
// times the seconds that were asked for, 25 runs of the model, and the time to read and to write it.
struct Bound {
  double end_s = 0;  // the final measurement and what follows; a little is kept for what cannot be cut short
  // Searches and comparisons, that are to end at `choose_s`: what they took too long for is the checks'.
  double choose_s(double choose_s) const;
  // Checks that begin at `passed_s`; `least_s`: what the final measurement takes in the fewest processes.
  double checks_s(double passed_s, double least_s) const;
};
// `run_s`: of the model. `files_s`: to read it.
Bound make_bound(double seconds, double run_s, double files_s);

// How soon after a signal work is cut short, in s: so that the command ends within two. What was found by then is
// checked, measured and written in that time where it can be.
constexpr double kSearchAnswer_s = 0.3, kChecksAnswer_s = 0.9, kLastAnswer_s = 1.4;

// What to report before the work where `passed_s`, and `last_s` for checks and the final comparison, do not fit into
// `seconds`; "" where they do. `synthetic`: sizes of open dimensions that nobody gave, as options; they are the remedy.
// `end_s`: when the command ends at the latest.
std::string overrun_text(double seconds, double passed_s, double last_s, double end_s,
                         const std::string& synthetic = "");

}  // namespace rlgo::optimise
