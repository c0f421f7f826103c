#include "core/rulegen/generate/generate.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/rulegen/check/check.h"
#include "core/rulegen/generate/generate_settled.h"
#include "core/rulegen/generate/rule_writer.h"
#include "core/rulegen/prove/prove.h"

namespace rlgo::rulegen {
namespace {

struct Numbered {
  uint64_t number = 0;
  Candidate pair;
};

// One text that is to be proved, and what came of it.
struct Task : Settled {
  Candidate pair;
  std::string activation;
  bool done = false;
};

class FamilyRun {
 public:
  FamilyRun(const GenerateOptions& options, const std::string& family, GenerateReport& out)
      : options_(options), family_(make_family(family)), out_(out) {
    report_.family = family;
  }

  bool run() {
    Stopwatch watch;
    const auto enumeration = enumerate_all();
    report_.enumerate_s = watch.seconds();
    watch.restart();
    auto candidates = judge_all(enumeration);
    const auto kept = keep(candidates);
    report_.prune_s = watch.seconds();
    watch.restart();
    if (options_.prove && !stopped_) prove_all(kept);
    report_.prove_s = watch.seconds();
    if (stopped_ && report_.stopped.empty()) report_.stopped = "stopped";
    out_.families.push_back(std::move(report_));
    return !stopped_;
  }

 private:
  std::filesystem::path state_file(const std::string& ending) const {
    if (options_.state.empty()) return {};
    std::string file = report_.family;
    std::ranges::replace(file, ':', '-');
    std::ranges::replace(file, ',', '-');
    return options_.state / (file + ending);
  }

  bool report_progress(const std::string& text) {
    if (options_.progress && !options_.progress(report_.family + ": " + text)) stopped_ = true;
    return !stopped_;
  }

  Enumeration enumerate_all() {
    EnumerateOptions how;
    how.max_ops = options_.max_ops;
    how.threads = options_.threads;
    how.memory_bytes = options_.memory_bytes;
    how.state = state_file(".state");
    how.progress = [&](const EnumerationProgress& p) {
      return report_progress(
          fmt::format("{} operators, {} {}/{}, {} found", p.level, p.phase, p.done, p.total, p.found));
    };
    auto enumeration = enumerate(family_, how);
    report_.stopped = enumeration.stopped;
    report_.table_bytes = enumeration.peak_bytes;
    report_.resumed = enumeration.resumed;
    for (const auto& level : enumeration.levels) {
      Level counts;
      counts.generated = level.generated;
      counts.distinct = level.distinct;
      counts.redundant = level.redundant;
      report_.levels.push_back(std::move(counts));
    }
    return enumeration;
  }

  void explain(Fate fate, const Candidate& pair, const std::string& by) {
    if (!options_.explain) return;
    options_.explain(fmt::format("{}: {} | {}{}", name(fate), to_text(family_, pair.source),
                                 to_text(family_, pair.target), by.empty() ? "" : "  [" + by + "]"));
  }

  std::vector<Numbered> judge_all(const Enumeration& enumeration) {
    std::vector<std::unique_ptr<SketchEvaluator>> evaluators;
    for (int t = 0; t < options_.threads; ++t) evaluators.push_back(std::make_unique<SketchEvaluator>(family_));
    std::mutex mutex;
    std::vector<Numbered> kept;
    std::map<std::pair<uint64_t, Fate>, std::vector<Candidate>> pruned_pairs;
    uint64_t done = 0;
    const auto one = [&](int thread, uint64_t number, Candidate pair) {
      const Fate fate = rulegen::judge(family_, *evaluators[thread], pair);
      const std::scoped_lock lock(mutex);
      if (fate == Fate::kept) {
        kept.push_back({number, std::move(pair)});
      } else {
        ++report_.fates[static_cast<int>(fate)];
        if (options_.explain) pruned_pairs[{number, fate}].push_back(std::move(pair));
      }
      return ++done % 1024 != 0 || report_progress(fmt::format("{} pairs judged, {} left", done, kept.size()));
    };
    for_each_candidate(enumeration, options_.threads, report_.counts, one);
    for (const auto& [key, pairs] : pruned_pairs) {
      for (const auto& pair : pairs) explain(key.second, pair, "");
    }
    std::ranges::sort(kept, [&](const Numbered& a, const Numbered& b) {
      const auto rank = [&](const Numbered& n) {
        return std::tuple(size_of(n.pair), -variables_of(family_, n.pair), n.number);
      };
      return rank(a) < rank(b);
    });
    return kept;
  }

  std::vector<Candidate> keep(const std::vector<Numbered>& candidates) {
    KeptRules rules(family_);
    std::unordered_set<uint64_t> seen;
    std::vector<Candidate> kept;
    for (size_t k = 0; k < candidates.size(); ++k) {
      const Candidate& pair = candidates[k].pair;
      if (k % 256 == 0 &&
          !report_progress(fmt::format("{}/{} pairs compared, {} kept", k, candidates.size(), kept.size())))
        break;
      std::vector<int> by;
      Fate fate = Fate::repeated;
      if (seen.insert(pair_key(family_, pair)).second) fate = rules.judge(pair, options_.derive, &by);
      ++report_.fates[static_cast<int>(fate)];
      if (fate == Fate::kept) {
        rules.add(pair);
        kept.push_back(pair);
        continue;
      }
      std::string numbers;
      for (int rule : by) numbers += rule < 0 ? "" : fmt::format("{}rule {}", numbers.empty() ? "" : ", ", rule);
      explain(fate, pair, numbers);
    }
    return drop_special(kept);
  }

  // relu(cat(x, x)) is smaller than relu(cat(x, y)) and therefore met first.
  std::vector<Candidate> drop_special(const std::vector<Candidate>& kept) {
    std::vector<size_t> order(kept.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::stable_sort(
        order, [&](size_t a, size_t b) { return variables_of(family_, kept[a]) > variables_of(family_, kept[b]); });
    KeptRules general(family_);
    std::vector<bool> special(kept.size(), false);
    for (size_t k : order) {
      special[k] = general.judge(kept[k], false, nullptr) == Fate::instance;
      if (!special[k]) general.add(kept[k]);
    }
    std::vector<Candidate> left;
    for (size_t k = 0; k < kept.size(); ++k) {
      if (!special[k]) left.push_back(kept[k]);
      if (special[k]) explain(Fate::instance, kept[k], "of a larger rule");
    }
    report_.special = kept.size() - left.size();
    return left;
  }

  // ---- proofs -------------------------------------------------------------------------------------------------------

  std::vector<Task> tasks_of(const std::vector<Candidate>& kept) const {
    std::vector<Task> tasks;
    for (const auto& pair : kept) {
      const auto steps = std::max(pair.source.steps.size(), pair.target.steps.size());
      if (options_.prove_ops > 0 && static_cast<int>(steps) > options_.prove_ops) continue;
      for (const bool exchanged : {false, true}) {
        Candidate directed = pair;
        if (exchanged) std::swap(directed.source, directed.target);
        auto all = any_activation(family_, directed) ? options_.activations : std::vector<std::string>{"gelu"};
        if (options_.activation_ops > 0 && static_cast<int>(steps) > options_.activation_ops) all.resize(1);
        for (const auto& activation : all) tasks.emplace_back().pair = directed, tasks.back().activation = activation;
      }
    }
    return tasks;
  }

  void prove_all(const std::vector<Candidate>& kept) {
    auto tasks = tasks_of(kept);
    report_.directed = tasks.size();
    SettledFile settled(state_file(".proofs"));
    uint64_t axioms = 0;
    for (const auto& axiom : options_.axioms->axioms()) axioms = hash_combine(axioms, axiom.rule.hash);
    std::atomic<size_t> next{0};
    std::mutex mutex;
    size_t done = 0;
    std::exception_ptr thrown;
    const auto work = [&] {
      for (size_t k = next++; k < tasks.size() && !stopped_; k = next++) {
        try {
          Task& task = tasks[k];
          const uint64_t key = hash_combine(
              axioms, hash_string(fmt::format("{}|{}|{}|{}", report_.family, to_text(family_, task.pair.source),
                                              to_text(family_, task.pair.target), task.activation)));
          if (const auto known = settled.find(key)) {
            static_cast<Settled&>(task) = *known;
            const std::scoped_lock lock(mutex);
            ++report_.proofs_resumed;
          } else {
            settle(task);
            settled.add(key, task);
          }
          task.done = true;
        } catch (...) {
          const std::scoped_lock lock(mutex);
          thrown = std::current_exception();
          stopped_ = true;
        }
        const std::scoped_lock lock(mutex);
        report_progress(fmt::format("{}/{} rules written and proved", ++done, tasks.size()));
      }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < options_.threads; ++t) others.emplace_back(work);
    work();
    for (auto& thread : others) thread.join();
    if (thrown) std::rethrow_exception(thrown);
    for (auto& task : tasks) {
      if (task.done) accept(task);
    }
  }

  void settle(Task& task) const {
    const auto symbols = symbolic_pair(family_, task.pair);
    RLGO_CHECK(symbols.has_value());
    const std::string name = rule_name(family_, task.pair, task.activation);
    task.expressible = rule_text(family_, task.pair, *symbols, {}, name, task.activation).has_value();
    const auto text = most_general(family_, task.pair, *symbols, name, task.activation,
                                   [&](const std::string& asked) { return derives(asked, task); });
    if (!text) {
      if (task.likely.empty()) return;
      task.likely = rule_text(family_, task.pair, *symbols, {}, name, task.activation).value_or(task.likely);
      return;
    }
    const auto rule = rules::RuleSet::parse(*text, name);
    ProveOptions widest;
    widest.widest_rank = 6;
    widest.widest_list = 32;
    const auto proof = prove(rule->rule(0), *options_.axioms, widest);
    const auto check = check_rule(*rule, 0, {});
    if (proof.verdict == Proof::Verdict::proved && check.verdict != CheckVerdict::different) {
      task.text = *text;
      task.axioms = proof.axioms;
      task.scope = rules::to_text(proof.scope);
    } else {
      task.likely = *text;
      task.why = proof.reason;
    }
  }

  bool derives(const std::string& text, Task& task) const {
    std::shared_ptr<const rules::RuleSet> rule;
    try {
      rule = rules::RuleSet::parse(text, "rule");
    } catch (const Error& error) {
      task.why = error.what();
      return false;
    }
    CheckOptions quick;
    quick.instances = 6;
    quick.attempts = 600;
    quick.seeds = 2;
    quick.exact_instances = 0;
    if (check_rule(*rule, 0, quick).verdict == CheckVerdict::different) {
      task.why = "different elsewhere";
      return false;
    }
    ProveOptions how;
    how.certify = how.check = false;
    how.max_cases = 2000;
    how.max_terms = 2500;
    const auto proof = prove(rule->rule(0), *options_.axioms, how);
    if (!proof.derived()) task.likely = text, task.why = proof.reason;
    return proof.derived();
  }

  void accept(Task& task) {
    if (!task.expressible && task.text.empty()) {
      ++report_.inexpressible;
      return;
    }
    if (task.text.empty()) {
      ++report_.unproved;
      const auto line = task.why.substr(0, task.why.find('\n'));
      if (!task.likely.empty()) out_.missing.push_back(fmt::format("# {}\n{}", line, task.likely));
      return;
    }
    ++report_.proved;
    const auto rule = rules::RuleSet::parse(task.text, "rule");
    const std::string body = task.text.substr(task.text.find("\n  ?"));
    if (repeats(task, *rule)) {
      ++report_.repeated;
      return;
    }
    if (options_.known && rewrites_the_same(*options_.known, *rule, 4)) {
      ++report_.known;
      return;
    }
    emit(task, body, rule);
  }

  // Rules that were accepted before, of all families, with these operators on the left.
  bool repeats(const Task& task, const rules::RuleSet& rule) const {
    const std::string plain = left_words(rule_name(family_, task.pair, task.activation));
    return std::ranges::any_of(out_.rules, [&](const auto& other) {
      return left_words(other.name.substr(2)) == plain && rewrites_the_same(*other.rule, rule, 4);
    });
  }
  static std::string left_words(const std::string& name) { return name.substr(0, name.find("-to-")); }

  void emit(const Task& task, const std::string& body, std::shared_ptr<const rules::RuleSet> rule) {
    const std::string plain = rule_name(family_, task.pair, task.activation);
    std::string name = "g-" + plain;
    const auto taken = [&](const std::string& text) {
      return std::ranges::any_of(out_.rules, [&](const auto& other) { return other.name == text; });
    };
    for (int k = 2; taken(name); ++k) name = fmt::format("g-{}-{}", plain, k);
    out_.rules.push_back(
        {name,
         fmt::format("rule {}\n  tags {}\n  proof proved for {}: {}{}", name, join(rule_tags(family_, task.pair), " "),
                     task.scope, join(task.axioms, " "), body),
         report_.family, task.axioms, std::move(rule)});
  }

  const GenerateOptions& options_;
  Family family_;
  GenerateReport& out_;
  FamilyReport report_;
  std::atomic<bool> stopped_{false};
};

}  // namespace

GenerateReport generate(const GenerateOptions& options) {
  RLGO_CHECK(!options.prove || options.axioms);
  GenerateReport report;
  for (const auto& family : split(options.ops, '+')) {
    if (!FamilyRun(options, family, report).run()) break;
  }
  drop_narrower(report);
  drop_repeated(report);
  return report;
}

}  // namespace rlgo::rulegen
