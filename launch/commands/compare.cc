// rlgo compare: is the second model as fast as the first, and does it compute the same?
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/usage.h"
#include "core/optimise/compare.h"
#include "launch/commands/command.h"
#include "launch/output.h"
#include "launch/problem.h"
#include "launch/signals.h"
#include "launch/target.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo compare FIRST.onnx SECOND.onnx [options]\n"
    "Compares the outputs of two models on random inputs, and times both in turns in fresh processes of the target\n"
    "runtime until one is shown to be faster or time is over. Exit status: 0 the second is not shown to be slower, 3 "
    "it\n"
    "is, 1 outputs differ or it failed, 2 wrong command line.\n";
constexpr int kSlowerStatus = 3, kOtherOutputsStatus = 1;

}  // namespace

int run_compare(Context& context) {
  Problem config;
  config.cost.target.runtime = "auto";
  optimise::CompareModelsOptions compare;
  OutputOptions output_options;
  Options options;
  options.heading("Compare");
  optimise::declare(options, compare);
  optimise::declare(options, config.cost.target);
  declare(options, output_options);
  options.rest();
  cost::declare(options, config.cost.timing);
  options.alias("threads", "cost.threads");
  optimise::declare_details(options, config.cost.target);
  const auto words = read_command_line(options, context.arguments, kUsage, 2);
  if (!words) return 0;
  if (words->size() != 2) fail_usage("compare takes two models: rlgo compare FIRST.onnx SECOND.onnx");
  compare.model.graph = words->front();
  compare.other = words->back();
  compare.model.python = measurer_python(config);
  check_target(config.cost.target);

  const Output output(output_options);
  install_signal_handlers();
  const auto runtime = start_runtime(config, Log(output.log(LogLevel::warning)), signalled);
  const auto found = optimise::compare_models(compare, *runtime, signalled);
  output.print(optimise::to_text(found));
  const int status = found.outputs.refuses() ? kOtherOutputsStatus : found.too_slow() ? kSlowerStatus : 0;
  if (output.wants_document()) output.document("compare", status, options, optimise::to_json(found));
  return status;
}

}  // namespace rlgo::launch
