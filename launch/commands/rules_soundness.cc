// rlgo rules soundness: rules applied at random places of random graphs, outputs compared in the prime field.
#include <cstdio>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/rulegen/check/soundness.h"
#include "launch/commands/rules.h"
#include "launch/options.h"
#include "launch/signals.h"

namespace rlgo::launch {

int run_rules_soundness(std::vector<std::string> arguments) {
  std::vector<std::string> files;
  int64_t applications = 20'000, seed = 1;
  Options options;
  options.heading("Soundness");
  options.texts("rules", files, "rule files; none means the shipped set");
  options.integer("applications", applications, 1, kNoLimit, "how often rules are applied in all");
  options.integer("seed", seed, 0, kNoLimit, "seed of the graphs");
  const auto rest = parse_rules_arguments("soundness", options, arguments);
  if (!rest) return 0;
  auto rules = rules_of(files);
  if (!rest->empty()) rules = rules->subset(*rest);
  rulegen::SoundnessOptions soundness;
  soundness.applications = applications;
  soundness.seed = static_cast<uint64_t>(seed);
  const Stopwatch watch;
  double told = 0;
  soundness.go_on = [&](int64_t done) {
    if (watch.seconds() - told >= 10) {
      told = watch.seconds();
      std::fprintf(stderr, "%lld applications, %.0f s\n", static_cast<long long>(done), told);
    }
    return stop_signal() == 0;
  };
  const auto result = rulegen::check_soundness(rules, soundness);
  for (const auto& [rule, example] : result.counterexamples)
    std::printf("%s: not sound\n%s\n", rules->name(rule).c_str(), example.to_text().c_str());
  for (int r = 0; r < rules->size(); ++r) {
    if (result.by_rule[static_cast<size_t>(r)] == 0) std::printf("%s: never applied\n", rules->name(r).c_str());
  }
  std::printf(
      "%lld applications of %d rules (%d never applied): %zu rules with a counterexample; %lld applications equal but "
      "for rounded constants or without a meaning over the reals; %.1f s\n",
      static_cast<long long>(result.applications), rules->size(), result.idle_rules, result.counterexamples.size(),
      static_cast<long long>(result.incomparable), watch.seconds());
  return result.counterexamples.empty() ? 0 : 1;
}

}  // namespace rlgo::launch
