#include "core/rulegen/taso/cover_all.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text_file.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {
namespace {

// Nothing where the rule does not compile; then `why` reports so.
std::shared_ptr<const rules::RuleSet> compiled(const TasoRule& rule, std::string& why) {
  if (rule.text.empty()) {
    why = rule.inexpressible;
    return nullptr;
  }
  try {
    return rules::RuleSet::parse(rule.text, rule.name);
  } catch (const Error& error) {
    why = error.what();
    return nullptr;
  }
}

class Judge {
 public:
  Judge(const std::vector<TasoRule>& rules, const std::shared_ptr<const rules::RuleSet>& known, const AxiomSet& axioms,
        const CoverAllOptions& options)
      : rules_(rules), known_(known), axioms_(axioms), options_(options) {
    counts_.rules = counts_.stopped = static_cast<int>(rules_.size());
  }

  CoverCounts run() {
    std::vector<std::thread> pool;
    for (int k = 1; k < options_.threads; ++k) pool.emplace_back([this] { work(); });
    work();
    for (auto& thread : pool) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    return counts_;
  }

 private:
  void work() {
    for (size_t k = next_++; k < rules_.size() && !options_.stop(); k = next_++) {
      try {
        judge(rules_[k]);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        next_ = rules_.size();
      }
    }
  }

  void judge(const TasoRule& given) {
    CoverResult result;
    const auto rule = compiled(given, result.reason);
    if (rule && given.trivial) result = {Cover::contained, "both sides are the same"};
    if (rule && !given.trivial) result = cover(*rule, known_, axioms_, options_.cover);
    std::string line = fmt::format("{:<10} {}{}  {}", name(result.cover), given.name,
                                   given.reversed ? " (from right to left)" : "", given.source);
    if (!result.reason.empty())
      line += fmt::format("\n{}{}", result.cover == Cover::refuted ? "" : "  ", result.reason);
    const std::lock_guard lock(mutex_);
    options_.print(line);
    ++counts_.by_cover[static_cast<size_t>(result.cover)];
    --counts_.stopped;
    if (!rule) ++counts_.inexpressible;
    if (rule && given.reversed) ++counts_.reversed;
  }

  const std::vector<TasoRule>& rules_;
  const std::shared_ptr<const rules::RuleSet>& known_;
  const AxiomSet& axioms_;
  const CoverAllOptions& options_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;  // what is reported, counts and failure
  CoverCounts counts_;
  std::exception_ptr failure_;
};

}  // namespace

std::vector<TasoRule> read_dump(const std::string& file) {
  return file.ends_with(".pb") ? read_taso_protobuf(read_file(file), file) : read_taso(read_text(file), file);
}

std::vector<TasoRule> read_rules_to_cover(const std::string& file) {
  if (!file.ends_with(".rules")) return read_dump(file);
  std::vector<TasoRule> rules;
  for (const auto& rule : rules::parse_rules(read_text(file), file)) {
    auto& one = rules.emplace_back();
    one.name = rule.name;
    one.text = rules::to_text(rule);
  }
  return rules;
}

bool CoverCounts::all_hold() const {
  return by_cover[static_cast<size_t>(Cover::refuted)] + by_cover[static_cast<size_t>(Cover::unknown)] + stopped == 0;
}

CoverCounts cover_all(const std::vector<TasoRule>& rules, const std::shared_ptr<const rules::RuleSet>& known,
                      const AxiomSet& axioms, const CoverAllOptions& options) {
  return Judge(rules, known, axioms, options).run();
}

std::string to_text(const CoverCounts& counts, int known, double seconds) {
  const auto of = [&counts](Cover cover) { return counts.by_cover[static_cast<size_t>(cover)]; };
  std::string text = fmt::format(
      "{} rules against {} proved ones: {} contained, {} derived (two applications), {} further (three or four), {} "
      "proved, {} refuted, {} unknown ({} of them not expressible or not typed); {} read from right to left",
      counts.rules, known, of(Cover::contained), of(Cover::derived), of(Cover::further), of(Cover::proved),
      of(Cover::refuted), of(Cover::unknown), counts.inexpressible, counts.reversed);
  if (counts.stopped > 0) text += fmt::format("; stopped before {}", counts.stopped);
  return text + fmt::format("; {:.1f} s\n", seconds);
}

ImportedRules import_rules(const std::vector<TasoRule>& rules, const std::function<void(const std::string&)>& print) {
  ImportedRules imported;
  imported.text = "# Imported from TASO's rules, with what TASO's matcher asks and no more: unproved.\n";
  for (const auto& rule : rules) {
    std::string why;
    if (!compiled(rule, why)) {
      print(fmt::format("{}: {}\n  {}", rule.name, why, rule.source));
      ++imported.left_out;
      continue;
    }
    imported.text += "\n# " + rule.source + "\n" + rule.text;
    ++imported.rules;
    imported.reversed += rule.reversed ? 1 : 0;
  }
  return imported;
}

}  // namespace rlgo::rulegen
