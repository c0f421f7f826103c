// Which candidates add nothing new.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/rulegen/generate/candidate.h"

namespace rlgo::rulegen {

enum class Fate : uint8_t {
  kept,
  renaming,     // one graph with its inputs named differently
  unusable,     // neither side can be found in a graph and states enough to write the other
  independent,  // its outputs fall into parts that are rules of their own
  common,       // both sides share a part: what is left of them without it is equal already
  reordered,    // equal up to the order of sums and products
  repeated,     // the same pair again, inputs renamed
  shapes,       // well shaped at the enumerated sizes only
  values,       // equal at the enumerated sizes only
  instance,     // a kept smaller rule with terms for its variables
  derivable,    // two applications of kept rules, through no more expensive graph
};
constexpr int kFates = 11;
const char* name(Fate verdict);
const char* meaning(Fate verdict);

// The fates that need nothing but the pair itself (renaming .. reordered, shapes, values).
Fate judge(const Family& family, SketchEvaluator& evaluator, const Candidate& pair);

// Equal for pairs that renaming of variables, exchanging of sides and the order of sums make equal.
uint64_t pair_key(const Family& family, const Candidate& pair);
// Operators of both sides; free variables of both.
int size_of(const Candidate& pair);
int variables_of(const Family& family, const Candidate& pair);

// The pairs that were kept so far, for instance and derivable. Not for several threads.
class KeptRules {
 public:
  explicit KeptRules(const Family& family);
  ~KeptRules();
  // instance, derivable or kept; `by` gets the numbers of the rules that it follows from.
  Fate judge(const Candidate& pair, bool derive, std::vector<int>* by);
  void add(const Candidate& pair);
  int size() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlgo::rulegen
