// rlgo bench: how fast the parts of rlgo, and runtimes, are on this machine.
#include "launch/commands/bench.h"

#include <algorithm>
#include <iterator>

#include "launch/commands/rules.h"
#include "launch/training.h"

namespace rlgo::launch {

std::vector<BenchPart> bench_parts() {
  static constexpr BenchPart kParts[] = {
      {"scale", "how a run grows with its actors", [](Context& c) { return training()->bench_scale(c); }, true},
      {"growth", "how time and memory grow with a model", run_bench_growth},
      {"same", "how often copies of a model are called different", run_bench_same},
      {"profile", "fits a cost profile to operators timed here", run_bench_profile},
      {"groups", "times groups of operators, to learn prices from", run_bench_groups},
      {"kernels", "which kernels of a runtime are slow for the machine", run_bench_kernels},
      {"verify", "the checks in double precision, next to a runtime", run_bench_verify},
      {"rules", "generation, proofs, matching of rules", [](Context& c) { return run_rules_bench(c.arguments); }}};
  std::vector<BenchPart> found;
  std::ranges::copy_if(kParts, std::back_inserter(found),
                       [](const BenchPart& part) { return !part.training || training() != nullptr; });
  return found;
}

std::string bench_usage() {
  std::string text = training() != nullptr ? "usage: rlgo bench [options]\n" : "usage: rlgo bench PART [options]\n";
  for (const auto& [name, help, run, needs_training] : bench_parts())
    text += fmt::format("       {:<29} {} (rlgo bench {} --help)\n", fmt::format("rlgo bench {} [options]", name), help,
                        name);
  return text;
}

int run_bench(Context& context) {
  for (const auto& part : bench_parts()) {
    if (context.arguments.empty() || context.arguments[0] != part.name) continue;
    context.arguments.erase(context.arguments.begin());
    return part.run(context);
  }
  Options none;
  if (training() == nullptr && asks_for_help(context.arguments) &&
      !read_command_line(none, context.arguments, bench_usage()))
    return 0;
  return training_for("rlgo bench without a part").bench(context);
}

}  // namespace rlgo::launch
