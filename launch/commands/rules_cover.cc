// rlgo rules import, rlgo rules cover: rules of others, read and judged.
#include <algorithm>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/shipped.h"
#include "core/base/stopwatch.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rulegen/taso/cover_all.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace {

std::shared_ptr<const rules::RuleSet> proved_rules(const std::vector<std::string>& files) {
  auto taken = files;
  if (taken.empty()) {
    for (const auto& file : rules::shipped_rules()) taken.push_back(file.string());
    taken.push_back(shipped_config("rules/coverage.rules").string());
  }
  const auto all = chosen_rules(taken);
  std::vector<std::string> names;
  for (int k = 0; k < all->size(); ++k) {
    if (all->proof(k) == rules::Proof::proved) names.push_back(all->name(k));
  }
  if (names.empty()) fail("rules cover: no rule of these files is proved; rlgo rules verify FILE --write proves them");
  return all->subset(names);
}

}  // namespace

int run_rules_import(const std::vector<std::string>& arguments) {
  std::string out;
  Options options;
  options.heading("Import");
  options.text("out", out, "rule file to write");
  const auto files = parse_rules_arguments("import", options, arguments);
  if (!files) return 0;
  if (files->size() != 1)
    fail_usage("rules import needs one file: TASO's rules, FILE.pb (graph_subst.pb) or a text dump");
  if (out.empty()) fail_usage("rules import needs --out FILE.rules");
  const auto imported = rulegen::import_rules(rulegen::read_dump(files->front()), print_line);
  atomic_write(out, imported.text);
  std::printf("wrote %s: %d rules (%d of them from right to left), %d left out\n", out.c_str(), imported.rules,
              imported.reversed, imported.left_out);
  return 0;
}

int run_rules_cover(const std::vector<std::string>& arguments) {
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
  auto to_cover = rulegen::read_rules_to_cover(files->front());
  if (!only.empty())
    std::erase_if(to_cover, [&](const auto& r) { return std::ranges::find(only, r.name) == only.end(); });
  rulegen::CoverAllOptions how;
  how.cover.check_instances = static_cast<int>(instances);
  how.cover.applications = static_cast<int>(applications);
  how.cover.seed = static_cast<uint64_t>(seed);
  how.threads = static_cast<int>(threads);
  how.stop = signalled;
  how.print = print_line;
  const Stopwatch watch;
  const auto rules = proved_rules(known);
  const auto counts = rulegen::cover_all(to_cover, rules, *rulegen::AxiomSet::load(axioms), how);
  std::printf("%s", rulegen::to_text(counts, rules->size(), watch.seconds()).c_str());
  return counts.all_hold() ? 0 : 1;
}

}  // namespace rlgo::launch
