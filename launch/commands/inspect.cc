// rlgo inspect PATH: what a run folder, a rollout store or a model holds.
#include <filesystem>

#include "core/base/error.h"
#include "core/base/usage.h"
#include "core/optimise/target.h"
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

report::Description describe(const std::filesystem::path& path, bool changes, Problem& config) {
  const bool timed = !config.cost.target.runtime.empty();
  const bool is_file = std::filesystem::exists(path);
  if (is_file && (std::filesystem::is_directory(path) || path.extension() != ".onnx"))
    return training_for("rlgo inspect " + path.string()).describe(path);
  if (timed && !is_file) fail_usage("--target times the operators of an .onnx file; '{}' is none", path.string());
  config.model.graph = path.string();
  config.model.python = measurer_python(config);
  const auto model = load_model(config.model, false);
  if (!timed) return report::describe_model(path.string(), model.about, model.graph, model.changes, changes);
  const auto runtime = start_runtime(config, {}, signalled);
  runtime->set_input_shapes(optimise::run_shapes(model));
  const auto times = runtime->operator_times({&model.graph, path});
  if (times.empty())
    fail("{} gives no times of the operators of {}: it does not run it, or has no profile (--target onnxruntime has)",
         runtime->name(), path.string());
  return report::describe_model(path.string(), model.about, model.graph, model.changes, changes, runtime->name(),
                                times);
}

}  // namespace

int run_inspect(Context& context) {
  bool report = false, compact = false, changes = false;
  Problem config;
  config.cost.target.runtime = "";
  Options options;
  options.heading("Inspect");
  options.flag("changes", changes, "also each operator of an .onnx file that the import folds, merges or removes");
  if (training() != nullptr) {
    options.flag("report", report, "write the run's report.html again");
    options.flag("compact", compact, "merge the parts of a folder of rollouts into fewer files first");
  }
  optimise::declare(options, config.cost.target);
  optimise::declare_details(options, config.cost.target);
  OutputOptions output_options;
  declare(options, output_options);
  const auto words = read_command_line(options, context.arguments, kUsage, 1);
  if (!words) return 0;
  const Output output(output_options);
  if (words->empty()) fail_usage("inspect needs a path (rlgo inspect --help)");
  const std::filesystem::path path = words->front();
  if (compact) output.print(training()->compact(path));
  if (report) {
    output.print(training()->write_report(path) + "\n");
    if (!output.wants_document()) return 0;
  }
  if (!config.cost.target.runtime.empty()) check_target(config.cost.target);
  const EndAtInterrupt interrupt;
  const auto found = describe(path, changes, config);
  output.print(found.text);
  output.document("inspect", 0, options, found.json);
  return 0;
}

}  // namespace rlgo::launch
