// rlgo rules check: looks for counterexamples by evaluation, in the prime field and in exact polynomials.
#include <cstdio>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/options/options.h"
#include "core/rulegen/check/check.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"

namespace rlgo::launch {

int run_rules_check(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  int64_t instances = 40, seed = 1;
  Options options;
  options.heading("Check");
  options.texts("rules", files, "rule files; none means the shipped set");
  options.integer("instances", instances, 1, 1'000'000, "random places of application of each rule to compare");
  options.integer("seed", seed, 0, kNoLimit, "seed of the instances");
  const auto names = parse_rules_arguments("check", options, arguments);
  if (!names) return 0;
  auto rules = chosen_rules(files);
  if (!names->empty()) rules = rules->subset(*names);
  rulegen::CheckOptions check;
  check.instances = static_cast<int>(instances);
  check.attempts = static_cast<int>(std::max<int64_t>(20'000, 100 * instances));
  check.seed = static_cast<uint64_t>(seed);
  int counts[3] = {};
  int64_t compared = 0, exact = 0, by_z3 = 0;
  const Stopwatch watch;
  for (int r = 0; r < rules->size(); ++r) {
    const auto result = rulegen::check_rule(*rules, r, check);
    ++counts[static_cast<int>(result.verdict)];
    compared += result.instances;
    exact += result.exact;
    by_z3 += result.by_z3;
    if (result.verdict == rulegen::CheckVerdict::different) {
      std::printf("%s: different\n%s\n", rules->name(r).c_str(), result.counterexample->to_text().c_str());
    } else if (result.verdict == rulegen::CheckVerdict::unknown) {
      std::printf("%s: unknown: %s\n", rules->name(r).c_str(), result.why.c_str());
    } else if (result.exact + result.by_z3 == 0) {
      std::printf(
          "%s: no difference in %lld instances, none of them confirmed by exact polynomials or Z3 (%lld tried)\n",
          rules->name(r).c_str(), static_cast<long long>(result.instances), static_cast<long long>(result.inexact));
    }
  }
  std::printf(
      "%d rules: %d without a difference, %d different, %d unknown; %lld instances compared, %lld of them as exact "
      "polynomials, %lld proved by Z3 at their shapes, %.1f s\n",
      rules->size(), counts[0], counts[1], counts[2], static_cast<long long>(compared), static_cast<long long>(exact),
      static_cast<long long>(by_z3), watch.seconds());
  return counts[1] + counts[2] == 0 ? 0 : 1;
}

}  // namespace rlgo::launch
