// Is a rule known already?
#include <set>

#include "core/base/rng.h"
#include "core/rulegen/generate/generate.h"
#include "core/rules/instance.h"
#include "core/rules/ranges.h"

namespace rlgo::rulegen {

bool rewrites_the_same(const rules::RuleSet& ranged_known, const rules::RuleSet& ranged_rule, int instances) {
  const auto real_known = rules::over_reals(ranged_known), real_rule = rules::over_reals(ranged_rule);
  const rules::RuleSet &known = *real_known, &rule = *real_rule;
  constexpr int kAttempts = 400;
  Rng rng({0x5A3E});
  int seen = 0;
  for (int attempt = 0; attempt < kAttempts && seen < instances; ++attempt) {
    const auto graph = rules::random_instance(rule.rule(0), rng);
    if (!graph) continue;
    const auto matches = rules::find_matches(rule, 0, *graph);
    if (matches.empty()) continue;
    std::set<uint64_t> wanted;
    for (const auto& match : matches) {
      if (const auto rewrite = rules::apply(rule, match, *graph)) wanted.insert(rewrite->graph.hash());
    }
    for (int k = 0; k < known.size() && !wanted.empty(); ++k) {
      for (const auto& match : rules::find_matches(known, k, *graph)) {
        if (const auto rewrite = rules::apply(known, match, *graph)) wanted.erase(rewrite->graph.hash());
      }
    }
    if (!wanted.empty()) return false;
    ++seen;
  }
  return seen > 0;
}

}  // namespace rlgo::rulegen
