// rlgo rules axioms: every axiom at every small instance, in exact polynomials; and which proofs use it.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/shipped.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rulegen/check/bounded.h"
#include "core/rulegen/prove/mutants.h"
#include "core/rules/parser.h"
#include "launch/commands/rules.h"
#include "launch/options.h"
#include "launch/session.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace {

struct Totals {
  int64_t instances = 0, exact = 0, by_z3 = 0;
  int right = 0, wrong = 0, unknown = 0, exhaustive = 0;
};

void report(const std::string& name, const rulegen::BoundedResult& result, int64_t dims, bool expect_false,
            Totals& totals) {
  const auto& check = result.check;
  totals.instances += check.instances;
  totals.exact += check.exact;
  totals.by_z3 += check.by_z3;
  totals.exhaustive += result.exhaustive;
  const bool different = check.verdict == rulegen::Verdict::different;
  const bool good = expect_false ? different : check.verdict == rulegen::Verdict::equal && check.inexact == 0;
  totals.right += good;
  totals.wrong += different && !expect_false;
  if (expect_false && !different) ++totals.wrong;
  totals.unknown += !good && !different && !expect_false;
  const char* word = different ? "false" : check.verdict == rulegen::Verdict::equal ? "holds" : "unknown";
  std::printf("%-40s %-8s %9lld instances%s", name.c_str(), word, static_cast<long long>(check.instances),
              result.exhaustive ? "" : ", not all within the bounds");
  if (result.dims > dims) std::printf(", at extents <= %lld", static_cast<long long>(result.dims));
  if (check.by_z3 > 0) std::printf(", %lld of them proved by Z3", static_cast<long long>(check.by_z3));
  if (check.inexact > 0)
    std::printf(", %lld of them seen neither by polynomials nor by Z3", static_cast<long long>(check.inexact));
  if (!check.why.empty()) std::printf(": %s", check.why.c_str());
  std::printf("\n");
  if (different && !expect_false) std::printf("%s\n", check.counterexample->to_text().c_str());
  std::fflush(stdout);
}

// In how many proofs of the files each axiom stands. Status 1 where a proof names what is no axiom.
int report_uses(const std::vector<std::string>& axiom_files, const std::vector<std::string>& files) {
  std::map<std::string, int> uses;
  std::set<std::string> kinds, used_kinds;
  for (const auto& file : axiom_files) {
    const auto axioms = rulegen::AxiomSet::load(file);
    for (const auto& axiom : axioms->axioms()) uses[axiom.name] = 0, kinds.insert(axiom.family);
  }
  int proofs = 0;
  bool known = true;
  for (const auto& file : files) {
    for (const auto& rule : rules::parse_rules(read_file(file), file)) {
      proofs += rule.proof == "proved";
      for (const auto& name : rule.axioms) {
        const auto held = uses.find(name);
        if (held != uses.end()) ++held->second;
        if (held != uses.end() || name == "commutativity") continue;
        std::printf("%s:%d: the proof of '%s' names '%s', which is no axiom\n", file.c_str(), rule.line,
                    rule.name.c_str(), name.c_str());
        known = false;
      }
    }
  }
  std::vector<std::string> unused;
  for (const auto& [name, count] : uses) {
    if (count == 0) unused.push_back(name);
    if (count > 0) used_kinds.insert(rulegen::family_of(name));
    if (count > 0) std::printf("%-40s %5d\n", name.c_str(), count);
  }
  std::printf("in no proof: %s\n", unused.empty() ? "none" : join(unused, " ").c_str());
  std::printf(
      "%zu of %zu axioms stand in the %d proofs of %zu files; %zu of %zu kinds (axioms that differ only in "
      "the operator on single elements are one kind)\n",
      uses.size() - unused.size(), uses.size(), proofs, files.size(), used_kinds.size(), kinds.size());
  return known ? 0 : 1;
}

// Mutants of every `stride`-th axiom from `first` on; status 1 where fewer than 99 % of those that matter are refuted.
int report_mutants(const std::vector<std::string>& files, const std::vector<std::string>& names, int64_t stride,
                   int64_t first, const rulegen::BoundedOptions& options) {
  constexpr double kLeast = 0.99;
  std::map<rulegen::MutantFate, int> fates;
  const Stopwatch watch;
  for (const auto& file : files) {
    const auto axioms = rulegen::AxiomSet::load(file);
    const auto rules = rules::parse_rules(rulegen::expand_families(read_file(file), file), file);
    for (size_t k = static_cast<size_t>(first); k < rules.size() && stop_signal() == 0;
         k += static_cast<size_t>(stride)) {
      if (!names.empty() && std::ranges::find(names, rules[k].name) == names.end()) continue;
      for (auto& mutant : rulegen::mutants_of(rules[k])) {
        if (stop_signal() != 0) break;
        const auto result = rulegen::judge_mutant(rules[k], std::move(mutant), *axioms, options);
        ++fates[result.fate];
        if (result.fate != rulegen::MutantFate::survived) continue;
        std::printf("%-36s survived %6lld instances: %s\n", result.axiom.c_str(),
                    static_cast<long long>(result.instances), result.mutant.mistake.c_str());
        std::fflush(stdout);
      }
    }
  }
  const int refuted = fates[rulegen::MutantFate::refuted], survived = fates[rulegen::MutantFate::survived];
  const double share = refuted + survived == 0 ? 1 : static_cast<double>(refuted) / (refuted + survived);
  std::printf(
      "mutants: %d refuted, %d survived (%.2f %% refuted); %d never apply, %d do what the axiom "
      "does, %d follow from the axioms; %.1f s\n",
      refuted, survived, 100 * share, fates[rulegen::MutantFate::impossible], fates[rulegen::MutantFate::same],
      fates[rulegen::MutantFate::proved], watch.seconds());
  return share >= kLeast ? 0 : 1;
}

}  // namespace

int run_rules_axioms(std::vector<std::string> arguments) {
  std::vector<std::string> files, used_by;
  int64_t dims = 2, kernel = 3, tries = 4'000, instances = 200;
  int64_t stride = 1, first = 0;
  bool expect_false = false, mutants = false;
  Options options;
  options.heading("Axioms");
  options.texts("rules", files, "rule files; none means the shipped configs/rules/axioms.rules");
  options.integer("dims", dims, 1, 8, "extents go up to this");
  options.integer("kernel", kernel, 1, 7, "windows go up to this");
  options.integer("tries", tries, 1, kNoLimit,
                  "combinations per axiom to go through in order; where there are more, as many random ones are added");
  options.integer("instances", instances, 1, kNoLimit, "at fewer than so many places, more are tried and extents grow");
  options.flag("expect-false", expect_false, "each must be refuted (sets of false axioms)");
  options.flag("mutants", mutants, "judge the axioms' mutants instead: at least 99 % must be refuted");
  options.integer("every", stride, 1, kNoLimit, "mutants of every so many axioms, from --first on");
  options.integer("first", first, 0, kNoLimit, "number of the first axiom whose mutants are judged");
  options.texts("used-by", used_by, "rule files: in how many of their proofs each axiom stands, and which in none");
  const auto names = parse_rules_arguments("axioms", options, arguments);
  if (!names) return 0;
  if (files.empty()) files.push_back(shipped_config("rules/axioms.rules").string());
  if (!used_by.empty()) {
    if (!names->empty()) fail_usage("rules axioms --used-by takes no names of axioms");
    return report_uses(files, used_by);
  }
  std::string text;
  for (const auto& file : files) text += rulegen::expand_families(read_file(file), file);
  auto rules = rules::RuleSet::parse(text, join(files, "+"));
  if (!names->empty()) rules = rules->subset(*names);
  rulegen::BoundedOptions bounded;
  bounded.bounds.dims = dims;
  bounded.bounds.kernel = kernel;
  bounded.most_tries = tries;
  bounded.reads = true;
  bounded.least_instances = instances;
  bounded.stop = [] { return stop_signal() != 0; };
  if (mutants) return report_mutants(files, *names, stride, first, bounded);
  Totals totals;
  const Stopwatch watch;
  for (int r = 0; r < rules->size() && stop_signal() == 0; ++r)
    report(rules->name(r), rulegen::check_bounded(*rules, r, bounded), dims, expect_false, totals);
  std::printf(
      "%d of %d %s within extents <= %lld, windows <= %lld: %lld instances, %lld of them equal as exact polynomials, "
      "%lld proved equal by Z3, %d exhaustive, %.1f s\n",
      totals.right, rules->size(), expect_false ? "refuted" : "hold", static_cast<long long>(dims),
      static_cast<long long>(kernel), static_cast<long long>(totals.instances), static_cast<long long>(totals.exact),
      static_cast<long long>(totals.by_z3), totals.exhaustive, watch.seconds());
  return totals.right == rules->size() ? 0 : 1;
}

}  // namespace rlgo::launch
