// Symbolic extents of a pair of graphs: what must be equal for both to be well shaped, and other shapes to test at.
#pragma once

#include <optional>
#include <vector>

#include "core/rulegen/generate/candidate.h"

namespace rlgo::rulegen {

// Extents as sums of segments (TASO's split tree): joining a and b gives the extent a + b, a split cuts it where it was
// joined, so cat(x, y) * cat(z, w) demands that x's part equals z's, not only that the sums are equal.
class Segments {
 public:
  int free(int length);  // new segment of a length (free), number (fixed), a + b, a * b
  int fixed(int length);
  int joined(int a, int b);
  int product(int a, int b);
  // How many windows fit along an axis of an image of extent `of`; where that is `of` at any extent, `of`.
  int window(int of, const OpConfig& config, int axis);
  // how: extent of the window, stride, both pads.
  static int windows(int extent, const std::array<int, 3>& how) {
    return extent + how[2] < how[0] ? 0 : (extent + how[2] - how[0]) / how[1] + 1;
  }
  // Both false where the extents cannot be cut or equal in general.
  bool cut(int node, int at, int* first, int* second);
  bool unify(int a, int b);
  int length(int node) const { return nodes_[find(node)].length; }
  // The parts that an extent is the sum of, in order; equal extents have equal lists.
  std::vector<int> leaves(int node) const;
  bool is_fixed(int leaf) const { return nodes_[leaf].fixed; }
  bool is_product(int leaf) const { return nodes_[leaf].factors[0] >= 0; }
  std::array<int, 2> factors(int leaf) const { return nodes_[leaf].factors; }
  int window_of(int leaf) const { return nodes_[leaf].window_of; }  // -1: counts no windows
  const std::array<int, 3>& window_shape(int leaf) const { return nodes_[leaf].window; }

 private:
  struct Node {
    int length = 0;
    int same = -1;  // stands for another
    std::array<int, 2> parts{-1, -1};
    std::array<int, 2> factors{-1, -1};
    bool fixed = false;
    int window_of = -1;
    std::array<int, 3> window{};
  };
  bool is_open(int node) const {
    return !nodes_[node].fixed && nodes_[node].factors[0] < 0 && nodes_[node].window_of < 0;
  }
  int find(int node) const;
  int add(const Node& node);
  std::vector<Node> nodes_;
};

using DimList = std::vector<int>;  // segments' node for each axis

struct SymbolicPair {
  Segments segments;
  std::vector<DimList> source, target;  // by tensor; variables first (the same in both)
};
// Nothing where the two sides are well shaped, and of equal shapes, only at the sizes that were enumerated.
std::optional<SymbolicPair> symbolic_pair(const Family& family, const Candidate& pair);

// Whether both sides compute the same at `seeds` shape sets in which all free extents differ. Every fourth seed draws
// nine of ten numbers below zero.
bool equal_elsewhere(const Family& family, const Candidate& pair, const SymbolicPair& symbols, int seeds);

}  // namespace rlgo::rulegen
