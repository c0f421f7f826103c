#include <algorithm>
#include <unordered_set>

#include "core/search/context.h"

namespace rlgo::search {
namespace {

struct Candidate {
  const State* from;
  Child child;
};

// The children that are new, cheapest first; equal ones in the order of their parents.
std::vector<Candidate> rank(std::span<const StatePtr> beam, std::span<const std::vector<Child>> children,
                            std::unordered_set<uint64_t>& visited, Counters& counters) {
  std::vector<Candidate> all;
  for (size_t k = 0; k < beam.size(); ++k) {
    for (const Child& child : children[k]) {
      if (visited.insert(child.hash).second) {
        all.push_back({beam[k].get(), child});
      } else {
        ++counters.duplicates;
      }
    }
  }
  std::ranges::stable_sort(all, {}, [](const Candidate& c) { return c.child.cost_us; });
  return all;
}

}  // namespace

Result beam(const Problem& problem, const Options& options) {
  Context context(problem, options);
  std::vector<StatePtr> beam{context.start()};
  std::unordered_set<uint64_t> visited;
  visited.insert(beam[0]->hash.value());
  while (!beam.empty() && context.may_continue()) {
    std::vector<std::vector<rules::Rewrite>> tried;
    for (const StatePtr& state : beam) tried.push_back(state->steps(options.max_locations));
    const auto children = context.evaluate(beam, tried);
    std::vector<StatePtr> next;
    for (const Candidate& candidate : rank(beam, children, visited, context.counters())) {
      if (next.size() == static_cast<size_t>(options.beam_width)) break;
      StatePtr state = context.build(*candidate.from, candidate.child.step);
      if (!state) continue;
      ++context.counters().steps;
      context.offer(*state);
      next.push_back(std::move(state));
    }
    beam = std::move(next);
  }
  return context.finish();
}

}  // namespace rlgo::search
