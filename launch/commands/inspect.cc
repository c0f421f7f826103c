// rlgo inspect PATH: what a run folder, a rollout store or a model holds.
#include <filesystem>

#include "core/base/error.h"
#include "core/base/usage.h"
#include "core/report/description.h"
#include "launch/commands/command.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/signals.h"
#include "launch/target.h"
#include "launch/training.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo inspect PATH [options]    a run folder, a folder of rollouts, a part, an .onnx file, a zoo graph\n";

report::Description describe(const std::filesystem::path& path, bool changes) {
  if (std::filesystem::is_directory(path) || (std::filesystem::exists(path) && path.extension() != ".onnx"))
    return training_for("rlgo inspect " + path.string()).describe(path);
  ModelOptions wanted;
  wanted.graph = path.string();
  wanted.python = measurer_python({});
  const auto model = load_model(wanted, false);
  return report::describe_model(wanted.graph, model.about, model.graph, model.changes, changes);
}

}  // namespace

int run_inspect(Context& context) {
  bool report = false, compact = false, changes = false;
  Options options;
  options.heading("Inspect");
  options.flag("changes", changes, "also each operator of an .onnx file that the import folds, merges or removes");
  if (training() != nullptr) {
    options.flag("report", report, "write the run's report.html again");
    options.flag("compact", compact, "merge the parts of a folder of rollouts into fewer files first");
  }
  OutputOptions output_options;
  declare(options, output_options);
  const auto words = read_command_line(options, context.arguments, kUsage, 1);
  if (!words) return 0;
  const Output output(output_options);
  if (words->empty()) fail_usage("inspect needs a path (rlgo inspect --help)");
  const std::filesystem::path path = words->front();
  if (compact) output.say(training()->compact(path));
  if (report) {
    output.say(training()->write_report(path) + "\n");
    if (!output.wants_document()) return 0;
  }
  const EndAtInterrupt interrupt;
  const auto found = describe(path, changes);
  output.say(found.text);
  output.document("inspect", 0, options, found.json);
  return 0;
}

}  // namespace rlgo::launch
