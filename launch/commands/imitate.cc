// rlgo imitate: an agent that learns from searches, for searches.
#include <nlohmann/json.hpp>

#include "core/base/destination.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rules/rule_choice.h"
#include "core/zoo/zoo.h"
#include "launch/commands/command.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/revision.h"
#include "launch/signals.h"
#include "learner/session/imitation.h"

namespace rlgo::launch {

constexpr const char* kUsage =
    "usage: rlgo imitate --graph G,H,... --agent.file OUT [options]\n"
    "Searches the graphs (zoo graphs, .onnx files, 'zoo', 'all') by annealing under the named cost profiles, trains "
    "an\n"
    "agent on what the searches found, and writes it for `rlgo search --methods policy-anneal` and `rlgo optimise`.\n"
    "Measured on models that it had not seen, such an agent did not help annealing: cost with it to without it 0.9975\n"
    "(95 %: 0.9925 to 1.0025) under cpu, 1.0014 (0.9973 to 1.0055) under gpu. Nothing uses one unless told to\n"
    "(docs/agents.md, results/agents.md). Ctrl-C ends with the passes over the lessons that are made.\n";

int run_imitate(Context& context) {
  std::vector<std::string> rule_names;
  std::string graph, file;
  nets::AgentOptions network;
  learner::ImitationOptions imitation;
  OutputOptions how;
  Options options("imitate");
  options.heading("Imitate");
  options.text("graph", graph, "graphs to learn on, separated by commas");
  options.text("agent.file", file, "file to write the agent to");
  options.texts("rules", rule_names, "files, sets, tags or names of rules; none: the proved ones and winograd");
  options.integer("seed", imitation.seed, 0, kNoLimit, "names all random streams");
  declare(options, imitation);
  declare(options, how);
  options.rest();
  nets::declare(options, network);
  if (!read_command_line(options, context.arguments, kUsage)) return 0;
  if (file.empty()) fail_usage("no file for the agent is given; use --agent.file OUT (rlgo imitate --help)");
  const auto names = zoo::graphs_of(graph);
  check_destination(file);
  const Output output(how);
  const auto rules = rules::choose_rules(rules::with_set_in_default(rule_names, "winograd"));
  std::vector<graph::Graph> graphs;
  for (const auto& name : names) graphs.push_back(load_model({name, {}, {}, {}}, false).graph);
  learner::ImitationReport report;
  auto agent = learner::imitate(
      graphs, names, rules, network, imitation, [&](const std::string& line) { output.note(line); }, signalled, report);
  agent.about["command"] = "rlgo imitate " + join(context.arguments, " ");
  agent.about["revision"] = kRevision;
  agent::save(agent, file);
  output.say(file + ": " + to_text(report));
  output.document("imitate", 0, options, {{"agent_file", report::file_json(file)}, {"report", to_json(report)}});
  return 0;
}

}  // namespace rlgo::launch
