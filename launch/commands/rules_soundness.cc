// rlgo rules soundness: rules applied at random places of random graphs, outputs compared in the prime field.
#include <cstdio>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/onnx/onnx.h"
#include "core/options/options.h"
#include "core/rulegen/check/soundness.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"
#include "launch/signals.h"

namespace rlgo::launch {

int run_rules_soundness(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  std::string folder;
  int64_t every = 1'000;
  rulegen::SoundnessOptions soundness;
  Options options;
  options.heading("Soundness");
  options.texts("rules", files, "rule files; none means the shipped set");
  options.integer("applications", soundness.applications, 1, kNoLimit, "how often rules are applied in all");
  options.integer("least", soundness.least, 0, kNoLimit,
                  "of each rule: one that was applied less often gets up to 2,000 graphs more");
  options.text("pairs", folder, "folder for pairs of ONNX files, before and after, for a check in another runtime");
  options.integer("every", every, 1, kNoLimit, "one pair of so many applications");
  options.integer("seed", soundness.seed, 0, kNoLimit, "seed of the graphs");
  const auto rest = parse_rules_arguments("soundness", options, arguments);
  if (!rest) return 0;
  auto rules = chosen_rules(files);
  if (!rest->empty()) rules = rules->subset(*rest);
  int64_t seen = 0, written = 0;
  if (!folder.empty()) {
    std::filesystem::create_directories(folder);
    soundness.pair = [&](int rule, const graph::Graph& before, const graph::Graph& after) {
      if (seen++ % every != 0) return;
      const auto stem = std::filesystem::path(folder) / fmt::format("{:06}-{}", written, rules->name(rule));
      try {
        onnx_io::export_graph(before, {}, stem.string() + "-before.onnx");
        onnx_io::export_graph(after, {}, stem.string() + "-after.onnx");
        ++written;
      } catch (const Error&) {  // what ONNX cannot express
        std::filesystem::remove(stem.string() + "-before.onnx");
      }
    };
  }
  const Stopwatch watch;
  double printed_s = 0;
  soundness.go_on = [&](int64_t done) {
    if (watch.seconds() - printed_s >= 10) {
      printed_s = watch.seconds();
      std::fprintf(stderr, "%lld applications, %.0f s\n", static_cast<long long>(done), printed_s);
    }
    return !signalled();
  };
  const auto result = rulegen::check_soundness(rules, soundness);
  for (const auto& [rule, example] : result.counterexamples)
    std::printf("%s: not sound\n%s\n", rules->name(rule).c_str(), example.to_text().c_str());
  for (int r = 0; r < rules->size(); ++r) {
    const auto count = result.by_rule[static_cast<size_t>(r)];
    if (count < 100 && (count == 0 || soundness.applications >= int64_t{100} * rules->size()))
      std::printf("%s: applied %lld times\n", rules->name(r).c_str(), static_cast<long long>(count));
  }
  std::printf(
      "%lld applications of %d rules (%d fewer than 100 times, %d never): %zu rules with a counterexample; %lld "
      "applications equal but "
      "for rounded constants or without a meaning over the reals; %.1f s\n",
      static_cast<long long>(result.applications), rules->size(), result.seldom_rules, result.idle_rules,
      result.counterexamples.size(), static_cast<long long>(result.incomparable), watch.seconds());
  if (signalled()) fail("stopped by a signal before all applications were made");
  return result.counterexamples.empty() ? 0 : 1;
}

}  // namespace rlgo::launch
