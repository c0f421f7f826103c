#include "core/rulegen/check/bounded.h"

#include "core/base/rng.h"
#include "core/rulegen/check/compare.h"
#include "core/rulegen/check/dependence.h"
#include "core/rules/instance.h"
#include "core/rules/ranges.h"

namespace rlgo::rulegen {
namespace {

// Times as many tries before extents grow. Of mutants many never fit, and there are thousands of them: all that is done
// for the sake of few instances is done less for them.
constexpr int64_t kPatience = 16, kMutantsPatience = 2;

class RandomChoices : public Choices {
 public:
  explicit RandomChoices(uint64_t seed) : rng_({seed}) {}
  int64_t pick(int64_t count) override { return static_cast<int64_t>(rng_.below(static_cast<uint64_t>(count))); }

 private:
  Rng rng_;
};

// Tensors whose totality the rule's conditions ask for, as bits.
uint32_t asked_total(const rules::Expr& expr) {
  uint32_t bits = 0;
  if (expr.calls(rules::Fn::total)) bits |= 1u << expr.args[0].slot.index;
  for (const auto& arg : expr.args) bits |= asked_total(arg);
  return bits;
}

// What is read on one side only and is not asked to have values everywhere; "" where nothing is.
std::string unguarded(const rules::CompiledRule& rule, const rules::Match& match, const graph::Graph& left,
                      const graph::Graph& right, uint64_t seed) {
  auto names = read_on_one_side(left, right, seed);
  if (names.empty()) return "";
  uint32_t total = 0;
  for (const auto& condition : rule.conditions) total |= asked_total(condition.expr);
  std::string found;
  size_t at = 0;
  for (const auto& slot : rule.variables) {
    if (slot.kind != rules::SlotKind::tensor) break;  // lists lie behind: their lengths differ
    const auto& name = left.node(match.variables[at++].node).info->name;
    if (names.erase(name) > 0 && (total >> slot.index & 1u) == 0)
      found += " ?" + rule.tensors[static_cast<size_t>(slot.index)];
  }
  for (const auto& name : names) {
    const bool listed =
        std::ranges::any_of(match.variables, [&](const auto& v) { return left.node(v.node).info->name == name; });
    if (listed && found.empty()) found += " a list";
  }
  return found;
}

bool does_the_same(const rules::RuleSet& original, const rules::Match& match, const graph::Graph& left,
                   const graph::Graph& right) {
  for (const auto& other : rules::find_matches(original, 0, left)) {
    if (other.nodes != match.nodes) continue;
    const auto rewrite = rules::apply(original, other, left);
    if (rewrite && rewrite->graph.hash() == right.hash()) return true;
  }
  return false;
}

// False where the verdict is settled.
bool compare_at(const rules::RuleSet& rules, int rule, const graph::Graph& left, const BoundedOptions& options,
                CheckResult& result) {
  constexpr int kSeeds = 3;
  for (const auto& match : rules::find_matches(rules, rule, left)) {
    const auto right = rules::apply(rules, match, left);
    if (!right) continue;
    if (options.original && does_the_same(*options.original, match, left, right->graph)) {
      ++result.same;
      continue;
    }
    const Comparison comparison(left, right->graph);
    ++result.instances;
    if (options.reads) {
      const auto found = unguarded(rules.rule(rule), match, left, right->graph,
                                   options.seed + static_cast<uint64_t>(result.instances));
      if (!found.empty()) {
        result.verdict = CheckVerdict::different;
        result.counterexample = Counterexample{left, right->graph, "one side alone reads elements of" + found, 0, 0};
        return false;
      }
    }
    if (comparison.exactly(options.exact_terms, options.seed) == true) {
      ++result.exact;
      continue;
    }
    if (comparison.by_z3(options.z3_terms, options.seed)) {
      ++result.by_z3;
      continue;
    }
    if (!comparison.in_field(kSeeds, options.seed, result)) return false;
    ++result.inexact;
  }
  return true;
}

}  // namespace

int64_t AllChoices::pick(int64_t count) {
  if (at_ == digits_.size()) digits_.push_back({0, count});
  return digits_[at_++].value;
}

bool AllChoices::next() {
  digits_.resize(at_);  // what the last run did not come to
  at_ = 0;
  while (!digits_.empty() && digits_.back().value + 1 == digits_.back().count) digits_.pop_back();
  if (digits_.empty()) return false;
  ++digits_.back().value;
  return true;
}

namespace {

BoundedResult check_within(const rules::RuleSet& rules, int rule, const BoundedOptions& options) {
  BoundedResult result;
  result.dims = options.bounds.dims;
  const auto& compiled = rules.rule(rule);
  const auto stopped = [&] { return options.stop && options.stop(); };
  const auto look = [&](Choices& choices) {
    const auto left = bounded_instance(compiled, options.bounds, choices);
    return !left || compare_at(rules, rule, *left, options, result.check);
  };
  AllChoices all;
  bool open = true, more = true;
  for (int64_t tries = 0; open && more && tries < options.most_tries && !stopped(); ++tries) {
    open = look(all);
    if (open) more = all.next();
  }
  result.exhaustive = !more;
  RandomChoices random(options.seed);
  for (int64_t tries = 0; open && more && tries < options.most_tries && !stopped(); ++tries) open = look(random);
  auto& check = result.check;
  if (check.verdict == CheckVerdict::different || !check.why.empty()) return result;
  if (check.instances == 0) {
    check.why = "no instance within the bounds";
  } else {
    check.verdict = CheckVerdict::equal;
  }
  return result;
}

}  // namespace

namespace {

// Compares at up to so many more instances that `make` gives. Ends where the verdict is settled, or at the stop.
// False where it is one of these two.
bool add_instances(const rules::RuleSet& rules, int rule, const BoundedOptions& options, int64_t instances,
                   int64_t attempts, const std::function<std::optional<graph::Graph>()>& make, CheckResult& result) {
  const int64_t enough = result.instances + instances;
  for (int64_t k = 0; k < attempts && result.instances < enough; ++k) {
    if (options.stop && options.stop()) return false;
    const auto left = make();
    if (left && !compare_at(rules, rule, *left, options, result)) return false;
  }
  return true;
}

// Instances whose extents are few different numbers, so that equal ones, which conditions ask for, are frequent. Adds
// to the result until there are enough.
void add_few_extents(const rules::RuleSet& rules, int rule, const BoundedOptions& options, BoundedResult& result) {
  const std::vector<std::vector<int64_t>> pools{{2},       {3}, {1, 2}, {4},    {1, 3}, {2, 4}, {2, 6},
                                                {1, 2, 4}, {5}, {1, 5}, {3, 4}, {1, 6}, {1},    {2}};
  // Times as many tries for the last pool, for the others.
  const int64_t patient = options.original ? 10 : 1000, usual = options.original ? 1 : 4;
  uint64_t seed = options.seed;
  for (const auto& pool : pools) {
    BoundedOptions few = options;
    few.bounds.extents = pool;
    few.bounds.dims = pool.back();
    if (&pool == &pools.back()) few.bounds.ranks = 2;
    RandomChoices random(++seed);
    const int64_t most = options.most_tries * (&pool == &pools.back() ? patient : usual);
    const auto make = [&] { return bounded_instance(rules.rule(rule), few.bounds, random); };
    const int64_t missing = options.least_instances - result.check.instances;
    if (!add_instances(rules, rule, few, missing, most, make, result.check)) return;
  }
  if (result.check.instances > 0 && result.check.why.starts_with("no instance")) {
    result.check.why.clear();
    result.check.verdict = CheckVerdict::equal;
  }
}

// Tensors of up to five axes: more than any operator of images has, so that what a rule states of "rank 4" counts.
Bounds many_axes(Bounds bounds) {
  bounds.extents = {1, 2, 2, 3};
  bounds.dims = 3;
  bounds.ranks = 5;
  return bounds;
}

// Where most mutants are refuted, before the small instances are gone through in order.
class FirstInstances {
 public:
  FirstInstances(const rules::CompiledRule& rule, const BoundedOptions& options)
      : rule_(rule), rng_({options.seed, 0x1A96E}), random_(options.seed + 4) {
    four_.kernel = images_.kernel = options.bounds.kernel;
    four_.extents = {4};
    four_.dims = images_.dims = 4;
    four_.ranks = 2;
    images_.extents = {1, 2, 2, 3};
    images_.images = {4, 5, 6, 7, 8, 9, 10};
    deep_ = many_axes(options.bounds);
  }
  struct Kind {
    int64_t instances, attempts;
    std::function<std::optional<graph::Graph>()> make;
  };
  std::vector<Kind> kinds() {
    // Larger images and other shapes, as contract tests have them; extents of four, along which small differences of
    // steps and bounds show that two or three elements hide; images of many windows: two strides, two tiles of
    // Winograd's; five axes.
    return {{30, 1500, [this] { return rules::random_instance(rule_, rng_); }},
            {300, 20'000, [this] { return bounded_instance(rule_, four_, random_); }},
            {200, 20'000, [this] { return bounded_instance(rule_, images_, random_); }},
            {200, 20'000, [this] { return bounded_instance(rule_, deep_, random_); }}};
  }

 private:
  const rules::CompiledRule& rule_;
  Rng rng_;
  RandomChoices random_;
  Bounds four_, images_, deep_;
};

// What passes for true, or has lists and was met nowhere, is looked at for longer, at small extents and lists of two:
// places where a mistake shows may be rare, as of two operands that are joined along different axes.
void look_longer(const rules::RuleSet& rules, int rule, const BoundedOptions& options, BoundedResult& result) {
  constexpr int64_t kAttempts = 150'000, kInstances = 1500;
  BoundedOptions pairs = options;
  pairs.bounds.extents = {1, 2};
  pairs.bounds.ranks = 3;
  pairs.bounds.least_list = 2;
  RandomChoices random(options.seed + 5);
  const int64_t enough = result.check.instances + kInstances;
  for (int64_t k = 0; k < kAttempts && result.check.instances < enough; ++k) {
    if (result.check.verdict == CheckVerdict::different || (options.stop && options.stop())) return;
    const auto left = bounded_instance(rules.rule(rule), pairs.bounds, random);
    if (left) compare_at(rules, rule, *left, pairs, result.check);  // one without a meaning does not end it
  }
}

BoundedResult check_mutant_first(const rules::RuleSet& rules, int rule, const BoundedOptions& options) {
  BoundedResult result;
  for (const auto& left : options.first) {
    if (!compare_at(rules, rule, left, options, result.check)) return result;
  }
  FirstInstances first(rules.rule(rule), options);
  for (const auto& kind : first.kinds()) {
    if (!add_instances(rules, rule, options, kind.instances, kind.attempts, kind.make, result.check)) break;
  }
  return result;
}

}  // namespace

std::vector<graph::Graph> first_instances(const rules::RuleSet& ranged, int rule, const BoundedOptions& options) {
  const auto real = rules::over_reals(ranged);
  const rules::RuleSet& rules = *real;
  constexpr size_t kOfAKind = 20;
  std::vector<graph::Graph> found;
  FirstInstances first(rules.rule(rule), options);
  for (const auto& kind : first.kinds()) {
    const size_t enough = found.size() + kOfAKind;
    for (int64_t k = 0; k < kind.attempts && found.size() < enough && !(options.stop && options.stop()); ++k) {
      auto left = kind.make();
      if (!left) continue;
      const auto matches = rules::find_matches(rules, rule, *left);
      if (std::ranges::any_of(matches, [&](const auto& m) { return rules::apply(rules, m, *left).has_value(); }))
        found.push_back(std::move(*left));
    }
  }
  return found;
}

BoundedResult check_bounded(const rules::RuleSet& ranged, int rule, const BoundedOptions& options) {
  const auto real = rules::over_reals(ranged);
  const rules::RuleSet& rules = *real;
  BoundedResult first;
  if (options.original) first = check_mutant_first(rules, rule, options);
  if (first.check.verdict == CheckVerdict::different) return first;
  BoundedResult result = check_within(rules, rule, options);
  BoundedOptions wider = options;
  const auto too_few = [&] {
    const int64_t instances = first.check.instances + result.check.instances;
    return result.check.verdict != CheckVerdict::different && (instances == 0 || instances < options.least_instances);
  };
  while (too_few() && wider.bounds.dims < options.reach && !(options.stop && options.stop())) {
    if (!result.exhaustive && wider.most_tries == options.most_tries) {
      wider.most_tries *= options.original ? kMutantsPatience : kPatience;
    } else {
      ++wider.bounds.dims;
    }
    result = check_within(rules, rule, wider);
  }
  if (too_few()) add_few_extents(rules, rule, options, result);
  if (result.check.verdict == CheckVerdict::equal) {
    RandomChoices random(options.seed + 6);
    const Bounds deep = many_axes(options.bounds);
    add_instances(
        rules, rule, options, options.of_many_axes, 100 * options.of_many_axes,
        [&] { return bounded_instance(rules.rule(rule), deep, random); }, result.check);
  }
  result.check.instances += first.check.instances;
  const bool passed = result.check.instances > 0 || !rules.rule(rule).sequences.empty();
  if (options.original && passed) look_longer(rules, rule, options, result);
  result.check.same += first.check.same;
  return result;
}

}  // namespace rlgo::rulegen
