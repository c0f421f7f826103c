// rlgo rules bench (rlgo bench rules): how fast rules are made, proved, matched and tested on this machine.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/status_line.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rulegen/generate/bench.h"
#include "launch/commands/rules.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/signals.h"

namespace rlgo::launch {

int run_rules_bench(const std::vector<std::string>& arguments) {
  rulegen::BenchOptions bench;
  std::vector<std::string> graphs{"squeezenet1_1", "resnet50", "bert"};
  std::vector<std::string> parts{"generate", "prove", "match", "soundness"};
  OutputOptions output_options;
  Options options;
  options.heading("Bench");
  options.texts("parts", parts, "what to time: generate, prove, match, soundness");
  declare(options, bench);
  options.texts("graphs", graphs, "zoo graphs or .onnx files to match the default rules on");
  declare(options, output_options);
  const auto rest = parse_rules_arguments("bench", options, arguments);
  if (!rest) return 0;
  if (!rest->empty()) fail_usage("rules bench: unexpected '{}'", rest->front());
  for (const auto& part : parts) {
    if (part != "generate" && part != "prove" && part != "match" && part != "soundness")
      fail_usage("rules bench: unknown part '{}'; known: generate, prove, match, soundness", part);
  }
  const auto asked = [&](const char* part) { return !signalled() && std::ranges::find(parts, part) != parts.end(); };
  const Output output(output_options);
  StatusLine line = output.status_line();
  bench.stop = signalled;
  bench.show = [&](const std::string& text) { text.empty() ? line.clear() : line.show(text); };
  bench.print = [&](const std::string& text) { output.print(text + "\n"); };
  Json body = {{"generate", nullptr}, {"prove", nullptr}, {"match", nullptr}, {"soundness", nullptr}};
  if (asked("generate")) body["generate"] = report::rows_json(rulegen::bench_generate(bench));
  if (asked("prove")) body["prove"] = report::rows_json(rulegen::bench_prove(bench));
  if (asked("match")) {
    std::vector<std::pair<std::string, graph::Graph>> models;
    for (const auto& name : graphs) {
      ModelOptions wanted;
      wanted.graph = name;
      models.emplace_back(name, load_model(wanted, false).graph);
    }
    body["match"] = report::rows_json(rulegen::bench_match(models, bench));
  }
  if (asked("soundness")) body["soundness"] = report::rows_json(rulegen::bench_soundness(bench));
  const int status = !signalled() ? 0 : 1;
  output.document("bench-rules", status, options, std::move(body));
  return status;
}

}  // namespace rlgo::launch
