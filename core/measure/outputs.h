// Outputs of models under the runtime that will serve them: read, and compared.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/measurer.h"

namespace rlgo::measure {

// Reads an answer to a request for outputs (docs/measurer-protocol.md) and the files that it names. Throws Error where
// it is none.
std::vector<Outputs> read_outputs(std::string_view answer, size_t models);

// `assumed` of a model's result in an answer to `compare`; empty where there is none. Throws Error where it is
// nonsense.
InputValues read_assumed(std::string_view result);

// How far the outputs of one model are from those of another.
struct OutputCheck {
  bool done = false;           // false: one of them has no outputs, `detail` states why
  bool second_failed = false;  // not done, and the first one has outputs
  bool alike =
      false;  // the same names, dtypes, shapes, and places of NaN and infinity; else `detail` states what differs
  // By output: max |a - b| / max |a| over the finite elements (max |a - b| where a is all zero).
  std::map<std::string, double> errors;
  double max_rel_error = 0;  // the largest
  std::string detail;        // else the output where max_rel_error is, "" for none
};
// `floors` (rounding_floors()): so much is taken from differences of the outputs named.
OutputCheck compare(const Outputs& a, const Outputs& b, const std::map<std::string, double>& floors = {});
// Both models run on `sets` sets of inputs; the worst of all. The floors are those of `a`, where it has a graph.
OutputCheck compare_outputs(cost::Runtime& runtime, const cost::RunnableModel& a, const cost::RunnableModel& b,
                            int sets);
// How far the runtime's own graph optimisation moves the outputs of one model, the worst of `sets` sets of inputs: an
// error of rounding that a user of the runtime lives with, by output. Empty where that is not known.
std::map<std::string, double> own_rounding(cost::Runtime& runtime, const cost::RunnableModel& model, int sets);

}  // namespace rlgo::measure
