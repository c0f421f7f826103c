#include "launch/commands/bench.h"

#include <cstdio>

#include "core/base/error.h"
#include "core/base/temporary_folder.h"
#include "core/optimise/benchmark.h"
#include "launch/model.h"
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
  std::vector<std::string> graphs = {"toy_conv", "toy_mlp", "toy_attention", "squeezenet1_1"};
  int64_t runs = 50, rounds = 64;
  double seconds = 2;
  Options options;
  options.heading("Bench same");
  options.texts("graphs", graphs, "zoo graphs or .onnx files, separated by commas; they take turns");
  options.integer("runs", runs, 1, 1'000'000, "measurements in all");
  options.integer("rounds", rounds, optimise::Benchmark::kLeastRounds, 10000, "paired runs of a measurement, at most");
  options.number("seconds", seconds, 0, 3600, "after which a measurement ends, s");
  optimise::declare(options, config.cost.target);
  options.rest();
  cost::declare(options, config.cost.timing);
  options.alias("threads", "cost.threads");
  optimise::declare_details(options, config.cost.target);
  if (!read_command_line(options, context.arguments, kUsage)) return 0;
  install_signal_handlers();
  const auto runtime = start_runtime(config, Log(LogOptions()), [] { return stop_signal() != 0; });
  const TemporaryFolder folder("rlgo-bench");
  std::printf("graph,runtime,threads,run,ratio,lower,upper,loads,rounds,called\n");
  for (int64_t run = 0; run < runs && stop_signal() == 0; ++run) {
    config.model.graph = graphs[static_cast<size_t>(run) % graphs.size()];
    const LoadedModel model = load_model(config.model, true);
    const std::filesystem::path files[] = {folder.path() / "one.onnx", folder.path() / "two.onnx"};
    for (const auto& file : files) export_model(model, model.graph, file);
    runtime->set_input_shapes(optimise::input_shapes(model.graph));
    optimise::Benchmark benchmark(*runtime, {&model.graph, files[0]}, static_cast<uint64_t>(run) << 20);
    const auto found = benchmark.measure({&model.graph, files[1]}, static_cast<int>(rounds), seconds);
    if (!found.ok()) fail("{}: {}", config.model.graph, found.error);
    std::printf("%s,%s,%d,%lld,%.5f,%.5f,%.5f,%d,%d,%s\n", config.model.graph.c_str(), runtime->name().c_str(),
                runtime->threads(), static_cast<long long>(run), found.ratio, found.lower, found.upper, found.loads,
                found.rounds,
                found.faster   ? "faster"
                : found.slower ? "slower"
                               : "-");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace rlgo::launch
