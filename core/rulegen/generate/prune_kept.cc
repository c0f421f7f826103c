// Candidates that follow from rules kept before them.
#include <algorithm>
#include <functional>
#include <unordered_map>

#include "core/base/hash.h"
#include "core/rulegen/generate/prune.h"
#include "core/rulegen/generate/prune_term.h"

namespace rlgo::rulegen {
namespace {

constexpr size_t kMaxMiddle = 8;  // steps of a graph between two applications

Bound nothing_bound() {
  Bound bound{};
  bound.fill(-1);
  return bound;
}

// One direction of a kept rule.
struct Directed {
  Directed(const Family& family, Sketch left_side, Sketch right_side, int number)
      : left(std::move(left_side)),
        right(std::move(right_side)),
        rule(number),
        left_matcher(family, left),
        right_matcher(family, right) {}
  Directed(const Directed&) = delete;
  Sketch left, right;
  int rule;
  TermMatcher left_matcher, right_matcher;
  bool cancels = false;  // some output is a variable on the right
};

}  // namespace

struct KeptRules::Impl {
  explicit Impl(const Family& f) : family(f), evaluator(f) {}

  // Config of the operator that computes an output, -1 for a variable.
  int root(const Sketch& sketch, size_t output) const {
    const TermView view(family, sketch);
    const int s = view.step_of(sketch.outputs[output]);
    return s < 0 ? -1 : sketch.steps[s].config;
  }

  // Roots of both sides, order of outputs left out.
  uint64_t roots_key(const Sketch& left, const Sketch& right) const {
    uint64_t sum = 0;
    for (size_t k = 0; k < left.outputs.size(); ++k) {
      sum += mix64(hash_combine(static_cast<uint64_t>(root(left, k)) + 1, static_cast<uint64_t>(root(right, k)) + 1));
    }
    return sum;
  }

  // Does the rule express this pair? Values of both sides' tensors are given.
  bool expresses(const Directed& rule, const Sketch& left, const Sketch& right, const SketchHashes& a,
                 const SketchHashes& b) const {
    if (rule.left.outputs.size() != left.outputs.size()) return false;
    std::vector<size_t> order(left.outputs.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    const TermView left_view(family, left), right_view(family, right);
    do {
      std::vector<uint8_t> here, there;
      for (size_t k : order) here.push_back(left.outputs[k]), there.push_back(right.outputs[k]);
      const auto bound = rule.left_matcher.match(left, left_view, a.value, here, nothing_bound());
      if (!bound) continue;
      // The same terms, as tensors of the other side.
      Bound given = nothing_bound();
      for (size_t v = 0; v < family.variables.size(); ++v) {
        if ((*bound)[v] < 0) continue;
        const auto found = std::ranges::find(b.value, a.value[(*bound)[v]]);
        if (found != b.value.end()) given[v] = static_cast<int8_t>(found - b.value.begin());
      }
      const auto back = rule.right_matcher.match(right, right_view, b.value, there, given);
      if (!back) continue;
      bool same = true;
      for (size_t v = 0; v < family.variables.size(); ++v) {
        if ((*bound)[v] >= 0 && (*back)[v] >= 0) same &= a.value[(*bound)[v]] == b.value[(*back)[v]];
      }
      if (same) return true;
    } while (std::ranges::next_permutation(order).found);
    return false;
  }

  int instance_of(const Candidate& pair, const SketchHashes& a, const SketchHashes& b) const {
    for (const bool exchanged : {false, true}) {
      const Sketch &left = exchanged ? pair.target : pair.source, &right = exchanged ? pair.source : pair.target;
      const auto found = by_roots.find(roots_key(left, right));
      std::vector<int> numbers = found == by_roots.end() ? std::vector<int>{} : found->second;
      numbers.insert(numbers.end(), to_variable.begin(), to_variable.end());
      for (int k : numbers) {
        if (expresses(*directed[k], left, right, exchanged ? b : a, exchanged ? a : b)) return directed[k]->rule;
      }
    }
    return -1;
  }

  struct Reached {
    double cost = 0;
    int rule = -1;    // -1: the graph itself
    int second = -1;  // applied after it, a rule with a variable for its right side
  };
  // The graph, all that one application makes of it, and what cancels in that.
  std::unordered_map<uint64_t, Reached> reach(const Sketch& graph, double limit) {
    std::unordered_map<uint64_t, Reached> reached;
    std::vector<std::pair<Sketch, int>> made;
    const auto add = [&](const Sketch& sketch, int rule, int second) {
      const auto hashes = unordered_hashes(family, sketch, family.permutations[0]);
      uint64_t key = 0;
      for (int output : sketch.outputs) key = hash_combine(key, hashes[output]);
      return reached.try_emplace(key, Reached{cost_of(family, sketch), rule, second}).second;
    };
    add(graph, -1, -1);
    one_step(graph, false, [&](const Sketch& sketch, int rule) {
      if (add(sketch, rule, -1) && cost_of(family, sketch) <= limit) made.emplace_back(sketch, rule);
    });
    for (const auto& [sketch, first] : made) {
      one_step(sketch, true, [&, rule = first](const Sketch& other, int second) { add(other, rule, second); });
    }
    return reached;
  }

  // Calls note(graph, rule) for every application; `cancelling`: of rules with a variable for their right side.
  void one_step(const Sketch& graph, bool cancelling, const std::function<void(const Sketch&, int)>& note) {
    const TermView view(family, graph);
    const auto values = unordered_hashes(family, graph, family.permutations[0]);
    for (int t = static_cast<int>(family.variables.size()); t < static_cast<int>(view.size()); ++t) {
      const auto found = by_first_root.find(graph.steps[view.step_of(t)].config);
      if (found == by_first_root.end()) continue;
      for (int k : found->second) {
        if (!cancelling || directed[k]->cancels) apply(*directed[k], graph, view, values, t, note);
      }
    }
  }

  template <typename Note>
  void apply(const Directed& rule, const Sketch& graph, const TermView& view, const std::vector<uint64_t>& values,
             int first, Note& note) const {
    const size_t outputs = rule.left.outputs.size();
    if (outputs > 2) return;
    const auto at = [&](std::span<const uint8_t> places) {
      const auto bound = rule.left_matcher.match(graph, view, values, places, nothing_bound());
      if (!bound) return;
      const auto sketch = rewritten(family, graph, places, rule.right, *bound, kMaxMiddle);
      if (sketch) note(*sketch, rule.rule);
    };
    if (outputs == 1) return at(std::array<uint8_t, 1>{static_cast<uint8_t>(first)});
    for (size_t t = family.variables.size(); t < view.size(); ++t) {
      if (static_cast<int>(t) != first)
        at(std::array<uint8_t, 2>{static_cast<uint8_t>(first), static_cast<uint8_t>(t)});
    }
  }

  bool derived(const Candidate& pair, std::vector<int>* by) {
    const double limit = std::max(cost_of(family, pair.source), cost_of(family, pair.target));
    const auto there = reach(pair.source, limit), back = reach(pair.target, limit);
    for (const auto& [key, left] : there) {
      const auto right = back.find(key);
      if (right != back.end() && left.rule < 0 && right->second.rule < 0) return false;  // only another order of sums
    }
    for (const auto& [key, left] : there) {
      const auto right = back.find(key);
      if (right == back.end() || left.cost > limit) continue;
      const auto& other = right->second;
      const auto applied = [](const Reached& r) { return (r.rule >= 0) + (r.second >= 0); };
      if (applied(left) + applied(other) > 2) continue;
      if (by) *by = {left.rule, left.second, other.second, other.rule};
      return true;
    }
    return false;
  }

  Family family;
  SketchEvaluator evaluator;
  std::vector<std::unique_ptr<Directed>> directed;
  std::unordered_map<uint64_t, std::vector<int>> by_roots;
  std::vector<int> to_variable;  // directed rules with a variable for a side
  std::unordered_map<int, std::vector<int>> by_first_root;
  int count = 0;
};

KeptRules::KeptRules(const Family& family) : impl_(std::make_unique<Impl>(family)) {}
KeptRules::~KeptRules() = default;
int KeptRules::size() const { return impl_->count; }

Fate KeptRules::judge(const Candidate& pair, bool derive, std::vector<int>* by) {
  const auto a = impl_->evaluator.hashes(pair.source), b = impl_->evaluator.hashes(pair.target);
  const int general = impl_->instance_of(pair, a, b);
  if (general >= 0) {
    if (by) *by = {general};
    return Fate::instance;
  }
  return derive && impl_->derived(pair, by) ? Fate::derivable : Fate::kept;
}

void KeptRules::add(const Candidate& pair) {
  for (const bool exchanged : {false, true}) {
    const int number = static_cast<int>(impl_->directed.size());
    const auto& rule = *impl_->directed.emplace_back(std::make_unique<Directed>(
        impl_->family, exchanged ? pair.target : pair.source, exchanged ? pair.source : pair.target, impl_->count));
    bool variable = false;
    for (size_t k = 0; k < rule.left.outputs.size(); ++k) {
      variable |= impl_->root(rule.left, k) < 0 || impl_->root(rule.right, k) < 0;
      impl_->directed[number]->cancels |= impl_->root(rule.right, k) < 0;
    }
    if (variable) {
      impl_->to_variable.push_back(number);
    } else {
      impl_->by_roots[impl_->roots_key(rule.left, rule.right)].push_back(number);
    }
    const int root = impl_->root(rule.left, 0);
    if (root >= 0) impl_->by_first_root[root].push_back(number);
  }
  ++impl_->count;
}

}  // namespace rlgo::rulegen
