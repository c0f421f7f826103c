#include "core/rulegen/check/bounded.h"

#include "core/base/rng.h"
#include "core/rulegen/check/compare.h"

namespace rlgo::rulegen {
namespace {

constexpr int64_t kPatience = 16;  // times as many tries before extents grow

class RandomChoices : public Choices {
 public:
  explicit RandomChoices(uint64_t seed) : rng_({seed}) {}
  int64_t pick(int64_t count) override { return static_cast<int64_t>(rng_.below(static_cast<uint64_t>(count))); }

 private:
  Rng rng_;
};

// False where the verdict is settled.
bool compare_at(const rules::RuleSet& rules, int rule, const graph::Graph& left, const BoundedOptions& options,
                CheckResult& result) {
  constexpr int kSeeds = 3;
  for (const auto& match : rules::find_matches(rules, rule, left)) {
    const auto right = rules::apply(rules, match, left);
    if (!right) continue;
    const Comparison comparison(left, right->graph);
    ++result.instances;
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
  if (check.verdict == Verdict::different || !check.why.empty()) return result;
  if (check.instances == 0) {
    check.why = "no instance within the bounds";
  } else {
    check.verdict = Verdict::equal;
  }
  return result;
}

}  // namespace

BoundedResult check_bounded(const rules::RuleSet& rules, int rule, const BoundedOptions& options) {
  BoundedResult result = check_within(rules, rule, options);
  BoundedOptions wider = options;
  while (result.check.instances == 0 && wider.bounds.dims < options.reach && !(options.stop && options.stop())) {
    if (!result.exhaustive && wider.most_tries == options.most_tries) {
      wider.most_tries *= kPatience;
    } else {
      ++wider.bounds.dims;
    }
    result = check_within(rules, rule, wider);
  }
  return result;
}

}  // namespace rlgo::rulegen
