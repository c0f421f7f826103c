// Which ranks the tensors of a rule may have together: what operators demand of ranks alone, asked before a case is
// built, so that ranks are chosen only where both sides can exist.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rules/compiled.h"

namespace rlgo::rulegen::sym {

class Ranks {
 public:
  static constexpr int kMost = 15;  // ranks that can be distinguished

  // `all_windows`: images have one to three spatial axes; else two.
  explicit Ranks(const rules::CompiledRule& rule, bool all_windows = false);

  // Two tensors have one rank, by a condition; before the first reset().
  void same(int32_t a, int32_t b) { demand(a, b); }

  // Everything open again: the next case, or the next pass over one.
  void reset();
  // Sets of ranks that are still possible: bit r for rank r. Empty only after fix() has answered false.
  uint32_t of_tensor(int32_t slot) const { return domains_[tensor(slot)]; }
  uint32_t of_sequence(int32_t slot) const { return domains_[sequence(slot)]; }
  uint32_t of_left(size_t node) const { return domains_[left_ + node]; }
  uint32_t of_number(size_t left, size_t place) const;  // the literal at that place of a node on the left
  // The rank of what was just made, of a sequence's first element. False: the two sides cannot both exist then.
  bool fix_tensor(int32_t slot, int rank) { return fix(tensor(slot), rank); }
  bool fix_sequence(int32_t slot, int rank);
  bool fix_number(size_t left, size_t place, int rank);

 private:
  // out = a where b < 0, else out is the larger of the two.
  struct Demand {
    int out = 0, a = 0, b = -1;
    std::vector<int> lists;  // the demand counts where these have elements
  };
  struct Number {
    size_t left = 0, place = 0, variable = 0;
  };
  size_t tensor(int32_t slot) const { return static_cast<size_t>(slot); }
  size_t sequence(int32_t slot) const { return tensors_ + static_cast<size_t>(slot); }
  int operand(const rules::Operand& operand) const;
  template <class Node>
  void read(const Node& node, int out, bool left);
  int fresh(uint32_t ranks);
  void demand(int out, int a, int b = -1);
  void restrict(int out, int variable, uint32_t ranks);
  void of_windows(ops::Op op, int out, const std::vector<int>& in);
  void of_node(ops::Op op, int out, const std::vector<int>& in, int listed, bool keeps);
  bool has_elements(const Demand& demand) const;
  bool fix(size_t variable, int rank);
  bool settle();

  uint32_t windows_;               // ranks of images
  size_t tensors_, left_, right_;  // where the variables of lists, left nodes, right nodes begin
  std::vector<uint32_t> start_, domains_;
  std::vector<std::vector<int>> lists_;  // by variable: lists without whose elements it is of nothing
  std::vector<Demand> demands_;
  std::vector<Number> numbers_;
  std::vector<char> uniform_, filled_;  // by list: its elements have one rank; it has elements
};

}  // namespace rlgo::rulegen::sym
