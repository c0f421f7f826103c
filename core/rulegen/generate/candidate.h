// Pairs of graphs with equal fingerprints: what may become rules.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/rulegen/generate/enumerate.h"
#include "core/rulegen/generate/enumerate_state.h"

namespace rlgo::rulegen {

// Two graphs over the same variables; output k of one is to equal output k of the other. The target is the cheaper one
// and may have no steps.
struct Candidate {
  Sketch source, target;
};

// Hashes of one graph's tensors, variables first.
struct SketchHashes {
  std::vector<uint64_t> structure, value;
};

// Evaluates graphs at the family's own shapes. One per thread.
class SketchEvaluator {
 public:
  explicit SketchEvaluator(const Family& family);
  SketchHashes hashes(const Sketch& sketch);  // of outputs, equal where sketches compute the same
  // Values where every tensor of that structure is replaced by random numbers.
  SketchHashes hashes_without(const Sketch& sketch, uint64_t structure);

 private:
  Family family_;  // with the identity for the only permutation
  GraphState state_;
};

// Variables renamed: v becomes names[v].
Sketch renamed(const Family& family, const Sketch& sketch, std::span<const uint8_t> names);
// Only what the outputs need, steps in an order that depends on structure alone as far as that goes.
Sketch pruned(const Family& family, const Sketch& sketch);
// Reorders the target's outputs to those of equal value. Nothing where the values differ.
std::optional<Candidate> aligned(SketchEvaluator& evaluator, Sketch source, Sketch target);

struct CandidateCounts {
  uint64_t fingerprints = 0;  // different ones
  uint64_t pairs = 0;         // of a graph with the cheapest one of its fingerprint
  uint64_t selves = 0, identities = 0;
};
// Calls fn for every candidate, in an order that depends on the enumeration alone, `threads` at a time (fn is given the
// thread's number and the candidate's). False where fn gave back false.
bool for_each_candidate(const Enumeration& enumeration, int threads, CandidateCounts& counts,
                        const std::function<bool(int, uint64_t, Candidate)>& fn);

}  // namespace rlgo::rulegen
