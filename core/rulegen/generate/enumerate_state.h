// One graph while it is being extended: types, structural hashes and values under all permutations. One per thread.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/rulegen/generate/enumerate.h"

namespace rlgo::rulegen {

class GraphState {
 public:
  explicit GraphState(const Family& family);

  void reset(std::span<const OpStep> steps);  // the graph of these steps
  // Calls fn(step, key) for every extension by one operator: key is equal for graphs that renaming makes equal.
  template <typename Fn>
  void for_each_child(Fn&& fn) {
    for (size_t c = 0; c < family_.configs.size(); ++c) {
      OpStep step{.config = static_cast<uint8_t>(c), .operands = {}};
      choose(step, 0, used_, fn);
    }
  }
  // Adds a step that fits. with_values: also computes it, under all permutations.
  void push(const OpStep& step, bool with_values);
  void pop();

  struct Outcome {
    uint64_t fingerprint = 0;
    int permutation = 0;
    std::vector<int> selves;  // permutations under which the graph differs and computes the same
    bool redundant = false;   // the last step computes only what is there already
    std::array<uint8_t, 2> targets{};
    bool alone = false;  // nothing but the last step's outputs is a result
  };
  // Of the graph whose last step was pushed with values.
  Outcome assess() const;

  // Of the graph as it is, variables not renamed.
  int tensors() const { return tensors_; }
  uint64_t structure(int tensor) const { return structure_[static_cast<size_t>(tensor) * permutations_]; }
  uint64_t value(int tensor) const { return value_[static_cast<size_t>(tensor) * permutations_]; }
  // What the next steps read in the place of a tensor's own values: random numbers.
  void forget(int tensor, uint64_t stream);

 private:
  struct TypedStep {
    int count = 0;  // 0: does not fit
    std::array<uint16_t, 2> shapes{};
  };
  const TypedStep& type(const OpStep& step);
  uint16_t intern(const ops::Shape& shape);
  bool allowed(int tensor, uint32_t used) const;
  uint64_t node_hash(const OpStep& step, size_t permutation) const;
  uint64_t key_with(const OpStep& step, int outputs) const;
  const char* roles(const OpStep& step) const;

  template <typename Fn>
  void choose(OpStep& step, int operand, uint32_t used, Fn& fn) {
    const OpConfig& config = family_.configs[step.config];
    if (operand == config.arity) {
      if (roles(step) == nullptr) return;
      const TypedStep& typed = type(step);
      if (typed.count == 0 || exists(step)) return;
      fn(step, key_with(step, typed.count));
      return;
    }
    const int first = config.commutative && operand == 1 ? step.operands[0] : 0;
    for (int t = first; t < tensors_; ++t) {
      if (!allowed(t, used)) continue;
      step.operands[operand] = static_cast<uint8_t>(t);
      choose(step, operand + 1, t < variables_ ? used | 1u << t : used, fn);
    }
  }
  bool exists(const OpStep& step) const;

  const Family& family_;
  const int variables_, permutations_;
  std::vector<int> before_;  // by variable: the one of its kind that is used first, -1
  std::vector<std::array<const char*, kRoles.size() * kRoles.size() * kRoles.size()>> role_table_;
  std::vector<ops::Shape> shapes_;
  std::unordered_map<uint64_t, TypedStep> types_;
  int tensors_ = 0;
  uint32_t used_ = 0;  // variables that some step reads
  std::vector<OpStep> steps_;
  std::array<int, kMaxTensors> readers_{};
  std::array<char, kMaxTensors> role_{};
  std::array<uint16_t, kMaxTensors> shape_{};
  std::array<TinyShape, kMaxTensors> tiny_{};
  std::vector<uint64_t> structure_, value_;  // [tensor][permutation]
  std::vector<std::vector<Tiny>> data_;      // [tensor], [permutation][element]
};

}  // namespace rlgo::rulegen
