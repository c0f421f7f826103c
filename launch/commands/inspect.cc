// rlgo inspect PATH: what a run folder, a rollout store or a model holds.
#include <cstdio>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/cost/analytic.h"
#include "launch/commands/command.h"
#include "launch/model.h"
#include "launch/session.h"
#include "launch/train/run_folder.h"
#include "launch/train/run_report.h"
#include "replay/compact.h"
#include "replay/summary.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kHelp =
    "usage: rlgo inspect PATH              a run folder, a folder of rollouts, one of its parts, an .onnx file, or a "
    "zoo graph's name\n"
    "       rlgo inspect --changes MODEL   also each operator of an .onnx file that the import folds, merges or "
    "removes\n"
    "       rlgo inspect --report RUN      writes the run's report.html again\n"
    "       rlgo inspect --compact PATH    merges the parts of a folder of rollouts into fewer files first\n";

std::string describe_model(const std::string& name, bool changes) {
  RunConfig config;
  config.graph = name;
  const auto model = load_model(config, false);
  const auto& graph = model.graph;
  std::string out = fmt::format("{}\n{} nodes, {} inputs, {} outputs\n", model.about, graph.size(),
                                graph.inputs().size(), graph.outputs().size());
  for (const auto& change : changes ? model.changes : std::vector<std::string>()) out += fmt::format("  {}\n", change);
  for (auto id : graph.inputs())
    out += fmt::format("  input  {} : {}\n", graph.node(id).info->name, ops::to_string(graph.type({id, 0})));
  for (const auto& o : graph.outputs())
    out += fmt::format("  output {} : {}\n", o.name, ops::to_string(graph.type(o.value)));
  std::map<std::string, int> ops;
  for (auto id : graph.order()) {
    if (!graph.node(id).constant) ++ops[std::string(ops::name(graph.node(id).op()))];
  }
  out += "operators:";
  for (const auto& [op, count] : ops) out += fmt::format(" {} {}", count, op);
  const auto rules = load_rules(config);
  const rules::MatchIndex index(rules, graph);
  out += fmt::format("\n{} places where {} rules apply:\n", index.total(), rules->size());
  for (int r = 0; r < rules->size(); ++r) {
    if (!index.matches(r).empty()) out += fmt::format("  {:>6} {}\n", index.matches(r).size(), rules->name(r));
  }
  cost::AnalyticCost model_cost;
  const auto cost = cost::graph_cost(model_cost, graph);
  return out + fmt::format("analytic cost {:.3f} ms, {:.3f} GFLOP, {} moved, {} at the peak, {:.0f} kernels\n",
                           cost.runtime_us / 1000.0, cost.flops / 1e9, human_bytes(cost.bytes),
                           human_bytes(cost.peak_bytes), cost.launches);
}

std::string describe_run(const RunFolder& folder) {
  std::string out = fmt::format("run {}\n", folder.path.string());
  if (fs::exists(folder.summary())) {
    out += read_file(folder.summary());
  } else {
    out += "no summary.txt: the run has not ended (or was killed); go on with --resume\n";
  }
  if (fs::exists(folder.rollouts()) && !fs::is_empty(folder.rollouts()))
    out += "\n" + replay::to_text(replay::summarize(folder.rollouts()));
  return out;
}

}  // namespace

int run_inspect(Context& context) {
  auto arguments = context.arguments;
  if (!arguments.empty() && arguments[0] == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const bool report = !arguments.empty() && arguments[0] == "--report";
  const bool compact = !arguments.empty() && arguments[0] == "--compact";
  const bool changes = !arguments.empty() && arguments[0] == "--changes";
  if (compact || report || changes) arguments.erase(arguments.begin());
  if (arguments.size() != 1 || arguments[0].starts_with("-")) fail("inspect needs one path (rlgo inspect --help)");
  const fs::path path = arguments[0];
  if (compact) {
    const auto done = replay::compact(path);
    std::printf("merged %lld parts into %lld\n", static_cast<long long>(done.parts_before),
                static_cast<long long>(done.parts_after));
  }
  if (report) {
    write_run_report({path});
    std::printf("%s\n", RunFolder{path}.report().c_str());
    return 0;
  }
  std::string text;
  if (fs::exists(RunFolder{path}.config())) {
    text = describe_run({path});
  } else if (!fs::exists(path) || path.extension() == ".onnx") {
    text = describe_model(arguments[0], changes);
  } else {
    const auto summary = replay::summarize(path);
    if (summary.parts == 0 && !summary.broken.empty()) fail("{}", summary.broken[0].reason);
    text = replay::to_text(summary);
  }
  std::printf("%s", text.c_str());
  return 0;
}

}  // namespace rlgo::launch
