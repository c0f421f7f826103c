// Finds where the left side of an axiom stands in an e-graph, and applies the axiom there.
#pragma once

#include <functional>

#include "core/rulegen/prove/axiom.h"
#include "core/rulegen/prove/sym_rule.h"

namespace rlgo::rulegen::sym {

class AxiomMatcher {
 public:
  // Called with the binding of each match; attributes that the conditions name are not yet bound.
  using Sink = std::function<void(const Binding&)>;
  AxiomMatcher(const rules::CompiledRule& rule, EGraph& graph, World& world)
      : rule_(rule), graph_(graph), w_(world), b_(rule) {}

  // All matches with the first node of the left side at term `t`.
  void at(TermId t, const Sink& sink);

 private:
  struct Goal {
    int32_t node = 0;
    TermId at = 0;
  };
  void next(size_t goal);
  void node(size_t goal, TermId t);
  void operands(size_t goal, const rules::LeftNode& left, const Kids& kids, size_t operand, size_t kid);
  void operand(size_t goal, const rules::LeftNode& left, const Kids& kids, size_t operand, size_t kid);
  void ports(size_t goal, const rules::LeftNode& left, const Kids& kids, size_t operand, size_t kid);
  void sequence(size_t goal, const rules::LeftNode& left, const Kids& kids, size_t operand, size_t kid);
  bool attributes(const rules::LeftNode& left, const Node& node);
  bool bind(int32_t slot, const Value& value);

  const rules::CompiledRule& rule_;
  EGraph& graph_;
  World& w_;
  Binding b_;
  std::vector<Goal> goals_;
  const Sink* sink_ = nullptr;
};

// Checks the conditions of an axiom under a match, builds both sides as they stand and joins them. False where a
// condition does not follow, a term does not fit, or the sides differ in shape.
bool apply_axiom(const rules::CompiledRule& rule, int32_t axiom, EGraph& graph, World& world, Binding binding);

}  // namespace rlgo::rulegen::sym
