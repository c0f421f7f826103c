// rlgo inspect PATH: what a run folder, a rollout store or a model holds.
#include <cstdio>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/cost/analytic.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/command.h"
#include "launch/model.h"
#include "launch/options.h"
#include "launch/train/run_folder.h"
#include "launch/train/run_report.h"
#include "replay/compact.h"
#include "replay/summary.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kUsage =
    "usage: rlgo inspect PATH [options]    a run folder, a folder of rollouts, one of its parts, an .onnx file, or a "
    "zoo graph's name\n";

std::string describe_model(const std::string& name, bool changes) {
  ModelOptions wanted;
  wanted.graph = name;
  const auto model = load_model(wanted, false);
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
  const auto rules = rules::choose_rules({});
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
  bool report = false, compact = false, changes = false;
  Options options;
  options.heading("Inspect");
  options.flag("changes", changes, "also each operator of an .onnx file that the import folds, merges or removes");
  options.flag("report", report, "write the run's report.html again");
  options.flag("compact", compact, "merge the parts of a folder of rollouts into fewer files first");
  const auto words = read_command_line(options, context.arguments, kUsage, 1);
  if (!words) return 0;
  if (words->empty()) fail_usage("inspect needs a path (rlgo inspect --help)");
  const fs::path path = words->front();
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
    text = describe_model(path.string(), changes);
  } else {
    const auto summary = replay::summarize(path);
    if (summary.parts == 0 && !summary.broken.empty()) fail("{}", summary.broken[0].reason);
    text = replay::to_text(summary);
  }
  std::printf("%s", text.c_str());
  return 0;
}

}  // namespace rlgo::launch
