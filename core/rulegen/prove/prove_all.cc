#include "core/rulegen/prove/prove_all.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/text_file.h"

namespace rlgo::rulegen {
namespace {

std::string line_of(const rules::RuleText& rule, const Proof& proof) {
  std::string text = fmt::format("{:<36} {:<8} ", rule.name, name(proof.verdict));
  if (proof.verdict == Proof::Verdict::proved)
    text += fmt::format("for {}: {}", rules::to_text(proof.scope), join(proof.axioms, " "));
  if (proof.verdict == Proof::Verdict::unknown) text += proof.reason;
  text += fmt::format("  [{} cases, {} steps, {:.1f} + {:.1f} + {:.0f} ms]", proof.cases, proof.steps, proof.derive_ms,
                      proof.certify_ms, proof.check_ms);
  if (proof.verdict == Proof::Verdict::refuted) text += "\n" + proof.reason;
  return text;
}

// Proves rules on threads of its own and states what came of each. The threads own it: one may outlive the call.
class Provers : public std::enable_shared_from_this<Provers> {
 public:
  Provers(Proofs& work, const AxiomSet& axioms, ProveOptions options, std::function<void(const std::string&)> print)
      : work_(work), axioms_(axioms), options_(std::move(options)), print_(std::move(print)) {}

  // False: a signal came, and some rule does not heed it; its thread is still running and must not outlive this.
  // Throws what a thread threw.
  bool run(int threads) {
    running_ = threads;
    std::vector<std::thread> pool;
    for (int k = 0; k < threads; ++k) pool.emplace_back([self = shared_from_this()] { self->work(); });
    constexpr auto kLook = std::chrono::milliseconds(50);
    constexpr int kPatience = 12;  // looks after a signal
    std::unique_lock lock(mutex_);
    for (int looks = 0; running_ > 0 && looks < kPatience; looks += options_.stop()) ended_.wait_for(lock, kLook);
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
      for (size_t k = next_++; k < work_.rules.size() && !options_.stop(); k = next_++) one(k);
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
    Proof proof;
    try {
      proof = prove(work_.rules[k], axioms_, options_);
    } catch (const Error& e) {  // of this rule alone
      proof.reason = e.what();
    }
    const std::lock_guard lock(mutex_);
    if (proof.stopped || closed_) return;
    print_(line_of(work_.rules[k], proof));
    work_.proofs[k] = std::move(proof);
    work_.tried[k] = 1;
  }

  Proofs& work_;
  const AxiomSet& axioms_;
  ProveOptions options_;
  std::function<void(const std::string&)> print_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;  // output, results, and what follows
  std::condition_variable ended_;
  int running_ = 0;
  bool closed_ = false;  // results that come now are too late
  std::exception_ptr failure_;
};

bool starts(std::string_view line, std::string_view word) {
  line = trim(line);
  return line.starts_with(word) && (line.size() == word.size() || line[word.size()] == ' ');
}

}  // namespace

std::vector<rules::RuleText> rules_of_files(const std::vector<std::string>& files, const std::vector<std::string>& only,
                                            size_t sample) {
  std::vector<rules::RuleText> all;
  std::set<std::string> found;
  for (const auto& file : files) {
    auto rules = rules::parse_rules(read_text(file), file);
    std::set<std::string> defined;
    for (const auto& rule : rules) {
      if (!defined.insert(rule.name).second) fail("{}:{}: rule '{}' is defined twice", rule.file, rule.line, rule.name);
    }
    std::erase_if(rules, [&](const auto& r) { return !only.empty() && std::ranges::find(only, r.name) == only.end(); });
    for (const auto& rule : rules) found.insert(rule.name);
    const size_t count = sample == 0 ? rules.size() : std::min(rules.size(), sample);
    for (size_t k = 0; k < count; ++k) all.push_back(std::move(rules[k * rules.size() / count]));
  }
  for (const auto& name : only) {
    if (!found.contains(name)) fail("no rule '{}' in {}", name, join(files, ", "));
  }
  if (all.empty()) fail("{}: holds no rule", join(files, ", "));
  return all;
}

bool prove_all(Proofs& proofs, const AxiomSet& axioms, const ProveOptions& options, int threads,
               const std::function<void(const std::string&)>& print) {
  return std::make_shared<Provers>(proofs, axioms, options, print)->run(threads);
}

ProofTotals totals_of(const Proofs& work) {
  ProofTotals sum;
  for (size_t k = 0; k < work.proofs.size(); ++k) {
    if (!work.tried[k]) continue;
    const auto& proof = work.proofs[k];
    ++sum.tried;
    ++sum.counts[static_cast<int>(proof.verdict)];
    sum.derive_ms += proof.derive_ms;
    sum.certify_ms += proof.certify_ms;
    sum.check_ms += proof.check_ms;
    sum.worst_ms = std::max(sum.worst_ms, proof.derive_ms);
  }
  return sum;
}

std::string to_text(const ProofTotals& sum, size_t rules, double seconds) {
  const auto count = static_cast<double>(std::max<size_t>(sum.tried, 1));
  std::string out = fmt::format(
      "{} rules: {} proved, {} refuted, {} unknown; per rule {:.2f} ms derivation (at most {:.1f}), {:.2f} ms Z3, "
      "{:.0f} ms check; {:.1f} s\n",
      sum.tried, sum.counts[0], sum.counts[1], sum.counts[2], sum.derive_ms / count, sum.worst_ms,
      sum.certify_ms / count, sum.check_ms / count, seconds);
  if (sum.tried < rules) out += fmt::format("stopped by a signal: {} rules not tried\n", rules - sum.tried);
  return out;
}

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

void write_proofs(const std::string& file, const Proofs& work) {
  std::map<std::string, std::string> clauses;
  for (size_t k = 0; k < work.rules.size(); ++k) {
    if (work.rules[k].file == file && work.tried[k])
      clauses[work.rules[k].name] = proof_clause(work.rules[k], work.proofs[k]);
  }
  const std::string text = with_proofs(read_text(file), clauses);
  rules::parse_rules(text, file);  // throws where the file would not read back
  atomic_write(file, text);
}

}  // namespace rlgo::rulegen
