#include "core/search/search.h"

#include <array>

#include "core/base/error.h"
#include "core/base/isolate.h"
#include "core/base/text.h"
#include "core/search/context.h"
#include "core/search/trace.h"

namespace rlgo::search {
namespace {

struct Method {
  const char* name;
  Result (*run)(const Problem&, const Options&);
};
constexpr auto kMethods = std::to_array<Method>({
    {"greedy", greedy},
    {"sweep", sweep},
    {"taso", taso},
    {"anneal", anneal},
    {"window", window},
    {"portfolio", portfolio},
    {"metaflow", metaflow},
    {"beam", beam},
    {"random", random_walks},
    {"egraph", egraph},
});

const Method& find_method(const std::string& method) {
  for (const Method& known : kMethods) {
    if (method == known.name) return known;
  }
  const auto all = names();
  fail("no search method named '{}'{}; there are {}", method, did_you_mean(method, all), join(all, ", "));
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

bool gives_trace(const std::string& method) { return find_method(method).run != egraph; }

Result run(const std::string& method, const Problem& problem, const Options& options) {
  const Method& found = find_method(method);
  check_bounds(options);
  Options bounded = options;
  // A method holds at most its bound and half as much again: the rest of the machine's memory is for others.
  if (options.memory_mib == 0) bounded.memory_mib = static_cast<double>(available_memory_bytes() >> 20) / 2;
  Result result = found.run(problem, bounded);
  if (!options.minimal || result.trace.empty()) return result;
  auto [trace, complete] = minimal_trace(problem, result.trace, options.max_locations, options.stop_minimising);
  result.trace = std::move(trace);
  if (!complete) {
    if (!result.note.empty()) result.note += "; ";
    result.note += "the time was too short to minimise the trace: it may hold redundant rewrites";
  }
  result.graph = replay(problem.graph, problem.rules, result.trace);
  const double after_us = cost::graph_cost(problem.cost, result.graph).runtime_us;
  if (after_us < result.after_us - 1e-9 * result.before_us) {  // what was left out had cost something
    result.curve.push_back({result.seconds, result.counters.candidates, after_us});
  }
  result.after_us = after_us;
  return result;
}

}  // namespace rlgo::search
