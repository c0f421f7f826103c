#include <algorithm>

#include "core/base/rng.h"
#include "core/search/context.h"

namespace rlgo::search {
namespace {

// Rules with at least one match.
std::vector<int32_t> applicable_rules(const rules::MatchIndex& index) {
  std::vector<int32_t> rules;
  for (int32_t rule = 0; rule < index.rules().size(); ++rule) {
    if (!index.matches(rule).empty()) rules.push_back(rule);
  }
  return rules;
}

rules::Rewrite draw(const rules::MatchIndex& index, std::span<const int32_t> rules, int max_locations, Rng& rng) {
  const int32_t rule = rules[rng.below(rules.size())];
  const uint64_t locations = std::min<uint64_t>(index.matches(rule).size(), static_cast<uint64_t>(max_locations));
  return {rule, static_cast<int32_t>(rng.below(locations))};
}

// One walk from the original graph; false where the search must end.
bool walk(Context& context, StatePtr state, Rng rng) {
  for (int k = 0; k < context.options().walk_length; ++k) {
    const auto rules = applicable_rules(state->index);
    if (rules.empty()) return true;
    if (!context.may_continue()) return false;
    const StatePtr next = context.build(*state, draw(state->index, rules, context.options().max_locations, rng));
    ++(next ? context.counters().candidates : context.counters().refused);
    if (!next) continue;
    state = next;
    ++context.counters().steps;
    context.offer(*state);
  }
  return true;
}

}  // namespace

Result random_walks(const Problem& problem, const Options& options) {
  Context context(problem, options);
  const StatePtr start = context.start();
  if (start->index.total() == 0) return context.finish();
  for (uint64_t number = 0;; ++number) {
    ++context.counters().walks;
    if (!walk(context, start, Rng({options.seed, number}))) return context.finish();
    if (options.progress) options.progress(context.counters(), context.best_us());
  }
}

}  // namespace rlgo::search
