// Prices of this machine's runtime, learned in a minute: what trees of other devices leave unexplained (docs/costs.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/cost/runtime.h"
#include "core/report/json.h"

namespace rlgo::calibrate {

struct CalibrateOptions {
  std::vector<std::string> graphs;  // zoo graphs or .onnx files; none: the whole zoo
  double seconds = 60;              // of timing groups, of all graphs together
  std::string groups;               // a file of groups that are timed already (group_times.h); "": time them
  std::string out;                  // file for the trees; "": the one in `folder` that rlgo uses
  std::string folder;               // of costs kept from call to call
  uint64_t seed = 0;                // of the rewrites, and of what the fit draws
};
// Options graphs, seconds, groups, out, cost.folder, seed.
void declare(OptionSink& sink, CalibrateOptions& options);

// Times groups of operators of rewritten graphs and fits small trees to what the shipped trees leave unexplained: those
// of the runtime, or where it has none ONNX Runtime's, or the formula alone where that comes out nearer. Prices are
// judged on graphs that nothing was fitted to (folds by graph). Writes one file, both kinds of trees in it, where they
// are nearer to the times than what rlgo uses without it; else nothing. Members of "rlgo.calibrate/1". Throws Error
// where the file cannot be written (before anything is timed), and where too few groups were timed soundly.
report::Json calibrate(const CalibrateOptions& options, cost::Runtime& runtime,
                       const std::function<bool()>& should_stop, const std::function<void(const std::string&)>& print);

}  // namespace rlgo::calibrate
