// The two sides of a rule as terms over symbolic shapes, one case after another: ranks, lengths of lists and sequences,
// axes, permutations and fused activations are numbers and words in each case; extents, strides, pads, dilations,
// groups, kernel sizes and factors stay symbolic.
#pragma once

#include "core/rulegen/prove/sym_plan.h"

namespace rlgo::rulegen::sym {

struct CaseLimits {
  int max_rank = 4;             // of variables whose rank the rule leaves open
  int max_sequence = 3;         // elements of ?xs... (and parts of a split) are 1, .., max_sequence
  bool all_windows = false;     // of one to three spatial axes; else of two
  bool scalar_numbers = false;  // numbers on the left have no shape, see only_scalars()
};

// Terms of the right side under a binding. fits: `right[k]` are the outputs of right node k (of a mapped one: of its
// rounds). In assume mode demands are made on the facts.
class RightSide {
 public:
  RightSide(const rules::CompiledRule& rule, EGraph& graph, World& world, Binding& binding, Choices* choices)
      : rule_(rule), graph_(graph), w_(world), b_(binding), choices_(choices), right_(rule.right.size()) {}
  Fit run();  // builds it in the e-graph
  // What a replacement states: (old, new) outputs. misfit: they are not equally many.
  Fit replaced(const rules::Replacement& replacement, std::vector<std::pair<TermId, TermId>>& pairs);
  const std::vector<std::vector<TermId>>& outputs() const { return right_; }

 private:
  Scope scope(int round) const { return {rule_, graph_, w_, b_, &right_, round, choices_}; }
  Fit node(size_t index);
  Fit make(size_t index, int round);
  Fit attributes(const rules::RightNode& node, int round, Params& params);
  Fit attribute(const rules::RightNode& node, const rules::RightAttr& attr, int round, Params& params);
  Fit expand(const rules::Operand& operand, int round, std::vector<TermId>& out);
  size_t length(const rules::Operand& operand) const;
  TermId scalar(const Value& value);

  const rules::CompiledRule& rule_;
  EGraph& graph_;
  World& w_;
  Binding& b_;
  Choices* choices_;
  std::vector<std::vector<TermId>> right_;
};

// op(kids) with its shape inferred; -1 and why where it does not fit.
TermId make_term(EGraph& graph, World& world, ops::Op op, Params params, const std::vector<TermId>& kids, Fit* fit);
// Output `port` of a split.
TermId port_of(EGraph& graph, TermId split, int port);
// What is equal for the prover: attributes at their defaults, `to` of a fill left out, extents in normal form.
void complete(World& world, ops::Op op, Params& params);

// The left side of a rule (not of an axiom) with fresh variables, its conditions assumed.
class LeftSide {
 public:
  // `plan`: of this rule.
  LeftSide(const rules::CompiledRule& rule, EGraph& graph, World& world, Binding& binding, Choices& choices,
           LeftPlan& plan, const CaseLimits& limits);
  // Throws Impossible, Untranslatable.
  void run();

 private:
  Scope scope() const { return {rule_, graph_, w_, b_, nullptr, -1, &choices_}; }
  void node(size_t index);
  void conditions();
  std::vector<TermId> operands(size_t index);
  TermId variable(const std::string& name, size_t index, size_t place, int wanted_rank, uint32_t possible);
  void sequence(size_t index, const rules::Operand& operand, size_t place, std::vector<TermId>& kids);
  // Constants of a form, in sym_left_constants.cc.
  TermId built(ops::Op op, Params params, const std::vector<TermId>& kids);
  TermId constant(const std::string& name, int32_t slot, int rank);
  TermId uniform(int rank, const std::string& name, Value value);
  TermId rising(const std::string& name, const Shape& shape);
  TermId varying(const std::string& name, const Shape& shape);
  int rank_of_place(ops::Op op, size_t place) const;
  int choose_rank(const void* place, int part, int least, int most, uint32_t possible);
  int rank_of(TermId t) const { return static_cast<int>(w_.pool.shape_of(graph_.node(t).outs[0]).size()); }
  Params attributes(size_t index, const std::vector<TermId>& kids);
  Value attribute(size_t index, const ops::AttrSpec& spec, const std::vector<TermId>& kids, int length);
  Value list_attribute(size_t index, ops::Attr key, const std::string& name, const Shape& first, int length);
  Value symbols(const std::string& name, size_t count, int64_t least);
  Value permutation(size_t index, size_t rank);
  Value subset(size_t index, ops::Attr key, size_t rank, int length);
  void bind(const rules::AttrTest& test, const Value& value);
  void bind_slot(int32_t slot, const Value& value);
  void axis_first(size_t index);
  void check_conditions();

  const rules::CompiledRule& rule_;
  EGraph& graph_;
  World& w_;
  Binding& b_;
  Choices& choices_;
  LeftPlan& plan_;
  const CaseLimits& limits_;
  uint64_t checked_ = 0;  // conditions, see check_conditions()
};

}  // namespace rlgo::rulegen::sym
