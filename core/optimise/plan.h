// Who gets how much of the time of `rlgo optimise`: deadlines for what can be cut short, from what the rest will take.
#pragma once

#include <cstddef>

namespace rlgo::launch {

// What running whole models takes, as the latest race showed it on a machine that may be busy with other things.
class Pace {
 public:
  // A race of `models` models (the first one's twin among them) in `rounds` rounds took `seconds`, loading included.
  void note(size_t models, int rounds, double seconds);
  // The same for another race; 0 before the first one.
  double race_s(size_t models, int rounds) const;
  // The most models that fit into `seconds`, and the most rounds, at least `least`.
  size_t models(double seconds, int rounds) const;
  int rounds(double seconds, size_t models, int least, int most) const;

 private:
  double run_s_ = 0;
};

// Ends, in s since the start of the command. What is being done then ends as soon as it can.
struct Plan {
  double pricing_s = 0;       // timing the model's own operators
  double sweep_s = 0;         // sweeps by costs of the target
  double method_s = 0;        // the method that was asked for
  double search_s = 0;        // all searching
  double more_pricing_s = 0;  // timing operators that the choice asks for
  double choose_s = 0;        // races between attempts
};

// `seconds`: of the whole command, `passed_s` of them are over. `last_s`: what checks and the final comparison will
// take. `race_s`: the shortest race of two attempts. Where there is too little for all, searching is cut first (but by
// formula it always has its two seconds), then the races; the checks and the fewest rounds of the final comparison are
// made in any case.
Plan make_plan(double seconds, double passed_s, double last_s, double race_s);

}  // namespace rlgo::launch
