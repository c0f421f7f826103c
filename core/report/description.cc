#include "core/report/description.h"

#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cost/analytic.h"
#include "core/cost/kept.h"
#include "core/rules/rule_choice.h"
#include "core/rules/rules.h"

namespace rlgo::report {
namespace {

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

// Where rules apply: lines appended to `out`, and as JSON.
Json report_matches(const std::shared_ptr<const rules::RuleSet>& rules, const graph::Graph& graph, std::string& out) {
  const rules::MatchIndex index(rules, graph);
  out += fmt::format("\n{} places where {} rules apply:\n", index.total(), rules->size());
  Json matches = Json::array();
  for (int r = 0; r < rules->size(); ++r) {
    if (index.matches(r).empty()) continue;
    out += fmt::format("  {:>6} {}\n", index.matches(r).size(), rules->name(r));
    matches.push_back({{"rule", rules->name(r)}, {"matches", index.matches(r).size()}});
  }
  return matches;
}

}  // namespace

Description describe_model(const std::string& name, const std::string& about, const graph::Graph& graph,
                           const std::vector<std::string>& changes, bool show_changes, const std::string& target,
                           std::span<const cost::OperatorTime> times) {
  std::string out = fmt::format("{}\n{} nodes, {} inputs, {} outputs\n", about, graph.size(), graph.inputs().size(),
                                graph.outputs().size());
  for (const auto& change : show_changes ? changes : std::vector<std::string>()) out += fmt::format("  {}\n", change);
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
  const auto kept = cost::kept_operators(graph, times);
  out += fmt::format("{:.1f} % of the operators are kept as they are (by count{})", kept_percent,
                     kept.timed ? "" : "; --target RUNTIME measures their time");
  if (!kept.kinds.empty()) out += ": " + cost::to_text(kept) + (kept.timed ? " under " + target : "");
  out += "\n";
  out += "operators:";
  for (const auto& [op, count] : ops) out += fmt::format(" {} {}", count, op);
  const auto rules = rules::choose_rules({});
  Json matches = report_matches(rules, graph, out);
  cost::AnalyticCost model_cost;
  const auto cost = cost::graph_cost(model_cost, graph);
  out += fmt::format("analytic cost {:.3f} ms, {:.3f} GFLOP, {} moved, {} at the peak, {:.0f} kernels\n",
                     cost.runtime_us / 1000.0, cost.flops / 1e9, human_bytes(cost.bytes), human_bytes(cost.peak_bytes),
                     cost.launches);
  return {out,
          {{"kind", "model"},
           {"model", file_json(name)},
           {"about", about},
           {"changes", changes},
           {"nodes", graph.size()},
           {"inputs", values_json(graph, inputs)},
           {"outputs", values_json(graph, outputs)},
           {"operators", ops},
           {"kept_percent", kept_percent},
           {"kept", kept_json(kept)},
           {"target", target.empty() ? Json() : Json(target)},
           {"matches", std::move(matches)},
           {"rules", rules_json(*rules)},
           {"cost",
            {{"model", model_cost.name()},
             {"runtime_us", cost.runtime_us},
             {"flops", cost.flops},
             {"moved_bytes", cost.bytes},
             {"peak_bytes", cost.peak_bytes},
             {"kernels", cost.launches}}}}};
}

}  // namespace rlgo::report
