#include "core/rulegen/prove/axiom_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/rulegen/prove/true_mutants.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {
namespace {

struct Totals {
  int64_t instances = 0, exact = 0, by_z3 = 0;
  int right = 0, exhaustive = 0;
};

void report_one(const std::string& name, const BoundedResult& result, int64_t dims, bool expect_false,
                const Print& print, Totals& totals) {
  const auto& check = result.check;
  totals.instances += check.instances;
  totals.exact += check.exact;
  totals.by_z3 += check.by_z3;
  totals.exhaustive += result.exhaustive;
  const bool different = check.verdict == CheckVerdict::different;
  totals.right += expect_false ? different : check.verdict == CheckVerdict::equal && check.inexact == 0;
  std::string line = fmt::format("{:<40} {:<8} {:>9} instances{}", name,
                                 different                              ? "false"
                                 : check.verdict == CheckVerdict::equal ? "holds"
                                                                        : "unknown",
                                 check.instances, result.exhaustive ? "" : ", not all within the bounds");
  if (result.dims > dims) line += fmt::format(", at extents <= {}", result.dims);
  if (check.by_z3 > 0) line += fmt::format(", {} of them proved by Z3", check.by_z3);
  if (check.inexact > 0) line += fmt::format(", {} of them seen neither by polynomials nor by Z3", check.inexact);
  if (!check.why.empty()) line += ": " + check.why;
  if (different && !expect_false) line += "\n" + check.counterexample->to_text();
  print(line);
}

}  // namespace

bool report_axioms(const rules::RuleSet& rules, const BoundedOptions& options, bool expect_false, const Print& print) {
  Totals totals;
  const Stopwatch watch;
  for (int r = 0; r < rules.size() && !options.stop(); ++r)
    report_one(rules.name(r), check_bounded(rules, r, options), options.bounds.dims, expect_false, print, totals);
  print(fmt::format(
      "{} of {} {} within extents <= {}, windows <= {}: {} instances, {} of them equal as exact polynomials, {} proved "
      "equal by Z3, {} exhaustive, {:.1f} s",
      totals.right, rules.size(), expect_false ? "refuted" : "hold", options.bounds.dims, options.bounds.kernel,
      totals.instances, totals.exact, totals.by_z3, totals.exhaustive, watch.seconds()));
  return totals.right == rules.size();
}

bool report_uses(const std::vector<std::string>& axiom_files, const std::vector<std::string>& files,
                 const Print& print) {
  std::map<std::string, int> uses;
  std::set<std::string> kinds, used_kinds;
  for (const auto& file : axiom_files) {
    const auto axioms = AxiomSet::load(file);
    for (const auto& axiom : axioms->axioms()) uses[axiom.name] = 0, kinds.insert(axiom.family);
  }
  int proofs = 0;
  bool known = true;
  for (const auto& file : files) {
    for (const auto& rule : rules::parse_rules(read_text(file), file)) {
      proofs += rule.proof == "proved";
      for (const auto& name : rule.axioms) {
        const auto held = uses.find(name);
        if (held != uses.end()) ++held->second;
        if (held != uses.end() || name == "commutativity") continue;
        print(fmt::format("{}:{}: the proof of '{}' names '{}', which is no axiom", file, rule.line, rule.name, name));
        known = false;
      }
    }
  }
  std::vector<std::string> unused;
  for (const auto& [name, count] : uses) {
    if (count == 0) unused.push_back(name);
    if (count > 0) used_kinds.insert(family_of(name));
    if (count > 0) print(fmt::format("{:<40} {:>5}", name, count));
  }
  print("in no proof: " + (unused.empty() ? std::string("none") : join(unused, " ")));
  print(fmt::format(
      "{} of {} axioms stand in the {} proofs of {} files; {} of {} kinds (axioms that differ only in the operator on "
      "single elements are one kind)",
      uses.size() - unused.size(), uses.size(), proofs, files.size(), used_kinds.size(), kinds.size()));
  return known;
}

namespace {

struct JudgedMutants {
  std::map<MutantFate, int> fates;
  int true_by_hand = 0, wrongly_listed = 0;

  // Reports what survives, and what is listed as true and is not.
  void count(const MutantResult& result, int number, bool listed, const Print& print) {
    const auto what = fmt::format("#{} {}", number, result.mutant.mistake);
    if (listed && result.fate == MutantFate::refuted) {
      ++wrongly_listed;
      print(fmt::format("{:<36} refuted, but listed as true: {}", result.axiom, what));
    }
    if (listed && result.fate == MutantFate::survived) {
      ++true_by_hand;
      return;
    }
    ++fates[result.fate];
    if (result.fate == MutantFate::survived)
      print(fmt::format("{:<36} survived {:>6} instances: {}", result.axiom, result.instances, what));
  }
};

}  // namespace

bool report_mutants(const MutantsOfFiles& which, const BoundedOptions& options, const Print& print) {
  constexpr double kLeast = 0.99;
  JudgedMutants judged;
  const Stopwatch watch;
  for (const auto& file : which.files) {
    const auto axioms = AxiomSet::load(file);
    const auto all_true = true_mutants_beside(file);
    const auto rules = rules::parse_rules(expand_families(read_text(file), file), file);
    for (auto k = static_cast<size_t>(which.first); k < rules.size() && !options.stop();
         k += static_cast<size_t>(which.stride)) {
      if (!which.names.empty() && std::ranges::find(which.names, rules[k].name) == which.names.end()) continue;
      auto mutants = mutants_of(rules[k]);
      const auto listed = true_mutants_of(all_true, rules[k].name, mutants);
      const AxiomUnderTest axiom(rules[k], *axioms, options);
      for (int number = 1; number <= static_cast<int>(mutants.size()) && !options.stop(); ++number) {
        const auto at = static_cast<size_t>(number - 1);
        const auto result = axiom.judge(std::move(mutants[at]));
        judged.count(result, number, std::ranges::any_of(listed, [&](const auto& t) { return t.number == number; }),
                     print);
      }
    }
  }
  auto& fates = judged.fates;
  const int refuted = fates[MutantFate::refuted], survived = fates[MutantFate::survived];
  const double fraction = refuted + survived == 0 ? 1 : static_cast<double>(refuted) / (refuted + survived);
  print(fmt::format(
      "mutants: {} refuted, {} survived ({:.2f} % refuted); {} are true by hand, {} never apply, {} do what the axiom "
      "does, {} follow from the axioms; {:.1f} s",
      refuted, survived, 100 * fraction, judged.true_by_hand, fates[MutantFate::impossible], fates[MutantFate::same],
      fates[MutantFate::proved], watch.seconds()));
  return fraction >= kLeast && judged.wrongly_listed == 0;
}

}  // namespace rlgo::rulegen
