// rlgo rules bench (rlgo bench rules): how fast rules are made, proved, matched and tested on this machine.
#include <unistd.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/status_line.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rulegen/generate/bench.h"
#include "launch/commands/rules.h"
#include "launch/model.h"
#include "launch/signals.h"

namespace rlgo::launch {

int run_rules_bench(std::vector<std::string> arguments) {
  rulegen::BenchOptions bench;
  std::vector<std::string> graphs{"squeezenet1_1", "resnet50", "bert"};
  std::vector<std::string> parts{"generate", "prove", "match", "soundness"};
  Options options;
  options.heading("Bench");
  options.texts("parts", parts, "what to time: generate, prove, match, soundness");
  options.texts("families", bench.families, "sets of operators to generate from, as of rules generate --ops");
  options.integer("max-ops", bench.max_ops, 1, 5, "operators of each side of generated rules");
  options.texts("sets", bench.sets, "shipped sets or rule files to prove again");
  options.integer("most", bench.most, 0, kNoLimit, "rules of each set to prove at most; 0: all");
  options.texts("graphs", graphs, "zoo graphs or .onnx files to match the default rules on");
  options.integer("rewrites", bench.rewrites, 1, kNoLimit, "random rewrites of each graph");
  options.integer("applications", bench.applications, 1, kNoLimit, "of the soundness test");
  options.integer("threads", bench.threads, 1, 256, "of the generation; everything else runs on one");
  const auto rest = parse_rules_arguments("bench", options, arguments);
  if (!rest) return 0;
  if (!rest->empty()) fail_usage("rules bench: unexpected '{}'", rest->front());
  for (const auto& part : parts) {
    if (part != "generate" && part != "prove" && part != "match" && part != "soundness")
      fail_usage("rules bench: unknown part '{}'; known: generate, prove, match, soundness", part);
  }
  const auto asked = [&](const char* part) {
    return stop_signal() == 0 && std::ranges::find(parts, part) != parts.end();
  };
  StatusLine status(true, isatty(STDERR_FILENO) != 0);
  bench.stop = [] { return stop_signal() != 0; };
  bench.show = [&](const std::string& line) { line.empty() ? status.clear() : status.show(line); };
  bench.say = say_line;
  if (asked("generate")) rulegen::bench_generate(bench);
  if (asked("prove")) rulegen::bench_prove(bench);
  if (asked("match")) {
    std::vector<std::pair<std::string, graph::Graph>> models;
    for (const auto& name : graphs) {
      ModelOptions wanted;
      wanted.graph = name;
      models.emplace_back(name, load_model(wanted, false).graph);
    }
    rulegen::bench_match(models, bench);
  }
  if (asked("soundness")) rulegen::bench_soundness(bench);
  return stop_signal() == 0 ? 0 : 1;
}

}  // namespace rlgo::launch
