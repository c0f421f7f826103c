#include "core/rulegen/generate/prune.h"

#include <algorithm>
#include <numeric>

#include "core/base/hash.h"
#include "core/rulegen/generate/candidate_dims.h"
#include "core/rulegen/generate/prune_term.h"

namespace rlgo::rulegen {
namespace {

constexpr int kSeeds = 4;

// Small disjoint sets.
class Sets {
 public:
  explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }
  size_t find(size_t at) const {
    while (parent_[at] != at) at = parent_[at];
    return at;
  }
  void unite(size_t a, size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<size_t> parent_;
};

// Bits of the free variables that the outputs depend on.
uint32_t variables_read(const Family& family, const Sketch& sketch) {
  uint32_t read = 0;
  const auto note = [&](int tensor) {
    if (tensor < static_cast<int>(family.variables.size()) && family.variables[tensor].constant < 0) {
      read |= 1u << tensor;
    }
  };
  for (const auto& step : sketch.steps) {
    for (int k = 0; k < family.configs[step.config].arity; ++k) note(step.operands[k]);
  }
  for (int output : sketch.outputs) note(output);
  return read;
}

bool connected(const Family& family, const Sketch& sketch) {
  if (sketch.steps.empty()) return false;
  const TermView view(family, sketch);
  Sets sets(view.size());
  for (size_t s = 0; s < sketch.steps.size(); ++s) {
    const auto& config = family.configs[sketch.steps[s].config];
    for (int p = 0; p < config.outputs; ++p) sets.unite(view.first(s) + p, view.first(s));
    for (int k = 0; k < config.arity; ++k) sets.unite(sketch.steps[s].operands[k], view.first(s));
  }
  return std::ranges::all_of(sketch.steps, [&](const OpStep& step) {
    return sets.find(view.first(&step - sketch.steps.data())) == sets.find(view.first(0));
  });
}

// Whether a graph can be found by its left side and rewritten into the right one.
bool usable(const Family& family, const Sketch& left, const Sketch& right) {
  return connected(family, left) && (variables_read(family, right) & ~variables_read(family, left)) == 0;
}

// Outputs that share an operator, on either side, belong together.
bool falls_apart(const Family& family, const Candidate& pair) {
  const size_t count = pair.source.outputs.size();
  if (count < 2) return false;
  Sets sets(count);
  for (const Sketch* side : {&pair.source, &pair.target}) {
    const TermView view(family, *side);
    std::vector<uint32_t> below(count, 0);
    for (size_t k = 0; k < count; ++k) below[k] = view.steps_below(side->outputs[k]);
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = 0; b < a; ++b) {
        if ((below[a] & below[b]) != 0) sets.unite(a, b);
      }
    }
  }
  for (size_t k = 1; k < count; ++k) {
    if (sets.find(k) != sets.find(0)) return true;
  }
  return false;
}

// The same operator at a result of both sides, with operands that are equal already.
bool same_root(const Family& family, const Candidate& pair, const SketchHashes& left, const SketchHashes& right) {
  const TermView a(family, pair.source), b(family, pair.target);
  for (size_t k = 0; k < pair.source.outputs.size(); ++k) {
    const int s = a.step_of(pair.source.outputs[k]), t = b.step_of(pair.target.outputs[k]);
    if (s < 0 || t < 0 || a.port_of(pair.source.outputs[k]) != b.port_of(pair.target.outputs[k])) continue;
    const OpStep &x = pair.source.steps[s], &y = pair.target.steps[t];
    if (x.config != y.config) continue;
    const auto& config = family.configs[x.config];
    std::array<uint64_t, 3> p{}, q{};
    for (int i = 0; i < config.arity; ++i) p[i] = left.value[x.operands[i]], q[i] = right.value[y.operands[i]];
    if (config.commutative) {
      std::sort(p.begin(), p.begin() + 2);
      std::sort(q.begin(), q.begin() + 2);
    }
    if (p == q) return true;
  }
  return false;
}

// A term of both sides for which any tensor may stand.
bool shared_part(const Family& family, SketchEvaluator& evaluator, const Candidate& pair, const SketchHashes& left,
                 const SketchHashes& right) {
  for (size_t t = family.variables.size(); t < left.structure.size(); ++t) {
    const uint64_t structure = left.structure[t];
    if (std::find(right.structure.begin() + static_cast<ptrdiff_t>(family.variables.size()), right.structure.end(),
                  structure) == right.structure.end()) {
      continue;
    }
    const auto a = evaluator.hashes_without(pair.source, structure);
    const auto b = evaluator.hashes_without(pair.target, structure);
    bool equal = true;
    for (size_t k = 0; k < pair.source.outputs.size(); ++k) {
      equal &= a.value[pair.source.outputs[k]] == b.value[pair.target.outputs[k]];
    }
    if (equal) return true;
  }
  return false;
}

uint64_t sorted_sum(const std::vector<uint64_t>& hashes, const Sketch& sketch) {
  uint64_t sum = 0;
  for (int output : sketch.outputs) sum += mix64(hashes[output]);
  return sum;
}

bool isomorphic(const Family& family, SketchEvaluator& evaluator, const Candidate& pair) {
  const uint64_t target = sorted_sum(evaluator.hashes(pair.target).structure, pair.target);
  return std::ranges::any_of(family.permutations, [&](const auto& names) {
    const Sketch other = renamed(family, pair.source, names);
    return sorted_sum(evaluator.hashes(other).structure, other) == target;
  });
}

}  // namespace

const char* name(Fate fate) {
  static constexpr const char* kNames[] = {"kept",     "renaming", "unusable", "independent", "common",   "reordered",
                                           "repeated", "shapes",   "values",   "instance",    "derivable"};
  return kNames[static_cast<int>(fate)];
}

const char* meaning(Fate fate) {
  static constexpr const char* kMeanings[] = {"kept",
                                              "one graph with its inputs named differently",
                                              "neither side can be found in a graph and has enough to write the other",
                                              "its outputs fall into parts that are rules of their own",
                                              "both sides share a part, and what is left is equal without it",
                                              "equal up to the order of sums and products",
                                              "the same pair again, inputs renamed or sides exchanged",
                                              "well shaped at the enumerated sizes only",
                                              "equal at the enumerated sizes only",
                                              "a kept smaller rule, with terms for its variables",
                                              "two applications of kept rules, through no more expensive graph"};
  return kMeanings[static_cast<int>(fate)];
}

int size_of(const Candidate& pair) { return static_cast<int>(pair.source.steps.size() + pair.target.steps.size()); }

int variables_of(const Family& family, const Candidate& pair) {
  return std::popcount(variables_read(family, pair.source) | variables_read(family, pair.target));
}

uint64_t pair_key(const Family& family, const Candidate& pair) {
  uint64_t least = ~uint64_t{0};
  for (const auto& names : family.permutations) {
    const auto left = unordered_hashes(family, pair.source, names);
    const auto right = unordered_hashes(family, pair.target, names);
    uint64_t there = 0, back = 0;
    for (size_t k = 0; k < pair.source.outputs.size(); ++k) {
      const uint64_t a = left[pair.source.outputs[k]], b = right[pair.target.outputs[k]];
      there += mix64(hash_combine(a, b));
      back += mix64(hash_combine(b, a));
    }
    least = std::min({least, mix64(there), mix64(back)});
  }
  return least;
}

Fate judge(const Family& family, SketchEvaluator& evaluator, const Candidate& pair) {
  const auto left = evaluator.hashes(pair.source), right = evaluator.hashes(pair.target);
  bool equal = pair.source.outputs.size() == pair.target.outputs.size(), same = equal;
  for (size_t k = 0; equal && k < pair.source.outputs.size(); ++k) {
    const int a = pair.source.outputs[k], b = pair.target.outputs[k];
    equal &= left.value[a] == right.value[b];
    same &= left.structure[a] == right.structure[b];
  }
  if (equal && same) return Fate::renaming;
  if (!equal) return isomorphic(family, evaluator, pair) ? Fate::renaming : Fate::values;
  if (!usable(family, pair.source, pair.target) && !usable(family, pair.target, pair.source)) return Fate::unusable;
  if (falls_apart(family, pair)) return Fate::independent;
  if (same_root(family, pair, left, right) || shared_part(family, evaluator, pair, left, right)) return Fate::common;
  if (size_of(pair) > 4) {  // x + (y + z) = (x + y) + z itself is a rule
    const auto& names = family.permutations[0];
    const auto a = unordered_hashes(family, pair.source, names), b = unordered_hashes(family, pair.target, names);
    bool reordered = true;
    for (size_t k = 0; k < pair.source.outputs.size(); ++k) {
      reordered &= a[pair.source.outputs[k]] == b[pair.target.outputs[k]];
    }
    if (reordered) return Fate::reordered;
  }
  const auto symbols = symbolic_pair(family, pair);
  if (!symbols) return Fate::shapes;
  return equal_elsewhere(family, pair, *symbols, kSeeds) ? Fate::kept : Fate::values;
}

}  // namespace rlgo::rulegen
