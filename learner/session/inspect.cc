#include "learner/session/inspect.h"

#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/cost/analytic.h"
#include "core/optimise/model.h"
#include "core/rules/rule_choice.h"
#include "replay/summary.h"

namespace rlgo::learner {
namespace fs = std::filesystem;
namespace {

using report::Json;

Json values_json(const graph::Graph& graph, const std::vector<std::pair<std::string, graph::Value>>& values) {
  Json out = Json::array();
  for (const auto& [name, value] : values) out.push_back({{"name", name}, {"type", ops::to_string(graph.type(value))}});
  return out;
}

// By count, of all operators.
double opaque_percent(const std::map<std::string, int>& ops) {
  int opaque = 0, all = 0;
  for (const auto& [op, count] : ops) {
    opaque += op == ops::name(ops::Op::opaque) ? count : 0;
    all += op == ops::name(ops::Op::input) ? 0 : count;
  }
  return all > 0 ? 100.0 * opaque / all : 0.0;
}

Json store_json(const replay::Summary& s) {
  Json broken = Json::array();
  for (const auto& part : s.broken) broken.push_back({{"file", part.path.string()}, {"reason", part.reason}});
  const auto costs = s.costs.empty() ? replay::Summary::Costs() : s.costs.begin()->second;
  return {{"path", s.path.string()},
          {"parts", s.parts},
          {"stored_bytes", s.bytes},
          {"episodes", s.episodes},
          {"dream_episodes", s.dream},
          {"terminal_episodes", s.terminal},
          {"repeated_episodes", s.repeated},
          {"steps", s.steps},
          {"no_ops", s.no_ops},
          {"return_percent", {{"min", s.return_min}, {"mean", s.return_mean}, {"max", s.return_max}}},
          {"initial_cost_us", costs.initial_us},
          {"best_cost_us", costs.best_us},
          {"rule_uses", s.rule_uses},
          {"broken", std::move(broken)}};
}

}  // namespace

Description describe_model(const std::string& name, bool changes, const std::string& python) {
  optimise::ModelOptions wanted;
  wanted.graph = name;
  wanted.python = python;
  const auto model = optimise::load_model(wanted, false);
  const auto& graph = model.graph;
  std::string out = fmt::format("{}\n{} nodes, {} inputs, {} outputs\n", model.about, graph.size(),
                                graph.inputs().size(), graph.outputs().size());
  for (const auto& change : changes ? model.changes : std::vector<std::string>()) out += fmt::format("  {}\n", change);
  std::vector<std::pair<std::string, graph::Value>> inputs, outputs;
  for (auto id : graph.inputs()) inputs.emplace_back(graph.node(id).info->name, graph::Value{id, 0});
  for (const auto& o : graph.outputs()) outputs.emplace_back(o.name, o.value);
  for (const auto& [input, value] : inputs)
    out += fmt::format("  input  {} : {}\n", input, ops::to_string(graph.type(value)));
  for (const auto& [output, value] : outputs)
    out += fmt::format("  output {} : {}\n", output, ops::to_string(graph.type(value)));
  std::map<std::string, int> ops;
  for (auto id : graph.order()) {
    if (!graph.node(id).constant) ++ops[std::string(ops::name(graph.node(id).op()))];
  }
  const double kept_percent = opaque_percent(ops);
  out += fmt::format("{:.1f} % of the operators are kept as they are (by count; no times are measured here)\n",
                     kept_percent);
  out += "operators:";
  for (const auto& [op, count] : ops) out += fmt::format(" {} {}", count, op);
  const auto rules = rules::choose_rules({});
  const rules::MatchIndex index(rules, graph);
  out += fmt::format("\n{} places where {} rules apply:\n", index.total(), rules->size());
  Json matches = Json::array();
  for (int r = 0; r < rules->size(); ++r) {
    if (index.matches(r).empty()) continue;
    out += fmt::format("  {:>6} {}\n", index.matches(r).size(), rules->name(r));
    matches.push_back({{"rule", rules->name(r)}, {"matches", index.matches(r).size()}});
  }
  cost::AnalyticCost model_cost;
  const auto cost = cost::graph_cost(model_cost, graph);
  out += fmt::format("analytic cost {:.3f} ms, {:.3f} GFLOP, {} moved, {} at the peak, {:.0f} kernels\n",
                     cost.runtime_us / 1000.0, cost.flops / 1e9, human_bytes(cost.bytes), human_bytes(cost.peak_bytes),
                     cost.launches);
  return {out,
          {{"kind", "model"},
           {"model", report::file_json(name)},
           {"about", model.about},
           {"changes", model.changes},
           {"nodes", graph.size()},
           {"inputs", values_json(graph, inputs)},
           {"outputs", values_json(graph, outputs)},
           {"operators", ops},
           {"kept_percent", kept_percent},
           {"matches", std::move(matches)},
           {"rules", report::rules_json(*rules)},
           {"cost",
            {{"model", model_cost.name()},
             {"runtime_us", cost.runtime_us},
             {"flops", cost.flops},
             {"moved_bytes", cost.bytes},
             {"peak_bytes", cost.peak_bytes},
             {"kernels", cost.launches}}}}};
}

Description describe_store(const fs::path& path) {
  const auto summary = replay::summarize(path);
  if (summary.parts == 0 && !summary.broken.empty()) fail("{}", summary.broken[0].reason);
  return {replay::to_text(summary), {{"kind", "store"}, {"store", store_json(summary)}}};
}

Description describe_run(const RunFolder& folder) {
  Description out{fmt::format("run {}\n", folder.path.string()), {{"kind", "run"}, {"run", folder.path.string()}}};
  const bool ended = fs::exists(folder.summary());
  out.text += ended ? read_file(folder.summary())
                    : "no summary.txt: the run has not ended (or was killed); continue with --resume\n";
  out.json["ended"] = ended;
  out.json["result"] = fs::exists(folder.result()) ? Json::parse(read_file(folder.result()), nullptr, false) : Json();
  out.json["store"] = nullptr;
  if (!fs::exists(folder.rollouts()) || fs::is_empty(folder.rollouts())) return out;
  const auto summary = replay::summarize(folder.rollouts());
  out.text += "\n" + replay::to_text(summary);
  out.json["store"] = store_json(summary);
  return out;
}

Description describe(const fs::path& path, bool changes, const std::string& python) {
  if (fs::exists(RunFolder{path}.config())) return describe_run({path});
  return !fs::exists(path) || path.extension() == ".onnx" ? describe_model(path.string(), changes, python)
                                                          : describe_store(path);
}

}  // namespace rlgo::learner
