// rlgo rules bench (rlgo bench rules): how fast rules are made, proved, matched and tested on this machine.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/base/shipped.h"
#include "core/base/status_line.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rulegen/check/soundness.h"
#include "core/rulegen/generate/generate.h"
#include "core/rulegen/prove/prove.h"
#include "core/rules/parser.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"
#include "launch/model.h"
#include "launch/options.h"
#include "launch/session.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace {

struct Flags {
  std::vector<std::string> families{"2d", "4d"}, sets{"base", "runtime", "motion", "winograd", "generated"},
      graphs{"squeezenet1_1", "resnet50", "bert"};
  std::vector<std::string> parts{"generate", "prove", "match", "soundness"};
  int64_t max_ops = 3, threads = 2, rewrites = 200, applications = 20'000, most = 0;
};

double resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Of sorted numbers.
double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(std::max<size_t>(values.size(), 1));
}

std::string spread(std::vector<double> values) {
  std::ranges::sort(values);
  return fmt::format("{:.2f} / {:.2f} / {:.1f}", quantile(values, 0.5), quantile(values, 0.95), quantile(values, 1));
}

void bench_generate(const Flags& flags, StatusLine& status) {
  std::printf(
      "| family, %lld operators | generated | distinct | candidates | kept | enumerate s | prune s | tables MiB |\n"
      "|---|---|---|---|---|---|---|---|\n",
      static_cast<long long>(flags.max_ops));
  for (const auto& family : flags.families) {
    rulegen::GenerateOptions how;
    how.ops = family;
    how.max_ops = static_cast<int>(flags.max_ops);
    how.threads = static_cast<int>(flags.threads);
    how.prove = false;
    how.progress = [&](const std::string& line) {
      status.show(line);
      return stop_signal() == 0;
    };
    const auto report = rulegen::generate(how);
    status.clear();
    for (const auto& one : report.families) {
      uint64_t generated = 0, distinct = 0, candidates = 0;
      for (const auto& level : one.levels) generated += level.generated, distinct += level.distinct;
      for (const uint64_t fate : one.fates) candidates += fate;
      std::printf("| %s%s | %llu | %llu | %llu | %llu | %.1f | %.1f | %.0f |\n", one.family.c_str(),
                  one.stopped.empty() ? "" : (" (stopped: " + one.stopped + ")").c_str(),
                  static_cast<unsigned long long>(generated), static_cast<unsigned long long>(distinct),
                  static_cast<unsigned long long>(candidates),
                  static_cast<unsigned long long>(one.fates[static_cast<size_t>(rulegen::Fate::kept)]), one.enumerate_s,
                  one.prune_s, static_cast<double>(one.table_bytes) / (1 << 20));
      std::fflush(stdout);
    }
    if (stop_signal() != 0) return;
  }
  std::printf("resident at most %.0f MiB\n\n", resident_mib());
}

void bench_prove(const Flags& flags, StatusLine& status) {
  const auto axioms = rulegen::AxiomSet::load(shipped_config("rules/axioms.rules"));
  std::printf(
      "| set | rules | proved | cases | derivation ms a rule, mean, p50 / p95 / max | ms a case, p50 / p95 / max | Z3 "
      "ms, "
      "p50 / p95 "
      "/ max | check ms, p50 / p95 / max | s, one thread |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& set : flags.sets) {
    const std::string file = set.ends_with(".rules") ? set : rules::rule_set_file(set).string();
    const auto rules = rules::parse_rules(read_file(file), file);
    std::vector<double> derive, each, certify, check;
    int proved = 0;
    long long cases = 0;
    const Stopwatch watch;
    for (const auto& rule : rules) {
      if (stop_signal() != 0 || (flags.most > 0 && static_cast<int64_t>(derive.size()) == flags.most)) break;
      status.show(fmt::format("{}: {} of {}", set, derive.size(), rules.size()));
      const auto proof = rulegen::prove(rule, *axioms);
      proved += proof.verdict == rulegen::Proof::Verdict::proved;
      cases += proof.cases;
      derive.push_back(proof.derive_ms);
      each.push_back(proof.derive_ms / std::max(proof.cases, 1));
      certify.push_back(proof.certify_ms);
      check.push_back(proof.check_ms);
    }
    status.clear();
    std::printf("| %s | %zu | %d | %lld | %.2f, %s | %s | %s | %s | %.1f |\n", set.c_str(), derive.size(), proved,
                cases, mean(derive), spread(derive).c_str(), spread(each).c_str(), spread(certify).c_str(),
                spread(check).c_str(), watch.seconds());
    std::fflush(stdout);
    if (stop_signal() != 0) return;
  }
  std::printf("resident at most %.0f MiB\n\n", resident_mib());
}

// All matches from scratch, and kept up along random rewrites.
void bench_match(const Flags& flags) {
  const auto rules = rules::choose_rules({});
  std::printf(
      "| graph | nodes | rules | matches | from scratch ms | one update us, p50 / p95 / max | rewrites/s |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const auto& name : flags.graphs) {
    ModelOptions wanted;
    wanted.graph = name;
    graph::Graph graph = load_model(wanted, false).graph;
    const size_t nodes = graph.size();
    const Stopwatch whole;
    rules::MatchIndex index(rules, graph);
    const double scratch_ms = whole.us() / 1000;
    const auto matches = static_cast<long long>(index.total());
    Rng rng({1});
    std::vector<double> update_us;
    double spent_us = 0;
    while (static_cast<int64_t>(update_us.size()) < flags.rewrites && index.total() > 0 && stop_signal() == 0) {
      auto at = static_cast<int64_t>(rng.below(static_cast<uint64_t>(index.total())));
      int rule = 0;
      while (at >= static_cast<int64_t>(index.matches(rule).size()))
        at -= static_cast<int64_t>(index.matches(rule++).size());
      const Stopwatch step;
      auto rewrite = rules::apply(*rules, index.matches(rule)[static_cast<size_t>(at)], graph);
      if (!rewrite) fail("rule {}: a match that was offered does not apply to {}", rules->name(rule), name);
      const Stopwatch update;
      index.update(rewrite->graph, rewrite->delta);
      update_us.push_back(update.us());
      spent_us += step.us();
      graph = std::move(rewrite->graph);
    }
    const double rate = spent_us > 0 ? static_cast<double>(update_us.size()) * 1e6 / spent_us : 0;
    std::printf("| %s | %zu | %d | %lld | %.1f | %s | %.0f |\n", name.c_str(), nodes, rules->size(), matches,
                scratch_ms, spread(update_us).c_str(), rate);
    std::fflush(stdout);
  }
  std::printf("\n");
}

void bench_soundness(const Flags& flags, StatusLine& status) {
  rulegen::SoundnessOptions how;
  how.applications = flags.applications;
  how.go_on = [&](int64_t done) {
    status.show(fmt::format("soundness: {} applications", done));
    return stop_signal() == 0;
  };
  const auto rules = rules::choose_rules({});
  const Stopwatch watch;
  const auto result = rulegen::check_soundness(rules, how);
  status.clear();
  std::printf(
      "soundness: %lld applications of %d rules compared in the prime field (%zu rules with a counterexample, %lld "
      "incomparable, %d rules never applied): %.1f s, %.0f a second\n",
      static_cast<long long>(result.applications), rules->size(), result.counterexamples.size(),
      static_cast<long long>(result.incomparable), result.idle_rules, watch.seconds(),
      static_cast<double>(result.applications) / watch.seconds());
}

}  // namespace

int run_rules_bench(std::vector<std::string> arguments) {
  Flags flags;
  Options options;
  options.heading("Bench");
  options.texts("parts", flags.parts, "what to time: generate, prove, match, soundness");
  options.texts("families", flags.families, "sets of operators to generate from, as of rules generate --ops");
  options.integer("max-ops", flags.max_ops, 1, 5, "operators of each side of generated rules");
  options.texts("sets", flags.sets, "shipped sets or rule files to prove again");
  options.integer("most", flags.most, 0, kNoLimit, "rules of each set to prove at most; 0: all");
  options.texts("graphs", flags.graphs, "zoo graphs or .onnx files to match the default rules on");
  options.integer("rewrites", flags.rewrites, 1, kNoLimit, "random rewrites of each graph");
  options.integer("applications", flags.applications, 1, kNoLimit, "of the soundness test");
  options.integer("threads", flags.threads, 1, 256, "of the generation; everything else runs on one");
  const auto rest = parse_rules_arguments("bench", options, arguments);
  if (!rest) return 0;
  if (!rest->empty()) fail_usage("rules bench: unexpected '{}'", rest->front());
  for (const auto& part : flags.parts) {
    if (part != "generate" && part != "prove" && part != "match" && part != "soundness")
      fail_usage("rules bench: unknown part '{}'; known: generate, prove, match, soundness", part);
  }
  const auto asked = [&](const char* part) {
    return stop_signal() == 0 && std::ranges::find(flags.parts, part) != flags.parts.end();
  };
  StatusLine status(true, isatty(STDERR_FILENO) != 0);
  if (asked("generate")) bench_generate(flags, status);
  if (asked("prove")) bench_prove(flags, status);
  if (asked("match")) bench_match(flags);
  if (asked("soundness")) bench_soundness(flags, status);
  return stop_signal() == 0 ? 0 : 1;
}

}  // namespace rlgo::launch
