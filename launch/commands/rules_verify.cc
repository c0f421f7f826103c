// rlgo rules verify: proves the rules of files again.
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/shipped.h"
#include "core/base/stopwatch.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rulegen/prove/prove_all.h"
#include "core/rules/shipped_proofs.h"
#include "launch/commands/command.h"
#include "launch/commands/rules.h"
#include "launch/output.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace {

// Members of the document "rlgo.rules-verify/1".
Json to_json(const rulegen::Proofs& work, const rulegen::ProofTotals& sum, double seconds) {
  Json rules = Json::array();
  for (size_t k = 0; k < work.rules.size(); ++k) {
    const auto& rule = work.rules[k];
    const rulegen::Proof& proof = work.proofs[k];
    const bool proved = work.tried[k] && proof.verdict == rulegen::Proof::Verdict::proved;
    rules.push_back({{"rule", rule.name},
                     {"file", rule.file},
                     {"verdict", work.tried[k] ? Json(name(proof.verdict)) : Json("not_tried")},
                     {"scope", proved ? Json(rules::to_text(proof.scope)) : Json()},
                     {"axioms", proved ? proof.axioms : std::vector<std::string>()},
                     {"reason", proof.reason},
                     {"cases", proof.cases},
                     {"steps", proof.steps},
                     {"derive_s", proof.derive_ms / 1e3},
                     {"certify_s", proof.certify_ms / 1e3},
                     {"check_s", proof.check_ms / 1e3}});
  }
  return {{"counts",
           {{"proved", sum.counts[0]},
            {"refuted", sum.counts[1]},
            {"unknown", sum.counts[2]},
            {"not_tried", work.rules.size() - sum.tried}}},
          {"seconds", seconds},
          {"rules", std::move(rules)}};
}

}  // namespace

int run_rules_verify(const std::vector<std::string>& arguments) {
  std::string axioms_file;
  int threads = 2;
  size_t sample = 0;
  std::vector<std::string> only;
  bool write = false, widest = false;
  rulegen::ProveOptions how;
  Options options;
  options.heading("Verify");
  options.text("axioms", axioms_file, "what proofs start from; empty means the shipped configs/rules/axioms.rules");
  options.texts("only", only, "names of the rules to prove; none means all");
  options.integer("sample", sample, 0, kNoLimit, "so many rules of each file, evenly spread; 0: all");
  options.integer("threads", threads, 1, 256, "rules that are proved at a time");
  options.integer("max-rank", how.max_rank, 0, 6,
                  "ranks of variables that a rule leaves open go up to this; 0: the number of its proof line, else 4");
  options.integer("max-list", how.max_list, 0, 64,
                  "lengths of lists that a rule leaves open go up to this; 0: the number of its proof line, else 3");
  options.flag("widest", widest,
               "look for proofs with ranks up to 6, lists up to 32 and windows of 1 to 3 axes as well");
  options.integer("instances", how.check_instances, 1, 100'000,
                  "random places of application that are checked exactly");
  options.integer("seed", how.seed, 0, kNoLimit, "of the random places");
  options.flag("write", write,
               "write the proofs into the files ('proof proved for SCOPE: AXIOM...', 'proof unproved')");
  OutputOptions output_options;
  declare(options, output_options);
  const auto files = parse_rules_arguments("verify", options, arguments);
  if (!files) return 0;
  if (files->empty()) fail_usage("rules verify needs a file of rules");
  const Output output(output_options);
  if (axioms_file.empty()) axioms_file = shipped_config("rules/axioms.rules").string();
  const auto axioms = rulegen::AxiomSet::load(axioms_file);
  if (!rules::is_shipped_text(read_file(axioms_file)))
    output.note(fmt::format("{}: not the axioms that rlgo was built with; the proofs rest on this file", axioms_file));
  if (widest) {
    how.widest_rank = 6;
    how.widest_list = 32;
    how.widest_windows = true;
  }
  how.stop = signalled;
  rulegen::Proofs work(rulegen::rules_of_files(*files, only, sample));
  const auto print = [&](const std::string& line) {
    if (!output.quiet()) output.print(line + "\n");
  };
  const Stopwatch watch;
  const bool ended = rulegen::prove_all(work, *axioms, how, threads, print);
  for (const auto& file : write ? *files : std::vector<std::string>()) {
    rulegen::write_proofs(file, work);
    output.print(fmt::format("wrote {}\n", file));
  }
  const auto sum = rulegen::totals_of(work);
  output.print(rulegen::to_text(sum, work.rules.size(), watch.seconds()));
  const int status = sum.counts[0] == static_cast<int>(work.rules.size()) ? 0 : kFailedStatus;
  const int stopped = !signalled() ? 0 : 128 + stop_signal();
  output.document("rules-verify", stopped != 0 ? stopped : status, options, to_json(work, sum, watch.seconds()));
  std::fflush(stdout);
  if (!ended) ::_exit(stopped);
  return stopped != 0 ? stopped : status;
}

}  // namespace rlgo::launch
