// rlgo rules import, rlgo rules cover: rules of others, read and judged.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/shipped.h"
#include "core/base/stopwatch.h"
#include "core/base/usage.h"
#include "core/rulegen/taso/cover.h"
#include "core/rulegen/taso/taso_rules.h"
#include "core/rules/parser.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"
#include "launch/options.h"
#include "launch/session.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace {

using rulegen::Cover;
using rulegen::ForeignRule;

std::vector<ForeignRule> read_dump(const std::string& file) {
  return file.ends_with(".pb") ? rulegen::read_taso_protobuf(read_file(file), file)
                               : rulegen::read_taso(read_file(file), file);
}

// A rule file as it is, or TASO's text or protobuf file.
std::vector<ForeignRule> read_foreign(const std::string& file) {
  if (!file.ends_with(".rules")) return read_dump(file);
  std::vector<ForeignRule> foreign;
  for (const auto& rule : rules::parse_rules(read_file(file), file)) {
    auto& one = foreign.emplace_back();
    one.name = rule.name;
    one.text = rules::to_text(rule);
  }
  return foreign;
}

// Nothing where the rule does not compile; then `why` says so.
std::shared_ptr<const rules::RuleSet> compiled(const ForeignRule& rule, std::string& why) {
  if (rule.text.empty()) {
    why = rule.unsayable;
    return nullptr;
  }
  try {
    return rules::RuleSet::parse(rule.text, rule.name);
  } catch (const Error& error) {
    why = error.what();
    return nullptr;
  }
}

std::shared_ptr<const rules::RuleSet> proved_rules(const std::vector<std::string>& files) {
  auto taken = files;
  if (taken.empty()) {
    for (const auto& file : rules::shipped_rules()) taken.push_back(file.string());
    taken.push_back(shipped_config("rules/coverage.rules").string());
  }
  const auto all = rules::chosen_or_all(taken);
  std::vector<std::string> names;
  for (int k = 0; k < all->size(); ++k) {
    if (all->proof(k) == rules::Proof::proved) names.push_back(all->name(k));
  }
  if (names.empty()) fail("rules cover: no rule of these files is proved; rlgo rules verify FILE --write proves them");
  return all->subset(names);
}

struct Judged {
  std::optional<rulegen::CoverResult> result;  // nothing: a signal came first
  bool unsayable = false;
};

class CoverRun {
 public:
  CoverRun(std::vector<ForeignRule> foreign, const std::vector<std::string>& known, const std::string& axioms,
           rulegen::CoverOptions options)
      : foreign_(std::move(foreign)),
        judged_(foreign_.size()),
        known_(proved_rules(known)),
        axioms_(rulegen::AxiomSet::load(axioms)),
        options_(options) {}

  void run(int threads) {
    std::vector<std::thread> pool;
    for (int k = 1; k < threads; ++k) pool.emplace_back([this] { work(); });
    work();
    for (auto& thread : pool) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  int summarise(double seconds) const {
    std::array<int, rulegen::kCovers> counts{};
    const auto of = [&counts](Cover cover) { return counts[static_cast<size_t>(cover)]; };
    int unsayable = 0, reversed = 0, stopped = 0;
    for (size_t k = 0; k < judged_.size(); ++k) {
      if (!judged_[k].result) ++stopped;
      if (!judged_[k].result) continue;
      ++counts[static_cast<size_t>(judged_[k].result->cover)];
      unsayable += judged_[k].unsayable ? 1 : 0;
      reversed += foreign_[k].reversed && !judged_[k].unsayable ? 1 : 0;
    }
    std::printf(
        "%zu rules against %d proved ones: %d contained, %d derived (two applications), %d further (three or four), %d "
        "proved, %d refuted, %d unknown (%d of them not sayable or not typed); %d read from right to left",
        judged_.size(), known_->size(), of(Cover::contained), of(Cover::derived), of(Cover::further), of(Cover::proved),
        of(Cover::refuted), of(Cover::unknown), unsayable, reversed);
    if (stopped > 0) std::printf("; stopped before %d", stopped);
    std::printf("; %.1f s\n", seconds);
    return of(Cover::refuted) + of(Cover::unknown) + stopped == 0 ? 0 : 1;
  }

 private:
  void work() {
    for (size_t k = next_++; k < foreign_.size() && stop_signal() == 0; k = next_++) {
      try {
        judge(k);
      } catch (...) {
        const std::lock_guard lock(output_);
        failure_ = std::current_exception();
        next_ = foreign_.size();
      }
    }
  }

  void judge(size_t k) {
    const ForeignRule& foreign = foreign_[k];
    rulegen::CoverResult result;
    const auto rule = compiled(foreign, result.reason);
    if (rule && foreign.trivial) result = {Cover::contained, "both sides are the same"};
    if (rule && !foreign.trivial) result = rulegen::cover(*rule, known_, *axioms_, options_);
    const std::lock_guard lock(output_);
    std::printf("%-10s %s%s  %s\n", rulegen::name(result.cover), foreign.name.c_str(),
                foreign.reversed ? " (from right to left)" : "", foreign.source.c_str());
    if (!result.reason.empty())
      std::printf("%s%s\n", result.cover == Cover::refuted ? "" : "  ", result.reason.c_str());
    std::fflush(stdout);
    judged_[k] = {std::move(result), rule == nullptr};
  }

  std::vector<ForeignRule> foreign_;
  std::vector<Judged> judged_;
  std::shared_ptr<const rules::RuleSet> known_;
  std::shared_ptr<const rulegen::AxiomSet> axioms_;
  rulegen::CoverOptions options_;
  std::atomic<size_t> next_{0};
  std::mutex output_;
  std::exception_ptr failure_;
};

}  // namespace

int run_rules_import(std::vector<std::string> arguments) {
  std::string out;
  Options options;
  options.heading("Import");
  options.text("out", out, "rule file to write");
  const auto files = parse_rules_arguments("import", options, arguments);
  if (!files) return 0;
  if (files->size() != 1)
    fail_usage("rules import needs one file: TASO's rules, FILE.pb (graph_subst.pb) or a text dump");
  if (out.empty()) fail_usage("rules import needs --out FILE.rules");
  std::string text = "# Imported from TASO's rules, with what TASO's matcher asks and no more: unproved.\n";
  int count = 0, reversed = 0, left_out = 0;
  for (const auto& rule : read_dump(files->front())) {
    std::string why;
    if (!compiled(rule, why)) {
      std::printf("%s: %s\n  %s\n", rule.name.c_str(), why.c_str(), rule.source.c_str());
      ++left_out;
      continue;
    }
    text += "\n# " + rule.source + "\n" + rule.text;
    ++count;
    reversed += rule.reversed ? 1 : 0;
  }
  atomic_write(out, text);
  std::printf("wrote %s: %d rules (%d of them from right to left), %d left out\n", out.c_str(), count, reversed,
              left_out);
  return 0;
}

int run_rules_cover(std::vector<std::string> arguments) {
  std::vector<std::string> known, only;
  std::string axioms;
  int64_t threads = 1, instances = 60, seed = 1, applications = 4;
  Options options;
  options.heading("Cover");
  options.texts("rules", known,
                "rule files whose proved rules are the known ones; none means the shipped set and coverage.rules");
  options.texts("only", only, "names of the rules to judge; none means all");
  options.text("axioms", axioms, "what proofs start from; empty means the shipped configs/rules/axioms.rules");
  options.integer("threads", threads, 1, 256, "rules that are judged at a time");
  options.integer("instances", instances, 1, 100'000,
                  "random places of application that are searched for a counterexample");
  options.integer("applications", applications, 2, 4, "of known rules that are tried in a row");
  options.integer("seed", seed, 0, kNoLimit, "of the random places");
  const auto files = parse_rules_arguments("cover", options, arguments);
  if (!files) return 0;
  if (files->size() != 1)
    fail_usage("rules cover needs one file: TASO's rules (FILE.pb or a text dump), or FILE.rules");
  if (axioms.empty()) axioms = shipped_config("rules/axioms.rules").string();
  auto foreign = read_foreign(files->front());
  if (!only.empty())
    std::erase_if(foreign, [&](const auto& r) { return std::ranges::find(only, r.name) == only.end(); });
  rulegen::CoverOptions how;
  how.check_instances = static_cast<int>(instances);
  how.applications = static_cast<int>(applications);
  how.seed = static_cast<uint64_t>(seed);
  const Stopwatch watch;
  CoverRun run(std::move(foreign), known, axioms, how);
  run.run(static_cast<int>(threads));
  return run.summarise(watch.seconds());
}

}  // namespace rlgo::launch
