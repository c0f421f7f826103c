// Writes a pair of graphs as a rule: the class behind rule_text(). Inside of rule_writer_text.cc and
// rule_writer_attributes.cc.
#pragma once

#include <map>
#include <set>

#include "core/rulegen/generate/prune_term.h"
#include "core/rulegen/generate/rule_writer.h"
#include "core/rulegen/generate/rule_writer_windows.h"

namespace rlgo::rulegen {

// Thrown where the language cannot express it; caught by rule_text().
struct Inexpressible {};

class RuleWriter {  // of one pair in one style
 public:
  RuleWriter(const Family& family, const Candidate& pair, const SymbolicPair& symbols, const RuleStyle& style,
             std::string activation)
      : family_(family),
        pair_(pair),
        symbols_(symbols),
        style_(style),
        activation_(std::move(activation)),
        views_{TermView(family, pair.source), TermView(family, pair.target)},
        windows_(family, pair, style) {  // of both sides
    for (int side : {0, 1}) count_readers(side);
  }

  std::string body();  // the rule's lines below its name

 private:
  const std::vector<DimList>& dims(int side) const { return side == 0 ? symbols_.source : symbols_.target; }
  const Sketch& sketch(int side) const { return side == 0 ? pair_.source : pair_.target; }
  int rank(int side, int tensor) const { return static_cast<int>(dims(side)[tensor].size()); }
  bool is_free(int tensor) const;
  void count_readers(int side);
  void choose_left_names();
  std::string reference(int side, int tensor);

  // Constants of more than one number, and such whose number depends on their size, that stand on the left: an
  // averaging kernel is asked for by a condition on its one number, an identity by the terms that make it.
  std::string named_constant(const Variable& variable);
  std::string right_constant(int tensor, const Variable& variable);
  std::string typed_variable() const;
  std::string result(int tensor, const std::string& old);

  // The left root is a concat of two that may stand among others.
  bool surrounded() const;
  std::string node(int side, int s);
  int axis_of(int side, const OpStep& step, const OpConfig& config) const;
  std::string attributes(int side, int s, const OpStep& step, const OpConfig& config);

  // Of the input of a depthwise convolution on the right side.
  std::string channels(const OpStep& step);

  // A free variable that has a tensor's rank.
  std::string witness(int side, int tensor) const;
  std::string from_last(int side, int tensor, int axis) const;
  bool on_left(int variable) const { return readers_[0][variable] > 0; }
  std::string axis_text(int side, int s, int axis);
  // 1: a transpose lies below the step; -1: above it; 0: neither.
  int place_of(int side, int s) const;
  // The left side's one axis, where the one transpose has been moved past the operator that it belongs to.
  std::string moved_axis(int s) const;
  // Extents that the left side names or that variables have, as sums of segments.
  std::string length_text(const std::vector<int>& wanted, int axis, int of_rank);
  std::string sizes(int side, int s, int axis);
  std::string perm_text(int side, const OpStep& step, const OpConfig& config);
  std::string shape_text(int side, int s);
  void demand_types();

  const Family& family_;
  const Candidate& pair_;
  const SymbolicPair& symbols_;
  const RuleStyle& style_;
  const std::string activation_;
  std::array<TermView, 2> views_;
  std::array<std::vector<int>, 2> readers_;
  std::array<std::map<int, std::string>, 2> names_;        // by step
  std::map<std::pair<int, int>, std::string> axis_names_;  // by axis and rank
  std::map<std::vector<int>, std::string> perm_names_;
  std::vector<std::pair<std::vector<int>, std::string>> sizes_;
  std::vector<std::pair<std::vector<std::vector<int>>, std::string>> shapes_;
  std::vector<std::string> conditions_;
  std::string constants_;  // equations of the left side
  std::set<std::string> named_constants_;
  WindowText windows_;
  std::string around_axis_;
  int axis_place_ = 0;
};

}  // namespace rlgo::rulegen
