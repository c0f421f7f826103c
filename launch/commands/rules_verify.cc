// rlgo rules verify: proves the rules of files again.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/shipped.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rulegen/prove/prove.h"
#include "core/rules/parser.h"
#include "launch/commands/command.h"
#include "launch/commands/rules.h"
#include "launch/options.h"
#include "launch/output.h"
#include "launch/session.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace {

using rulegen::Proof;

struct Work {
  std::vector<rules::RuleText> rules;
  std::vector<Proof> proofs;
  std::vector<char> tried;  // whether the proof counts: a signal may have come first
};

std::string line_of(const rules::RuleText& rule, const Proof& proof) {
  std::string text = fmt::format("{:<36} {:<8} ", rule.name, rulegen::name(proof.verdict));
  if (proof.verdict == Proof::Verdict::proved)
    text += fmt::format("for {}: {}", rules::to_text(proof.scope), join(proof.axioms, " "));
  if (proof.verdict == Proof::Verdict::unknown) text += proof.reason;
  text += fmt::format("  [{} cases, {} steps, {:.1f} + {:.1f} + {:.0f} ms]", proof.cases, proof.steps, proof.derive_ms,
                      proof.certify_ms, proof.check_ms);
  if (proof.z3_ms > 0) {
    text +=
        fmt::format("  [by quantified axioms: {}, {:.0f} ms]", proof.z3_proved ? "proved" : "not proved", proof.z3_ms);
  }
  if (proof.verdict == Proof::Verdict::refuted) text += "\n" + proof.reason;
  return text;
}

// Proves rules on threads of its own and prints each.
class Verifier {
 public:
  Verifier(Work& work, const rulegen::AxiomSet& axioms, rulegen::ProveOptions options, const Output& output)
      : work_(work), axioms_(axioms), options_(std::move(options)), output_(output) {
    options_.stop = [] { return stop_signal() != 0; };
  }

  // False: a signal came, and some rule does not heed it; its thread is still running and must not outlive this.
  // Throws what a thread threw.
  bool run(int threads) {
    running_ = threads;
    std::vector<std::thread> pool;
    for (int k = 0; k < threads; ++k) pool.emplace_back([this] { work(); });
    constexpr auto kLook = std::chrono::milliseconds(50);
    constexpr int kPatience = 12;  // looks after a signal
    std::unique_lock lock(mutex_);
    for (int looks = 0; running_ > 0 && looks < kPatience; looks += stop_signal() != 0) ended_.wait_for(lock, kLook);
    const bool all = running_ == 0;
    closed_ = true;
    lock.unlock();
    for (auto& thread : pool) all ? thread.join() : thread.detach();
    if (failure_) std::rethrow_exception(failure_);
    return all;
  }

 private:
  void work() {
    try {
      for (size_t k = next_++; k < work_.rules.size() && stop_signal() == 0; k = next_++) one(k);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      next_ = work_.rules.size();
    }
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_all();
  }
  void one(size_t k) {
    Proof proof = rulegen::prove(work_.rules[k], axioms_, options_);
    const std::lock_guard lock(mutex_);
    if (proof.stopped || closed_) return;
    if (!output_.quiet()) output_.say(line_of(work_.rules[k], proof) + "\n");
    work_.proofs[k] = std::move(proof);
    work_.tried[k] = 1;
  }

  Work& work_;
  const rulegen::AxiomSet& axioms_;
  rulegen::ProveOptions options_;
  const Output& output_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;  // output, results, and what follows
  std::condition_variable ended_;
  int running_ = 0;
  bool closed_ = false;  // results that come now are too late
  std::exception_ptr failure_;
};

struct Totals {
  int counts[3] = {};  // by verdict
  size_t tried = 0;
  double derive_ms = 0, certify_ms = 0, check_ms = 0, worst_ms = 0, z3_ms = 0;
  int by_z3 = 0, by_both = 0;
};

Totals totals_of(const Work& work) {
  Totals sum;
  for (size_t k = 0; k < work.proofs.size(); ++k) {
    if (!work.tried[k]) continue;
    const auto& proof = work.proofs[k];
    ++sum.tried;
    ++sum.counts[static_cast<int>(proof.verdict)];
    sum.derive_ms += proof.derive_ms;
    sum.certify_ms += proof.certify_ms;
    sum.check_ms += proof.check_ms;
    sum.z3_ms += proof.z3_ms;
    sum.by_z3 += proof.z3_proved;
    sum.by_both += proof.z3_proved && proof.verdict == Proof::Verdict::proved;
    sum.worst_ms = std::max(sum.worst_ms, proof.derive_ms);
  }
  return sum;
}

std::string to_text(const Totals& sum, size_t rules, double seconds) {
  const auto count = static_cast<double>(std::max<size_t>(sum.tried, 1));
  std::string out = fmt::format(
      "{} rules: {} proved, {} refuted, {} unknown; per rule {:.2f} ms derivation (at most {:.1f}), {:.2f} ms Z3, "
      "{:.0f} ms check; {:.1f} s\n",
      sum.tried, sum.counts[0], sum.counts[1], sum.counts[2], sum.derive_ms / count, sum.worst_ms,
      sum.certify_ms / count, sum.check_ms / count, seconds);
  if (sum.tried < rules) out += fmt::format("stopped by a signal: {} rules not tried\n", rules - sum.tried);
  if (sum.z3_ms > 0) {
    out += fmt::format("by quantified axioms: {} proved, {} of them proved by the chosen verdict; {:.1f} ms per rule\n",
                       sum.by_z3, sum.by_both, sum.z3_ms / count);
  }
  return out;
}

// Members of the document "rlgo.rules-verify/1".
Json to_json(const Work& work, const Totals& sum, double seconds) {
  Json rules = Json::array();
  for (size_t k = 0; k < work.rules.size(); ++k) {
    const auto& rule = work.rules[k];
    const Proof& proof = work.proofs[k];
    const bool proved = work.tried[k] && proof.verdict == Proof::Verdict::proved;
    rules.push_back({{"rule", rule.name},
                     {"file", rule.file},
                     {"verdict", work.tried[k] ? Json(rulegen::name(proof.verdict)) : Json("not_tried")},
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

bool starts(std::string_view line, std::string_view word) {
  line = trim(line);
  return line.starts_with(word) && (line.size() == word.size() || line[word.size()] == ' ');
}

// The `proof` clause of a rule, as lines of at most 120 characters. Only what was claimed proved is taken back.
std::string proof_clause(const rules::RuleText& rule, const Proof& proof) {
  if (proof.verdict != Proof::Verdict::proved) {
    if (rule.proof == "tested" && proof.verdict == Proof::Verdict::unknown) return "  proof tested\n";
    return "  proof unproved\n";
  }
  std::string text, line = "  proof proved for " + rules::to_text(proof.scope) + ":";
  for (const auto& axiom : proof.axioms) {
    if (line.size() + axiom.size() + 1 > 120) {
      text += line + "\n";
      line = "   ";
    }
    line += " " + axiom;
  }
  return text + line + "\n";
}

// The file with the proofs of these rules; everything else stays as it is.
std::string with_proofs(const std::string& text, const std::map<std::string, std::string>& clauses) {
  std::string out;
  const std::map<std::string, std::string>::const_iterator none = clauses.end();
  auto pending = none;  // clause of the rule whose head is being read
  bool inside = false;  // in the old clause
  for (const auto& line : split(text, '\n')) {
    if (starts(line, "rule")) {
      const auto name = trim(std::string_view(line).substr(line.find("rule") + 4));
      pending = clauses.find(std::string(name.substr(0, name.find(' '))));
    }
    const bool body = trim(line).starts_with("?");
    const bool head =
        starts(line, "rule") || starts(line, "tags") || starts(line, "before") || trim(line).starts_with("#");
    if (pending != none && starts(line, "proof")) {
      inside = true;
      continue;
    }
    if (inside && !body && !head) continue;
    inside = false;
    if (pending != none && body) {
      out += pending->second;
      pending = none;
    }
    out += line + "\n";
  }
  if (!out.empty()) out.pop_back();  // split() gives one line more than there are line ends
  return out;
}

void write_proofs(const std::vector<std::string>& files, const Work& work, const Output& output) {
  for (const auto& file : files) {
    std::map<std::string, std::string> clauses;
    for (size_t k = 0; k < work.rules.size(); ++k) {
      if (work.rules[k].file == file && work.tried[k])
        clauses[work.rules[k].name] = proof_clause(work.rules[k], work.proofs[k]);
    }
    const std::string text = with_proofs(read_file(file), clauses);
    rules::parse_rules(text, file);  // throws where the file would not read back
    atomic_write(file, text);
    output.say(fmt::format("wrote {}\n", file));
  }
}

}  // namespace

int run_rules_verify(std::vector<std::string> arguments) {
  std::string axioms_file;
  int64_t threads = 2, max_rank = 0, max_list = 0, instances = 12, seed = 1, sample = 0;
  std::vector<std::string> only;
  bool write = false, widest = false;
  std::string route = "egraph";
  Options options;
  options.heading("Verify");
  options.choice("route", route, {"egraph", "z3", "both"},
                 "how proofs are found: e-graph and certificate, Z3 with quantified axioms, or both for comparison");
  options.text("axioms", axioms_file, "what proofs start from; empty means the shipped configs/rules/axioms.rules");
  options.texts("only", only, "names of the rules to prove; none means all");
  options.integer("sample", sample, 0, kNoLimit, "so many rules of each file, evenly spread; 0: all");
  options.integer("threads", threads, 1, 256, "rules that are proved at a time");
  options.integer("max-rank", max_rank, 0, 6,
                  "ranks of variables that a rule leaves open go up to this; 0: as its proof line says, else 4");
  options.integer("max-list", max_list, 0, 64,
                  "lengths of lists that a rule leaves open go up to this; 0: as its proof line says, else 3");
  options.flag("widest", widest, "look for proofs with ranks up to 6 and lists up to 32 as well");
  options.integer("instances", instances, 1, 100'000, "random places of application that are checked exactly");
  options.integer("seed", seed, 0, kNoLimit, "of the random places");
  options.flag("write", write,
               "write the proofs into the files ('proof proved for SCOPE: AXIOM...', 'proof unproved')");
  OutputOptions output_options;
  declare(options, output_options);
  const auto files = parse_rules_arguments("verify", options, arguments);
  if (!files) return 0;
  if (files->empty()) fail_usage("rules verify needs a file of rules");
  if (write && route != "egraph") fail_usage("rules verify: --write takes the proofs of --route egraph alone");
  const Output output(output_options);
  if (axioms_file.empty()) axioms_file = shipped_config("rules/axioms.rules").string();
  const auto axioms = rulegen::AxiomSet::load(axioms_file);
  rulegen::ProveOptions how;
  how.max_rank = static_cast<int>(max_rank);
  how.max_list = static_cast<int>(max_list);
  if (widest) {
    how.widest_rank = 6;
    how.widest_list = 32;
  }
  how.route = route == "z3" ? rulegen::Route::z3 : route == "both" ? rulegen::Route::both : rulegen::Route::egraph;
  how.check_instances = static_cast<int>(instances);
  how.seed = static_cast<uint64_t>(seed);
  Work work;
  for (const auto& file : *files) {
    auto rules = rules::parse_rules(read_file(file), file);
    std::erase_if(rules, [&](const auto& r) { return !only.empty() && std::ranges::find(only, r.name) == only.end(); });
    const size_t count = sample == 0 ? rules.size() : std::min(rules.size(), static_cast<size_t>(sample));
    for (size_t k = 0; k < count; ++k) work.rules.push_back(std::move(rules[k * rules.size() / count]));
  }
  work.proofs.resize(work.rules.size());
  work.tried.resize(work.rules.size());
  const Stopwatch watch;
  Verifier verifier(work, *axioms, how, output);
  const bool ended = verifier.run(static_cast<int>(threads));
  if (write) write_proofs(*files, work, output);
  const Totals sum = totals_of(work);
  output.say(to_text(sum, work.rules.size(), watch.seconds()));
  const int status = sum.counts[0] == static_cast<int>(work.rules.size()) ? 0 : kFailedStatus;
  const int stopped = stop_signal() == 0 ? 0 : 128 + stop_signal();
  output.document("rules-verify", stopped != 0 ? stopped : status, options, to_json(work, sum, watch.seconds()));
  std::fflush(stdout);
  if (!ended) ::_exit(stopped);
  return stopped != 0 ? stopped : status;
}

}  // namespace rlgo::launch
