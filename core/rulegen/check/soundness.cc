#include "core/rulegen/check/soundness.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/rng.h"
#include "core/rulegen/check/compare.h"
#include "core/rulegen/check/dependence.h"
#include "core/rulegen/check/wild_instance.h"
#include "core/rules/instance.h"
#include "core/rules/ranges.h"

namespace rlgo::rulegen {
namespace {

constexpr int kDraws = 100;  // of an instance

class Tester {
 public:
  Tester(std::shared_ptr<const rules::RuleSet> rules, const SoundnessOptions& options)
      : rules_(std::move(rules)), options_(options) {
    result_.by_rule.assign(static_cast<size_t>(rules_->size()), 0);
  }

  SoundnessResult run() {
    // A rule whose conditions chance never meets must not hold the others up.
    const int64_t most_graphs = 50 * options_.applications + int64_t{1000} * rules_->size();
    for (int64_t k = 0; k < most_graphs && result_.applications < options_.applications; ++k) {
      if (!one_graph(static_cast<int>(k % rules_->size()), k, k / rules_->size() % 2 == 1)) break;
    }
    for (int rule = 0; rule < rules_->size(); ++rule) {
      const int64_t& held = result_.by_rule[static_cast<size_t>(rule)];
      for (int64_t k = 0; held < options_.least && k < kGraphsOfSeldomRules; ++k) {
        if (!one_graph(rule, most_graphs + k * rules_->size() + rule, k % 2 == 0)) return finish();
      }
    }
    return finish();
  }

 private:
  // False where the caller wants no more.
  bool one_graph(int rule, int64_t number, bool wild) {
    Rng rng({options_.seed, static_cast<uint64_t>(number)});
    wild_ = options_.wild && wild;
    graph_for(rule, rng);
    return !options_.go_on || options_.go_on(result_.applications);
  }

  SoundnessResult finish() {
    result_.seldom_rules = static_cast<int>(std::ranges::count_if(result_.by_rule, [](int64_t n) { return n < 100; }));
    result_.idle_rules = static_cast<int>(std::ranges::count(result_.by_rule, 0));
    return std::move(result_);
  }

  void graph_for(int rule, Rng& rng) {
    std::optional<graph::Graph> start;
    std::vector<rules::Match> matches;
    // Shapes that chance seldom brings together are drawn more often.
    for (int k = 0; k < kDraws && matches.empty(); ++k) {
      start = wild_ ? wild_instance(rules_->rule(rule), rng) : rules::random_instance(rules_->rule(rule), rng);
      if (start) matches = rules::find_matches(*rules_, rule, *start);
    }
    if (matches.empty()) return;
    graph::Graph last = *start;
    bool applied = false;
    for (const auto& match : matches) applied = step(*start, match, rng, last) || applied;
    for (int k = 0; applied && k < options_.walk; ++k) {
      const rules::MatchIndex index(rules_, last);
      if (index.total() == 0) return;
      auto place = static_cast<int64_t>(rng.below(static_cast<uint64_t>(index.total())));
      int any = 0;
      while (place >= static_cast<int64_t>(index.matches(any).size()))
        place -= static_cast<int64_t>(index.matches(any++).size());
      const graph::Graph before = last;
      if (!step(before, index.matches(any)[static_cast<size_t>(place)], rng, last)) return;
    }
  }

  bool step(const graph::Graph& before, const rules::Match& match, Rng& rng, graph::Graph& after) {
    const auto rewrite = rules::apply(*rules_, match, before);
    if (!rewrite) return false;
    CheckResult check;
    const bool equal = Comparison(before, rewrite->graph).in_field(options_.seeds, rng.next(), check);
    ++result_.applications;
    ++result_.by_rule[static_cast<size_t>(match.rule)];
    if (check.verdict == CheckVerdict::different) {
      const auto same_rule = [&](const auto& held) { return held.first == match.rule; };
      if (std::ranges::none_of(result_.counterexamples, same_rule)) {
        result_.counterexamples.emplace_back(match.rule, std::move(*check.counterexample));
      }
      return false;
    }
    if (!equal || !check.why.empty()) ++result_.incomparable;
    if (rules_->rule(match.rule).all_types && !read_on_one_side(before, rewrite->graph, rng.next()).empty()) {
      result_.counterexamples.emplace_back(
          match.rule, Counterexample{before, rewrite->graph, "one side alone reads some elements", 0, 0});
      return false;
    }
    if (options_.pair) options_.pair(match.rule, before, rewrite->graph);
    after = rewrite->graph;
    return true;
  }

  std::shared_ptr<const rules::RuleSet> rules_;
  SoundnessOptions options_;
  bool wild_ = false;  // where the graph at hand comes from
  SoundnessResult result_;
};

}  // namespace

SoundnessResult check_soundness(const std::shared_ptr<const rules::RuleSet>& rules, const SoundnessOptions& options) {
  return Tester(rules::wherever_true(*rules), options).run();
}

}  // namespace rlgo::rulegen
