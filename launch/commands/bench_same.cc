#include <nlohmann/json.hpp>

#include "core/optimise/same.h"
#include "launch/commands/bench.h"
#include "launch/signals.h"
#include "launch/target.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo bench same [options]\n"
    "Measures two copies of each graph against each other, as rlgo optimise measures a model before and after, and "
    "prints a line\nof CSV for each time: a false positive is one that is called faster.\n";

}  // namespace

int run_bench_same(Context& context) {
  RunConfig config;
  config.cost.target.runtime = "auto";
  optimise::SameOptions same;
  OutputOptions output_options;
  Options options;
  optimise::declare(options, same);
  optimise::declare(options, config.cost.target);
  declare(options, output_options);
  options.rest();
  cost::declare(options, config.cost.timing);
  options.alias("threads", "cost.threads");
  optimise::declare_details(options, config.cost.target);
  if (!read_command_line(options, context.arguments, kUsage)) return 0;
  const Output output(output_options);
  install_signal_handlers();
  const auto stop = signalled;
  const auto runtime = start_runtime(config, Log(output.log()), stop);
  output.say(optimise::kSameHeading);
  const auto runs = optimise::measure_same(same, *runtime, stop,
                                           [&](const optimise::SameRun& run) { output.say(csv_line(run, *runtime)); });
  output.document(
      "bench-same", 0, options,
      {{"target", {{"runtime", runtime->name()}, {"device", runtime->device()}, {"threads", runtime->threads()}}},
       {"measurements", optimise::to_json(runs)}});
  return 0;
}

}  // namespace rlgo::launch
