#include "core/optimise/same.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/temporary_folder.h"
#include "core/optimise/json.h"
#include "core/optimise/model.h"

namespace rlgo::optimise {

void declare(OptionSink& o, SameOptions& same) {
  o.heading("Bench same");
  o.texts("graphs", same.graphs, "zoo graphs or .onnx files, separated by commas; they take turns");
  o.integer("runs", same.runs, 1, 1'000'000, "measurements in all");
  o.integer("rounds", same.rounds, Benchmark::kLeastRounds, 10000, "paired runs of a measurement, at most");
  o.number("seconds", same.seconds, 0, 3600, "after which a measurement ends, s");
}

std::vector<SameRun> measure_same(const SameOptions& options, cost::Runtime& runtime,
                                  const std::function<bool()>& should_stop,
                                  const std::function<void(const SameRun&)>& tell) {
  const TemporaryFolder folder("rlgo-bench");
  const std::filesystem::path files[] = {folder.path() / "one.onnx", folder.path() / "two.onnx"};
  std::vector<SameRun> all;
  for (int64_t run = 0; run < options.runs && !should_stop(); ++run) {
    ModelOptions wanted;
    wanted.graph = options.graphs[static_cast<size_t>(run) % options.graphs.size()];
    const LoadedModel model = load_model(wanted, true);
    for (const auto& file : files) export_model(model, model.graph, file);
    runtime.set_input_shapes(input_shapes(model.graph));
    Benchmark benchmark(runtime, {&model.graph, files[0]}, static_cast<uint64_t>(run) << 20);
    all.push_back({wanted.graph, run,
                   benchmark.measure({&model.graph, files[1]}, static_cast<int>(options.rounds), options.seconds)});
    if (!all.back().found.ok()) fail("{}: {}", wanted.graph, all.back().found.error);
    tell(all.back());
  }
  return all;
}

const char* const kSameHeading = "graph,runtime,threads,run,ratio,lower,upper,loads,rounds,called\n";

std::string csv_line(const SameRun& run, const cost::Runtime& runtime) {
  const Latency& found = run.found;
  return fmt::format("{},{},{},{},{:.5f},{:.5f},{:.5f},{},{},{}\n", run.graph, runtime.name(), runtime.threads(),
                     run.run, found.ratio, found.lower, found.upper, found.loads, found.rounds,
                     found.faster   ? "faster"
                     : found.slower ? "slower"
                                    : "-");
}

report::Json to_json(const std::vector<SameRun>& runs) {
  Json out = Json::array();
  for (const SameRun& run : runs)
    out.push_back({{"graph", run.graph}, {"run", run.run}, {"latency", to_json(run.found)}});
  return out;
}

}  // namespace rlgo::optimise
