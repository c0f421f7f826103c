#include "core/rulegen/generate/bench.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/resident.h"
#include "core/base/rng.h"
#include "core/base/shipped.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/rulegen/check/soundness.h"
#include "core/rulegen/generate/generate.h"
#include "core/rulegen/prove/prove.h"
#include "core/rules/parser.h"
#include "core/rules/rule_choice.h"

namespace rlgo::rulegen {
namespace {

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

// The same by name: NAME_p50, NAME_p95, NAME_max.
void add_spread(BenchRow& row, const std::string& name, std::vector<double> values) {
  std::ranges::sort(values);
  row.emplace_back(name + "_p50", quantile(values, 0.5));
  row.emplace_back(name + "_p95", quantile(values, 0.95));
  row.emplace_back(name + "_max", quantile(values, 1));
}

}  // namespace

void declare(OptionSink& o, BenchOptions& bench) {
  o.texts("families", bench.families, "sets of operators to generate from, as of rules generate --ops");
  o.integer("max-ops", bench.max_ops, 1, 5, "operators of each side of generated rules");
  o.texts("sets", bench.sets, "shipped sets or rule files to prove again");
  o.integer("most", bench.most, 0, kNoLimit, "rules of each set to prove at most; 0: all");
  o.integer("rewrites", bench.rewrites, 1, kNoLimit, "random rewrites of each graph");
  o.integer("applications", bench.applications, 1, kNoLimit, "of the soundness test");
  o.integer("threads", bench.threads, 1, 256, "of the generation; everything else runs on one");
}

std::vector<BenchRow> bench_generate(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  options.print(fmt::format(
      "| family, {} operators | generated | distinct | candidates | kept | enumerate s, prune s, tables MiB |\n"
      "|---|---|---|---|---|---|",
      options.max_ops));
  for (const auto& family : options.families) {
    GenerateOptions how;
    how.ops = family;
    how.max_ops = options.max_ops;
    how.threads = options.threads;
    how.prove = false;
    how.progress = [&](const std::string& line) {
      options.show(line);
      return !options.stop();
    };
    const auto report = generate(how);
    options.show("");
    for (const auto& one : report.families) {
      uint64_t generated = 0, distinct = 0, candidates = 0;
      for (const auto& level : one.levels) generated += level.generated, distinct += level.distinct;
      for (const uint64_t fate : one.fates) candidates += fate;
      options.print(fmt::format("| {}{} | {} | {} | {} | {} | {:.1f}, {:.1f}, {:.0f} |", one.family,
                                one.stopped.empty() ? "" : " (stopped: " + one.stopped + ")", generated, distinct,
                                candidates, one.fates[static_cast<size_t>(Fate::kept)], one.enumerate_s, one.prune_s,
                                static_cast<double>(one.table_bytes) / (1 << 20)));
      rows.push_back({{"family", one.family},
                      {"stopped", one.stopped},
                      {"generated", static_cast<int64_t>(generated)},
                      {"distinct", static_cast<int64_t>(distinct)},
                      {"candidates", static_cast<int64_t>(candidates)},
                      {"kept", static_cast<int64_t>(one.fates[static_cast<size_t>(Fate::kept)])},
                      {"enumerate_s", one.enumerate_s},
                      {"prune_s", one.prune_s},
                      {"table_bytes", static_cast<int64_t>(one.table_bytes)}});
    }
    if (options.stop()) return rows;
  }
  options.print(fmt::format("resident at most {:.0f} MiB\n", peak_resident_bytes() / 1048576));
  return rows;
}

std::vector<BenchRow> bench_prove(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  const auto axioms = AxiomSet::load(shipped_config("rules/axioms.rules"));
  options.print(
      "p50 / p95 / max of times:\n\n| set | rules, proved, cases; s, one thread | derivation ms a rule, mean | ms a "
      "case "
      "| Z3 ms | check ms |\n|---|---|---|---|---|---|");
  for (const auto& set : options.sets) {
    const std::string file = set.ends_with(".rules") ? set : rules::rule_set_file(set).string();
    const auto rules = rules::parse_rules(read_text(file), file);
    std::vector<double> derive, each, certify, check;
    int proved = 0;
    long long cases = 0;
    const Stopwatch watch;
    for (const auto& rule : rules) {
      if (options.stop() || (options.most > 0 && static_cast<int64_t>(derive.size()) == options.most)) break;
      options.show(fmt::format("{}: {} of {}", set, derive.size(), rules.size()));
      const auto proof = prove(rule, *axioms);
      proved += proof.verdict == Proof::Verdict::proved;
      cases += proof.cases;
      derive.push_back(proof.derive_ms);
      each.push_back(proof.derive_ms / std::max(proof.cases, 1));
      certify.push_back(proof.certify_ms);
      check.push_back(proof.check_ms);
    }
    options.show("");
    options.print(fmt::format("| {} | {}, {}, {}; {:.1f} | {:.2f}, {} | {} | {} | {} |", set, derive.size(), proved,
                              cases, watch.seconds(), mean(derive), spread(derive), spread(each), spread(certify),
                              spread(check)));
    BenchRow& row = rows.emplace_back();
    row = {{"set", set},
           {"rules", static_cast<int64_t>(derive.size())},
           {"proved", int64_t{proved}},
           {"cases", int64_t{cases}},
           {"seconds", watch.seconds()},
           {"derive_ms_mean", mean(derive)}};
    add_spread(row, "derive_ms", derive);
    add_spread(row, "case_ms", each);
    add_spread(row, "z3_ms", certify);
    add_spread(row, "check_ms", check);
    if (options.stop()) return rows;
  }
  options.print(fmt::format("resident at most {:.0f} MiB\n", peak_resident_bytes() / 1048576));
  return rows;
}

// All matches from scratch, and kept up along random rewrites.
std::vector<BenchRow> bench_match(const std::vector<std::pair<std::string, graph::Graph>>& graphs,
                                  const BenchOptions& options) {
  std::vector<BenchRow> rows;
  const auto rules = rules::choose_rules({});
  options.print(
      "| graph | nodes, rules, matches | from scratch ms | one update us, p50 / p95 / max | rewrites/s |\n"
      "|---|---|---|---|---|");
  for (const auto& [name, start] : graphs) {
    graph::Graph graph = start;
    const size_t nodes = graph.size();
    const Stopwatch whole;
    rules::MatchIndex index(rules, graph);
    const double scratch_ms = whole.us() / 1000;
    const auto matches = index.total();
    Rng rng({1});
    std::vector<double> update_us;
    double spent_us = 0;
    while (static_cast<int64_t>(update_us.size()) < options.rewrites && index.total() > 0 && !options.stop()) {
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
    options.print(fmt::format("| {} | {}, {}, {} | {:.1f} | {} | {:.0f} |", name, nodes, rules->size(), matches,
                              scratch_ms, spread(update_us), rate));
    BenchRow& row = rows.emplace_back();
    row = {{"graph", name},
           {"nodes", static_cast<int64_t>(nodes)},
           {"rules", int64_t{rules->size()}},
           {"matches", int64_t{matches}},
           {"from_scratch_ms", scratch_ms},
           {"rewrites_per_s", rate}};
    add_spread(row, "update_us", update_us);
  }
  options.print("");
  return rows;
}

std::vector<BenchRow> bench_soundness(const BenchOptions& options) {
  SoundnessOptions how;
  how.applications = options.applications;
  how.go_on = [&](int64_t done) {
    options.show(fmt::format("soundness: {} applications", done));
    return !options.stop();
  };
  const auto rules = rules::choose_rules({});
  const Stopwatch watch;
  const auto result = check_soundness(rules, how);
  options.show("");
  const double seconds = watch.seconds();
  options.print(fmt::format(
      "soundness: {} applications of {} rules compared in the prime field ({} rules with a counterexample, {} "
      "incomparable, {} rules never applied): {:.1f} s, {:.0f} a second",
      result.applications, rules->size(), result.counterexamples.size(), result.incomparable, result.idle_rules,
      seconds, static_cast<double>(result.applications) / seconds));
  return {{{"applications", static_cast<int64_t>(result.applications)},
           {"rules", int64_t{rules->size()}},
           {"counterexamples", static_cast<int64_t>(result.counterexamples.size())},
           {"incomparable", static_cast<int64_t>(result.incomparable)},
           {"idle_rules", static_cast<int64_t>(result.idle_rules)},
           {"seconds", seconds},
           {"applications_per_s", static_cast<double>(result.applications) / seconds}}};
}

}  // namespace rlgo::rulegen
