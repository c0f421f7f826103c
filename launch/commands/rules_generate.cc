// rlgo rules generate: substitutions from a set of operators, proved.
#include <unistd.h>

#include <cstdio>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/resident.h"
#include "core/base/shipped.h"
#include "core/base/status_line.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rulegen/generate/generate.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace {

struct Flags {
  std::string out, unproved, explain, axioms, resume;
  std::vector<std::string> known;
  int64_t memory_mib = 4096, seconds = 0;
  bool all_known = false, count_only = false;
};

void declare(Options& options, Flags& flags, rulegen::GenerateOptions& how) {
  rulegen::declare(options, how);
  options.text("out", flags.out, "file for the proved rules");
  options.text("unproved", flags.unproved,
               "file for what is equal at all tested shapes but not proved (missing axioms)");
  options.text("explain", flags.explain, "file for all pruned pairs and why they were pruned; - for standard output");
  options.integer("seconds", flags.seconds, 0, kNoLimit,
                  "stop then, with what there is; --resume continues; 0: no bound");
  options.integer("memory", flags.memory_mib, 1, 1 << 20, "bound for the tables, MiB");
  options.texts("known", flags.known, "rule files whose rules are not written again; none means the hand-written ones");
  options.flag("all", flags.all_known, "also rules that are known already");
  options.flag("count", flags.count_only, "stop before the proofs");
  options.text("axioms", flags.axioms, "what proofs start from; empty means the shipped configs/rules/axioms.rules");
  options.text("resume", flags.resume, "folder that keeps levels and proofs that are done, and takes them up again");
}

}  // namespace

int run_rules_generate(const std::vector<std::string>& arguments) {
  Flags flags;
  rulegen::GenerateOptions how;
  how.threads = 2;
  Options options;
  declare(options, flags, how);
  const auto positional = parse_rules_arguments("generate", options, arguments);
  if (!positional) return 0;
  if (!positional->empty()) fail_usage("rules generate: unexpected '{}'", positional->front());
  if (flags.out.empty() && !flags.count_only) fail_usage("rules generate needs --out FILE (or --count)");
  how.memory_bytes = static_cast<uint64_t>(flags.memory_mib) << 20;
  how.prove = !flags.count_only;
  how.state = flags.resume;
  if (!how.state.empty()) std::filesystem::create_directories(how.state);
  if (how.prove) {
    if (flags.axioms.empty()) {
      flags.axioms = shipped_config("rules/axioms.rules").string();
    }
    how.axioms = rulegen::AxiomSet::load(flags.axioms);
    if (flags.known.empty()) {
      flags.known = {shipped_config("rules/base.rules").string()};
    }
    if (!flags.all_known) how.known = rules::chosen_or_all(flags.known);
  }
  if (!flags.explain.empty()) how.explain = rulegen::explain_to(flags.explain);
  const Stopwatch watch;
  StatusLine status(true, isatty(STDERR_FILENO) != 0);
  how.progress = [&](const std::string& line) {
    status.show(line);
    return !signalled() && (flags.seconds == 0 || watch.seconds() < static_cast<double>(flags.seconds));
  };
  const auto report = rulegen::generate(how);
  status.clear();
  std::printf("%s%zu rules; %s in all, %s resident at most\n", rulegen::to_text(report).c_str(), report.rules.size(),
              human_seconds(watch.seconds()).c_str(), human_bytes(peak_resident_bytes()).c_str());
  const bool nothing = report.rules.empty() && signalled();  // an older file is worth more
  if (!flags.out.empty() && how.prove && !nothing)
    atomic_write(flags.out, rulegen::file_text(report, "rlgo rules generate " + join(arguments, " ")));
  if (!flags.unproved.empty()) atomic_write(flags.unproved, rulegen::unproved_text(report));
  bool whole = true;
  for (const auto& family : report.families) whole &= family.stopped.empty();
  return whole ? 0 : 1;
}

}  // namespace rlgo::launch
