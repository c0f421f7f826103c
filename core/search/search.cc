#include "core/search/search.h"

#include <array>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/search/session.h"

namespace rlgo::search {
namespace {

struct Method {
  const char* name;
  Result (*run)(const Problem&, const Options&);
};
constexpr auto kMethods = std::to_array<Method>({
    {"greedy", greedy},
    {"random", random_walks},
});

void check_at_least_one(const char* option, int64_t value) {
  if (value < 1) fail("search: {} must be at least 1, not {}", option, value);
}

}  // namespace

std::string_view name(StopReason reason) {
  switch (reason) {
    case StopReason::finished:
      return "finished";
    case StopReason::budget:
      return "budget";
    case StopReason::stopped:
      return "stopped";
  }
  fail("no stop reason has the number {}", static_cast<int>(reason));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Method& method : kMethods) all.emplace_back(method.name);
  return all;
}

Result run(const std::string& method, const Problem& problem, const Options& options) {
  check_at_least_one("budget", options.budget);
  check_at_least_one("max_locations", options.max_locations);
  check_at_least_one("walk_length", options.walk_length);
  for (const Method& known : kMethods) {
    if (method == known.name) return known.run(problem, options);
  }
  const auto all = names();
  fail("no search method named '{}'{}; there are {}", method, did_you_mean(method, all), join(all, ", "));
}

graph::Graph replay(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules,
                    std::span<const Step> trace) {
  rules::MatchIndex index(rules, graph);
  graph::Graph current = graph;
  for (size_t k = 0; k < trace.size(); ++k) {
    const auto [rule, location] = trace[k];
    if (rule < 0 || rule >= rules->size()) fail("trace, step {}: no rule has the number {}", k + 1, rule);
    const auto matches = index.matches(rule);
    if (location < 0 || static_cast<size_t>(location) >= matches.size()) {
      fail("trace, step {}: rule '{}' has {} locations here, and not number {}", k + 1, rules->name(rule),
           matches.size(), location);
    }
    auto rewrite = rules::apply(*rules, matches[static_cast<size_t>(location)], current);
    if (!rewrite) fail("trace, step {}: rule '{}' does not apply at location {}", k + 1, rules->name(rule), location);
    current = std::move(rewrite->graph);
    index.update(current, rewrite->delta);
  }
  return current;
}

}  // namespace rlgo::search
