// rlgo inspect PATH: what a run folder, a rollout store or a model holds.
#include <filesystem>

#include "core/base/error.h"
#include "core/base/usage.h"
#include "launch/commands/command.h"
#include "launch/output.h"
#include "launch/signals.h"
#include "launch/target.h"
#include "launch/train/run_report.h"
#include "learner/session/inspect.h"
#include "replay/compact.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo inspect PATH [options]    a run folder, a folder of rollouts, a part, an .onnx file, a zoo graph\n";

}  // namespace

int run_inspect(Context& context) {
  bool report = false, compact = false, changes = false;
  Options options;
  options.heading("Inspect");
  options.flag("changes", changes, "also each operator of an .onnx file that the import folds, merges or removes");
  options.flag("report", report, "write the run's report.html again");
  options.flag("compact", compact, "merge the parts of a folder of rollouts into fewer files first");
  OutputOptions output_options;
  declare(options, output_options);
  const auto words = read_command_line(options, context.arguments, kUsage, 1);
  if (!words) return 0;
  const Output output(output_options);
  if (words->empty()) fail_usage("inspect needs a path (rlgo inspect --help)");
  const std::filesystem::path path = words->front();
  if (compact) {
    const auto done = replay::compact(path);
    output.say(fmt::format("merged {} parts into {}\n", done.parts_before, done.parts_after));
  }
  if (report) {
    write_run_report({path});
    output.say(learner::RunFolder{path}.report().string() + "\n");
    if (!output.wants_document()) return 0;
  }
  const EndAtInterrupt interrupt;
  const auto found = learner::describe(path, changes, measurer_python({}));
  output.say(found.text);
  output.document("inspect", 0, options, found.json);
  return 0;
}

}  // namespace rlgo::launch
