#include "core/calibrate/same.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/temporary_folder.h"
#include "core/optimise/json.h"
#include "core/optimise/model.h"

namespace rlgo::calibrate {

using report::Json;

void declare(OptionSink& o, SameOptions& same) {
  o.heading("Bench same");
  o.texts("graphs", same.graphs, "zoo graphs or .onnx files, separated by commas; they take turns");
  o.integer("runs", same.runs, 1, 1'000'000, "measurements in all");
  o.integer("rounds", same.rounds, optimise::Benchmark::kLeastRounds, 10000, "paired runs of a measurement, at most");
  o.number("seconds", same.seconds, 0, 3600, "after which a measurement ends, s");
}

namespace {

std::string csv_line(const std::string& graph, int64_t run, const optimise::Latency& found,
                     const cost::Runtime& runtime) {
  return fmt::format("{},{},{},{},{:.5f},{:.5f},{:.5f},{},{},{},{}\n", graph, runtime.name(), runtime.threads(), run,
                     found.ratio, found.lower, found.upper, found.processes, found.loads, found.rounds,
                     found.faster   ? "faster"
                     : found.slower ? "slower"
                                    : "-");
}

}  // namespace

report::Json bench_same(const SameOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
                        const std::function<void(const std::string&)>& print) {
  print("graph,runtime,threads,run,ratio,lower,upper,processes,loads,rounds,called\n");
  const TemporaryFolder folder("rlgo-bench");
  const std::filesystem::path files[] = {folder.path() / "one.onnx", folder.path() / "two.onnx"};
  Json all = Json::array();
  for (int64_t run = 0; run < options.runs && !should_stop(); ++run) {
    optimise::ModelOptions wanted;
    wanted.graph = options.graphs[static_cast<size_t>(run) % options.graphs.size()];
    const optimise::LoadedModel model = optimise::load_model(wanted, true);
    for (const auto& file : files) optimise::export_model(model, model.graph, file);
    runtime.set_input_shapes(optimise::input_shapes(model.graph));
    optimise::Benchmark benchmark(runtime, {&model.graph, files[0]}, static_cast<uint64_t>(run) << 20);
    const optimise::Latency found =
        benchmark.measure({&model.graph, files[1]}, static_cast<int>(options.rounds), options.seconds);
    if (!found.ok()) fail("{}: {}", wanted.graph, found.error);
    print(csv_line(wanted.graph, run, found, runtime));
    all.push_back({{"graph", wanted.graph}, {"run", run}, {"latency", optimise::to_json(found)}});
  }
  return {{"measurements", std::move(all)}};
}

}  // namespace rlgo::calibrate
