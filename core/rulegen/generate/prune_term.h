// Graphs as terms: producers of tensors, matching of one graph in another, rewriting.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/rulegen/generate/enumerate_family.h"

namespace rlgo::rulegen {

class TermView {
 public:
  TermView(const Family& family, const Sketch& sketch);
  size_t size() const { return size_; }
  size_t first(size_t step) const { return first_[step]; }
  int step_of(int tensor) const { return step_[tensor]; }  // -1: a variable
  int port_of(int tensor) const { return tensor - static_cast<int>(first_[step_[tensor]]); }
  // Bits of the steps that a tensor is computed by.
  uint32_t steps_below(int tensor) const;

 private:
  const Family& family_;
  const Sketch& sketch_;
  size_t size_ = 0;
  std::array<uint8_t, 16> first_{};
  std::array<int8_t, 64> step_{};
};

// By tensor: equal where two terms are equal up to the order of sums and products. names: what variables are called.
std::vector<uint64_t> unordered_hashes(const Family& family, const Sketch& sketch, std::span<const uint8_t> names);

// What stands for a pattern's variables: tensors of the graph, -1 where none does yet.
using Bound = std::array<int8_t, 16>;

// Matches a pattern's outputs at tensors of a graph. Variables stand for any tensor; two places of one variable for
// tensors of equal `values`. All orders of the operands of commutative steps are tried.
class TermMatcher {
 public:
  TermMatcher(const Family& family, const Sketch& pattern);
  // Nothing where the term is no instance.
  std::optional<Bound> match(const Sketch& graph, const TermView& view, std::span<const uint64_t> values,
                             std::span<const uint8_t> places, const Bound& given) const;

 private:
  bool visit(int tensor, int place, uint32_t swaps) const;
  const Family& family_;
  const Sketch& pattern_;
  TermView view_;
  std::vector<int> swappable_;  // by step: number among commutative ones, -1
  int commutative_ = 0;
  // The call in progress.
  mutable const Sketch* graph_ = nullptr;
  mutable const TermView* graph_view_ = nullptr;
  mutable std::span<const uint64_t> values_;
  mutable Bound bound_{};
};

// The graph with tensors `places` computed by `pattern` (whose variables are bound). Nothing where that makes a cycle
// or more than `max_steps` steps.
std::optional<Sketch> rewritten(const Family& family, const Sketch& graph, std::span<const uint8_t> places,
                                const Sketch& pattern, const Bound& bound, size_t max_steps);

}  // namespace rlgo::rulegen
