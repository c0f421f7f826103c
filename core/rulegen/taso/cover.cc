#include "core/rulegen/taso/cover.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/rng.h"
#include "core/rulegen/check/check.h"
#include "core/rulegen/prove/prove.h"
#include "core/rules/instance.h"
#include "core/rules/ranges.h"

namespace rlgo::rulegen {
namespace {

using Known = std::shared_ptr<const rules::RuleSet>;
using Graphs = std::map<uint64_t, graph::Graph>;  // by hash
using Goals = std::set<uint64_t>;                 // hashes that are looked for

// Adds the graphs that are one application away, up to `limit`; stops where the last goal was struck off.
void step(const Known& known, const graph::Graph& graph, Graphs& found, Goals* goals, size_t limit) {
  const rules::MatchIndex index(known, graph);
  for (int k = 0; k < known->size() && !(goals && goals->empty()); ++k) {
    for (const auto& match : index.matches(k)) {
      auto rewrite = rules::apply(*known, match, graph);
      if (!rewrite) continue;
      const uint64_t hash = rewrite->graph.hash();
      if (goals) goals->erase(hash);
      if (found.size() < limit) found.try_emplace(hash, std::move(rewrite->graph));
    }
  }
}

Graphs around(const Known& known, const Graphs& graphs, Goals* goals, size_t limit) {
  Graphs found;
  for (const auto& [hash, graph] : graphs) {
    if (goals && goals->empty()) break;
    step(known, graph, found, goals, limit);
  }
  return found;
}

// Whether `applications` (1 or 2) lead from the graph to the goal.
bool leads(const Known& known, const graph::Graph& graph, uint64_t goal, int applications, size_t limit) {
  Goals goals{goal};
  Graphs at{{graph.hash(), graph}};
  for (int k = 0; k < applications && !goals.empty(); ++k)
    at = around(known, at, &goals, k + 1 < applications ? limit : 0);
  return goals.empty();
}

// Whether one application, or two, lead from one of `graphs` to the goal. Most known rules have one that undoes them,
// so where to look is what one or two applications make of the goal; the way from there is walked.
bool meets(const Known& known, const Graphs& graphs, uint64_t hash, const graph::Graph& goal,
           const CoverOptions& options) {
  const auto limit = static_cast<size_t>(options.max_graphs);
  Graphs back{{hash, goal}};
  for (int applications = 1; applications <= options.applications - 2; ++applications) {
    back = around(known, back, nullptr, limit);
    for (const auto& [other, graph] : back) {
      if (graphs.contains(other) && leads(known, graph, hash, applications, limit)) return true;
    }
  }
  return false;
}

// 1, 2: applications that make of the graph whatever the rule makes of it; 3: three or four; 4: not found.
int distance(const Known& known, const graph::Graph& graph, const Graphs& wanted, const CoverOptions& options) {
  const auto limit = static_cast<size_t>(options.max_graphs);
  Goals goals;
  for (const auto& [hash, goal] : wanted) goals.insert(hash);
  const Graphs near = around(known, {{graph.hash(), graph}}, &goals, limit);
  if (goals.empty()) return 1;
  const bool on = options.applications > 2;
  Graphs reached = around(known, near, &goals, on ? 4 * limit : 0);
  if (goals.empty()) return 2;
  if (!on) return 4;
  reached.insert(near.begin(), near.end());
  for (const uint64_t hash : goals) {
    if (!meets(known, reached, hash, wanted.at(hash), options)) return 4;
  }
  return 3;
}

// As models are when rules are applied: what depends on constants alone is folded, and, as TASO's matcher asks, nobody
// else reads what stands between a rule's results.
bool as_in_models(const graph::Graph& graph) {
  return std::ranges::all_of(graph.order(), [&](graph::NodeId id) {
    const auto& node = graph.node(id);
    return node.inputs.empty() || (!node.constant && (node.uses.empty() || !graph.is_output(id)));
  });
}

int distance(const rules::RuleSet& rule, const Known& known, const CoverOptions& options, bool anywhere) {
  constexpr int kAttempts = 40'000;
  Rng rng({options.seed, rule.rule(0).hash});
  int worst = 0, places = 0;
  for (int attempt = 0; attempt < kAttempts && places < options.instances && worst < 4; ++attempt) {
    const auto graph = rules::random_instance(rule.rule(0), rng);
    if (!graph || !(anywhere || as_in_models(*graph))) continue;
    Graphs wanted;
    for (const auto& match : rules::find_matches(rule, 0, *graph)) {
      if (auto rewrite = rules::apply(rule, match, *graph))
        wanted.try_emplace(rewrite->graph.hash(), std::move(rewrite->graph));
    }
    if (wanted.empty()) continue;
    ++places;
    worst = std::max(worst, distance(known, *graph, wanted, options));
  }
  if (places == 0 && !anywhere) return distance(rule, known, options, true);
  return places == 0 ? 4 : worst;
}

}  // namespace

const char* name(Cover cover) {
  constexpr const char* kNames[kCovers] = {"contained", "derived", "further", "proved", "refuted", "unknown"};
  return kNames[static_cast<int>(cover)];
}

CoverResult cover(const rules::RuleSet& rule, const std::shared_ptr<const rules::RuleSet>& known,
                  const AxiomSet& axioms, const CoverOptions& options) {
  CheckOptions check;
  check.instances = options.check_instances;
  check.seed = options.seed;
  check.seeds = 2;
  const auto checked = check_rule(rule, 0, check);
  if (checked.verdict == CheckVerdict::different) return {Cover::refuted, checked.counterexample->to_text()};
  const int steps = distance(*rules::over_reals(rule), rules::over_reals(*known), options, false);
  ProveOptions how;
  how.seed = options.seed;
  const auto proof = prove(rule.rule(0), axioms, how);
  if (proof.verdict == Proof::Verdict::refuted) return {Cover::refuted, proof.reason};
  if (proof.verdict != Proof::Verdict::proved) {
    // What resists proof may be false at rare places, also where known rules reach it at those that were tried.
    check.instances = options.deep_instances;
    check.attempts = 100 * options.deep_instances;
    check.seeds = 1;
    check.exact_instances = 0;
    check.seed = options.seed + 1;
    const auto deep = check_rule(rule, 0, check);
    if (deep.verdict == CheckVerdict::different) return {Cover::refuted, deep.counterexample->to_text()};
  }
  if (steps == 1) return {Cover::contained, ""};
  if (steps == 2) return {Cover::derived, ""};
  if (steps == 3) return {Cover::further, ""};
  if (proof.verdict == Proof::Verdict::proved) return {Cover::proved, ""};
  return {Cover::unknown, checked.verdict == CheckVerdict::unknown ? checked.why + "; " + proof.reason : proof.reason};
}

}  // namespace rlgo::rulegen
