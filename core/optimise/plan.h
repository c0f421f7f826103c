// Who gets how much of the time of `rlgo optimise`: deadlines for what can be cut short, from what the rest will take.
#pragma once

#include <cstddef>
#include <string>

namespace rlgo::optimise {

// What running whole models takes, as the latest comparison showed it on a machine that may be busy with other things.
class Pace {
 public:
  // A comparison of `models` models (the first one's twin among them) in `rounds` rounds took `seconds`, loading
  // included.
  void note(size_t models, int rounds, double seconds);
  // The same for another comparison; 0 before the first one.
  double compare_s(size_t models, int rounds) const;
  // The most models that fit into `seconds`, and the most rounds, at least `least`.
  size_t models(double seconds, int rounds) const;
  int rounds(double seconds, size_t models, int least, int most) const;

 private:
  double run_s_ = 0;
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
// first, then the comparisons, but each keeps a share: the command then takes longer than it was told, as the checks
// and the fewest rounds of the final comparison are made in any case.
TimePlan make_plan(double seconds, double passed_s, double last_s, double compare_s);

// What to say before the work where `passed_s`, and `last_s` for checks and the final comparison, do not fit into
// `seconds`; "" where they do. `made_up`: sizes of open dimensions that nobody gave, as options; they are the remedy.
std::string overrun_text(double seconds, double passed_s, double last_s, const std::string& made_up = "");

}  // namespace rlgo::optimise
