// An agent that learns from searches: what annealing (core/search/chain.h) found by luck, it should find by choice.
//
// Annealing tells each short sequence of rewrites that lowered the cost of a graph that nothing cheap improves. The
// network learns, on such graphs, which rewrites belong to one: what it adds to the logits of a heat bath, whatever the
// temperature, so that those of the sequence are drawn (behaviour cloning: Pomerleau 1991; of an expert that searches:
// Anthony et al. 2017). `policy-anneal` then draws by that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/agent/agent_file.h"
#include "core/base/options.h"
#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/mdp/mdp.h"
#include "core/nets/options.h"
#include "core/report/json.h"
#include "core/rules/rules.h"

namespace rlgo::learner {

struct ImitationOptions {
  std::vector<std::string> profiles = {"cpu", "gpu"};  // cost profiles (core/cost/profile.h) to learn under
  int64_t budget = 300'000;                            // graphs that each search of a graph prices, >= 1
  int searches = 2;                                    // of each graph and profile, with seeds of their own, >= 1
  int64_t lessons = 1500;                              // of a graph and profile that are learned from, at most, >= 1
  int epochs = 12;                                     // passes over all lessons, >= 1
  int batch = 32;                                      // lessons of a step, >= 1
  double rate = 1e-3;                                  // of Adam, (0, 1]
  double held_out = 0.1;                               // share of the sequences that nothing is learned from, [0, 0.9]
  int max_locations = 200;                             // of a rule, as in searches
  uint64_t seed = 0;
};
// Options imitate.*.
void declare(OptionSink& sink, ImitationOptions& options);

// A graph on the way of a sequence that paid.
struct Lesson {
  mdp::Observation observation;
  std::vector<int32_t> right;  // places among the observation's locations of the rewrites that are left of the sequence
  double unit = 0;       // mean cost of an operator, percent of the unmodified graph's: temperatures are multiples
  int64_t sequence = 0;  // lessons of one sequence have one number
};

// Anneals the graph, and appends a lesson for each rewrite of each sequence that paid. The sequences get numbers from
// `first_sequence` on. Returns the lowest cost found, as a share of the graph's.
double add_lessons(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules,
                   const std::shared_ptr<cost::CostModel>& cost, const ImitationOptions& options, uint64_t seed,
                   int64_t first_sequence, std::vector<Lesson>& lessons,
                   const std::function<bool()>& should_stop = nullptr);

// How well the rewrites that paid are drawn: mean of -log of their probability, over temperatures, nats.
struct ImitationReport {
  int64_t lessons = 0, held_out = 0;
  int passes = 0;                    // over all lessons that were made, ImitationOptions::epochs at most
  double loss_before = 0, loss = 0;  // of what was learned from: before (a heat bath alone), after
  double held_out_loss_before = 0, held_out_loss = 0;  // 0 where nothing was held out
};

// Trains an agent. `told`: a line for people after each pass. `should_stop`: ends after the batch in hand; the passes
// made so far are the result. Throws Error where there are no lessons, before the first pass is made, and where the
// network has no plain form (--gnn.block full).
agent::AgentFile imitate(const std::vector<Lesson>& lessons, const mdp::ObservationSpec& spec,
                         const nets::AgentOptions& network, const ImitationOptions& options,
                         const std::function<void(const std::string&)>& told, const std::function<bool()>& should_stop,
                         ImitationReport& report);

// All of it: searches each graph under each profile, and trains an agent on what was found. `names`: of the graphs, for
// people and for AgentFile::about. Throws Error on an unknown profile before the first search.
agent::AgentFile imitate(std::span<const graph::Graph> graphs, std::span<const std::string> names,
                         const std::shared_ptr<const rules::RuleSet>& rules, const nets::AgentOptions& network,
                         const ImitationOptions& options, const std::function<void(const std::string&)>& told,
                         const std::function<bool()>& should_stop, ImitationReport& report);
std::string to_text(const ImitationReport& report);
// "report" of the document "rlgo.imitate/1".
report::Json to_json(const ImitationReport& report);

}  // namespace rlgo::learner
