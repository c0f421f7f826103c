// Terms over symbolic shapes, and the equalities between them that instances of axioms give: congruence closure that
// refuses to join terms of different shapes and remembers why two terms are equal.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/small_vector.h"
#include "core/ops/op.h"

namespace rlgo::rulegen::sym {

using TermId = int32_t;
using Kids = SmallVector<int32_t, 4>;

// Operators of the graph, and: variable (params = its number), port (params = which output of the split below).
constexpr int kVariable = 1000;
constexpr int kPort = 1001;

struct Node {
  int op = 0;
  int32_t params = 0;  // Pool::params(), or a plain number for variable and port
  Kids kids;
  Kids outs;               // shapes of the outputs (Pool::shape()); several for a split
  bool duplicate = false;  // congruent to an older one: matching it again finds nothing new
};

// The function symbol that stands for the term's operator, attributes and number of operands in Z3's formulas.
std::string function_name(const Node& node);

// A ground instance of an axiom: left = right.
struct Instance {
  int32_t axiom = 0;
  TermId left = 0, right = 0;
};

class EGraph {  // terms and which are equal (Nelson 1980; egg, Willsey et al. 2021)
 public:
  void clear();
  // The same (op, params, kids) is the same term. Kids must be terms of this graph.
  TermId add(int op, int32_t params, const Kids& kids, const Kids& outs);
  // A term of that form up to what is equal, or -1.
  TermId lookup(int op, int32_t params, const Kids& kids) const;
  TermId find(TermId t) const;
  bool same(TermId a, TermId b) const { return find(a) == find(b); }
  // Joins by an axiom's instance, and by congruence what follows. False: shapes differ, nothing is joined.
  bool merge(int32_t axiom, TermId left, TermId right);

  const Node& node(TermId t) const { return nodes_[static_cast<size_t>(t)]; }
  std::span<const TermId> members(TermId t) const { return members_[static_cast<size_t>(find(t))]; }
  std::span<const TermId> of_op(int op) const;       // terms of an operator, in the order of their making
  uint64_t operators() const { return operators_; }  // bit op % 64 is set where there is such a term
  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }
  const std::vector<Instance>& instances() const { return instances_; }
  int64_t refused() const { return refused_; }

  // Instances that a = b follows from by congruence (and commutativity); a and b must be the same.
  void explain(TermId a, TermId b, std::set<int32_t>& instances) const;
  static bool commutative(int op) { return op < kVariable && ops::spec(static_cast<ops::Op>(op)).commutative; }

 private:
  struct Link {
    TermId to = -1;
    int32_t reason = -1;  // instance, or -1: congruence
  };
  struct Signature {
    int op;
    int32_t params;
    Kids kids;
    bool operator==(const Signature&) const = default;
  };
  struct SignatureHash {
    size_t operator()(const Signature& s) const;
  };
  Signature signature(TermId t) const;
  void join(TermId a, TermId b, int32_t reason);
  void close();
  void link(TermId a, TermId b, int32_t reason);
  std::vector<TermId> path_to_root(TermId t) const;

  std::vector<Node> nodes_;
  mutable std::vector<TermId> parent_;                  // union-find
  std::vector<std::vector<TermId>> members_, readers_;  // by root
  std::vector<Link> links_;                             // proof forest
  std::unordered_map<Signature, TermId, SignatureHash> exact_, canonical_;
  std::unordered_map<int, std::vector<TermId>> of_op_;
  std::vector<Instance> instances_;
  std::vector<std::pair<TermId, TermId>> pending_;  // congruent terms
  int64_t refused_ = 0;
  uint64_t operators_ = 0;
};

}  // namespace rlgo::rulegen::sym
