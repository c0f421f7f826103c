#include "learner/session/run_graph.h"

#include <algorithm>
#include <cmath>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/usage.h"
#include "core/env/playground.h"
#include "core/rules/trace.h"
#include "core/zoo/zoo.h"
#include "learner/loop.h"
#include "learner/session/resume.h"

namespace rlgo::learner {
namespace {

// What a checkpoint calls something of the k-th graph: as in runs of one graph, or with a number.
std::string of_graph(const char* what, size_t k) { return k == 0 ? what : fmt::format("{}.{}", what, k); }

}  // namespace

std::vector<RunGraph> load_graphs(const optimise::ModelOptions& options, bool with_weights) {
  std::vector<RunGraph> graphs;
  std::vector<std::string> labels;
  for (const auto& one : optimise::each_model(options)) {
    if (std::ranges::any_of(graphs, [&](const RunGraph& other) { return other.name == one.graph; }))
      fail_usage("--graph {}: '{}' is named twice", options.graph, one.graph);
    RunGraph graph{one.graph, zoo::label_of(one.graph, labels), optimise::load_model(one, with_weights)};
    optimise::check_rewritable(graph.model, one.graph);
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

std::string default_run_name(const std::vector<RunGraph>& graphs, const std::string& agent, uint64_t seed) {
  constexpr size_t kLongest = 60;
  std::string name;
  for (const RunGraph& graph : graphs) {
    if (name.size() < kLongest) name += graph.label + "-";
  }
  return fmt::format("{}{}-s{}", name, agent, seed);
}

void make_folders(std::vector<RunGraph>& graphs, const RunFolder& run) {
  for (RunGraph& graph : graphs) {
    graph.folder.path = graphs.size() == 1 ? run.path : run.path / graph.label;
    std::error_code error;
    std::filesystem::create_directories(graph.folder.path, error);
    if (error) fail("{}: the folder cannot be made: {}", graph.folder.path.string(), error.message());
  }
}

void begin(RunGraph& graph, std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& cost,
           const env::EnvOptions& options, double initial_us) {
  rules::TraceFile identity;
  identity.graph = graph.name;
  identity.graph_hash = graph.model.graph.hash();
  identity.rules_hash = rules->hash();
  graph.best = std::make_unique<BestGraph>(std::move(identity), initial_us, options.reward == env::Reward::latency);
  if (options.frontier > 0 && options.window > 0)
    graph.gains = std::make_unique<Gains>(graph.model.graph, std::move(rules), cost, options.max_locations);
}

RunGraph* offer(std::vector<RunGraph>& graphs, const mdp::Trajectory& trajectory, int no_op) {
  const int32_t k = trajectory.beginning.graph;
  if (k < 0 || k >= std::ssize(graphs))
    throw Malformed(fmt::format("an episode of graph {}, of {} graphs", k, graphs.size()));
  RunGraph& graph = graphs[static_cast<size_t>(k)];
  bool better = graph.best->offer(trajectory, no_op);
  try {
    if (graph.gains && keep_gain(trajectory, *graph.gains, *graph.best, *graph.starts)) better = true;
  } catch (const Error& error) {
    throw Malformed(error.what());
  }
  return better ? &graph : nullptr;
}

std::string encode_archives(const std::vector<RunGraph>& graphs) {
  ByteWriter out;
  for (const RunGraph& graph : graphs) out.put_string(graph.starts ? graph.starts->encode_archives() : "");
  return out.take();
}

void decode_archives(std::vector<RunGraph>& graphs, std::string_view bytes) {
  ByteReader in(bytes);
  for (RunGraph& graph : graphs) {
    const std::string archive = in.get_string();
    if (graph.starts && !archive.empty()) graph.starts->decode_archives(archive);
  }
}

OverallCost overall_cost(const std::vector<RunGraph>& graphs) {
  if (graphs.size() == 1) return {graphs[0].best->initial_us(), graphs[0].best->best_us()};
  OverallCost logs;
  const auto count = static_cast<double>(graphs.size());
  for (const RunGraph& graph : graphs) {
    logs.initial_us += std::log(graph.best->initial_us()) / count;
    logs.best_us += std::log(std::max(graph.best->best_us(), 1e-9)) / count;
  }
  return {std::exp(logs.initial_us), std::exp(logs.best_us)};
}

void add_best_costs(const std::vector<RunGraph>& graphs, MetricRow& row) {
  if (graphs.size() == 1) return;
  for (const RunGraph& graph : graphs) row.emplace_back("best_cost_us/" + graph.label, graph.best->best_us());
}

std::unique_ptr<mdp::BatchEnv> make_envs(const std::vector<RunGraph>& graphs,
                                         const std::shared_ptr<const rules::RuleSet>& rules,
                                         const std::shared_ptr<cost::CostModel>& model, const env::EnvOptions& options,
                                         const TimerOf& timer_of, int count) {
  std::vector<env::Playground> playgrounds;
  for (const RunGraph& graph : graphs) playgrounds.push_back({graph.model.graph, graph.starts, timer_of(graph.model)});
  return env::make_envs(playgrounds, rules, model, options, count);
}

uint64_t graphs_hash(const std::vector<RunGraph>& graphs) {
  uint64_t hash = graphs[0].model.graph.hash();
  for (size_t k = 1; k < graphs.size(); ++k) hash = hash_combine(hash, graphs[k].model.graph.hash());
  return hash;
}

void store_best(const std::vector<RunGraph>& graphs, const rules::RuleSet& rules, Checkpoint& checkpoint) {
  for (size_t k = 0; k < graphs.size(); ++k) {
    checkpoint.texts[of_graph("best_trace", k)] = to_text(graphs[k].best->trace(), rules);
    checkpoint.numbers[of_graph("initial_cost_us", k)] = graphs[k].best->initial_us();
    if (graphs[k].best->by_latency()) checkpoint.numbers[of_graph("best_latency", k)] = graphs[k].best->latency_bound();
  }
}

std::vector<std::string> adopt_best(std::vector<RunGraph>& graphs, const std::shared_ptr<const rules::RuleSet>& rules,
                                    cost::CostModel& cost, int max_locations, const Checkpoint& checkpoint,
                                    const std::string& place) {
  std::vector<std::string> changed;
  for (size_t k = 0; k < graphs.size(); ++k) {
    BestGraph& best = *graphs[k].best;
    rules::TraceFile stored = rules::parse_trace(text_of(checkpoint, of_graph("best_trace", k), place), place, *rules);
    const auto before = checkpoint.numbers.find(of_graph("initial_cost_us", k));
    if (before != checkpoint.numbers.end() && before->second != best.initial_us()) {
      changed.push_back(fmt::format(
          "{}: the unmodified graph costs {:.6g} us now, {:.6g} us when the checkpoint was made: the best graph is "
          "priced again",
          graphs[k].name, best.initial_us(), before->second));
      stored.cost_us.clear();
      rules::replay(graphs[k].model.graph, rules, stored.rewrites, max_locations,
                    [&](const graph::Graph& now, size_t made) {
                      stored.cost_us.insert(stored.cost_us.end(), made, cost::graph_cost(cost, now).runtime_us);
                    });
    }
    best.adopt(stored);
    const auto bound = checkpoint.numbers.find(of_graph("best_latency", k));
    if (best.by_latency() && bound != checkpoint.numbers.end()) best.set_latency_bound(bound->second);
    if (!graphs[k].gains) continue;
    for (size_t island = 0; island < graphs[k].starts->islands(); ++island)
      graphs[k].starts->offer({stored.rewrites, stored.cost_us}, island);
  }
  return changed;
}

}  // namespace rlgo::learner
