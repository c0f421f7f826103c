#include "core/rulegen/cover.h"

#include <set>

#include "core/base/rng.h"
#include "core/rulegen/check.h"
#include "core/rulegen/prove.h"
#include "core/rules/instance.h"

namespace rlgo::rulegen {
namespace {

using Hashes = std::set<uint64_t>;

// All graphs that are one application away, each once; those wanted are struck off.
std::vector<graph::Graph> step(const std::shared_ptr<const rules::RuleSet>& known, const graph::Graph& graph,
                               Hashes& wanted, Hashes& seen, bool keep, int limit) {
  std::vector<graph::Graph> made;
  const rules::MatchIndex index(known, graph);
  for (int k = 0; k < known->size() && !wanted.empty(); ++k) {
    for (const auto& match : index.matches(k)) {
      auto rewrite = rules::apply(*known, match, graph);
      if (!rewrite) continue;
      const uint64_t hash = rewrite->graph.hash();
      wanted.erase(hash);
      if (keep && static_cast<int>(made.size()) < limit && seen.insert(hash).second)
        made.push_back(std::move(rewrite->graph));
    }
  }
  return made;
}

// Applications (1 or 2) that make of the graph whatever the rule makes of it; 3 where neither do.
int distance(const std::shared_ptr<const rules::RuleSet>& known, const graph::Graph& graph, Hashes wanted, int limit) {
  Hashes seen{graph.hash()};
  const auto nearby = step(known, graph, wanted, seen, true, limit);
  if (wanted.empty()) return 1;
  for (const auto& other : nearby) {
    step(known, other, wanted, seen, false, limit);
    if (wanted.empty()) return 2;
  }
  return 3;
}

int distance(const rules::RuleSet& rule, const std::shared_ptr<const rules::RuleSet>& known,
             const CoverOptions& options) {
  constexpr int kAttempts = 4000;
  Rng rng({options.seed, rule.rule(0).hash});
  int worst = 0, places = 0;
  for (int attempt = 0; attempt < kAttempts && places < options.instances && worst < 3; ++attempt) {
    const auto graph = rules::random_instance(rule.rule(0), rng);
    if (!graph) continue;
    Hashes wanted;
    for (const auto& match : rules::find_matches(rule, 0, *graph)) {
      if (const auto rewrite = rules::apply(rule, match, *graph)) wanted.insert(rewrite->graph.hash());
    }
    if (wanted.empty()) continue;
    ++places;
    worst = std::max(worst, distance(known, *graph, std::move(wanted), options.max_graphs));
  }
  return places == 0 ? 3 : worst;
}

}  // namespace

const char* name(Cover cover) {
  constexpr const char* kNames[kCovers] = {"contained", "derived", "proved", "refuted", "unknown"};
  return kNames[static_cast<int>(cover)];
}

CoverResult cover(const rules::RuleSet& rule, const std::shared_ptr<const rules::RuleSet>& known,
                  const AxiomSet& axioms, const CoverOptions& options) {
  CheckOptions check;
  check.instances = options.check_instances;
  check.seed = options.seed;
  check.seeds = 2;
  const auto checked = check_rule(rule, 0, check);
  if (checked.verdict == Verdict::different) return {Cover::refuted, checked.counterexample->to_text()};
  const int steps = distance(rule, known, options);
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
    if (deep.verdict == Verdict::different) return {Cover::refuted, deep.counterexample->to_text()};
  }
  if (steps == 1) return {Cover::contained, ""};
  if (steps == 2) return {Cover::derived, ""};
  if (proof.verdict == Proof::Verdict::proved) return {Cover::proved, ""};
  return {Cover::unknown, checked.verdict == Verdict::unknown ? checked.why + "; " + proof.reason : proof.reason};
}

}  // namespace rlgo::rulegen
