// rlgo rules axioms: every axiom at every small instance, in exact polynomials; and which proofs use it.
#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rulegen/prove/axiom_report.h"
#include "core/rulegen/prove/prove.h"
#include "launch/commands/rules.h"
#include "launch/signals.h"

namespace rlgo::launch {

int run_rules_axioms(const std::vector<std::string>& arguments) {
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
    return rulegen::report_uses(files, used_by, print_line) ? 0 : 1;
  }
  std::string text;
  for (const auto& file : files) text += rulegen::expand_families(read_text(file), file);
  auto rules = rules::RuleSet::parse(text, join(files, "+"));
  if (!names->empty()) rules = rules->subset(*names);
  rulegen::BoundedOptions bounded;
  bounded.bounds.dims = dims;
  bounded.bounds.kernel = kernel;
  bounded.most_tries = tries;
  bounded.reads = true;
  bounded.least_instances = instances;
  bounded.of_many_axes = instances / 4;
  bounded.stop = signalled;
  if (mutants) return rulegen::report_mutants({files, *names, stride, first}, bounded, print_line) ? 0 : 1;
  const bool all = rulegen::report_axioms(*rules, bounded, expect_false, print_line);
  if (signalled()) fail("stopped by a signal: the rest was not looked at");
  return all ? 0 : 1;
}

}  // namespace rlgo::launch
