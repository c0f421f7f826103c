// Finds the places of an e-graph where one rule applies.
#pragma once

#include <functional>

#include "core/rules/binding.h"
#include "core/rules/plan.h"
#include "core/search/egraph.h"

namespace rlgo::search {

// As rules::Matcher, but an operand may be any e-node of its class, and conditions on the number of readers hold: they
// keep a rewrite from computing twice what is read elsewhere, and an e-graph keeps both sides for the extraction to
// choose from.
class EMatcher {
 public:
  // Gets a right side, and a hash of the rule and what its left side is bound to. True ends the search.
  using Sink = std::function<bool(uint64_t place, const rules::Plan& plan)>;
  // `wanted`: asked before a right side is computed, with the hash; may be empty.
  EMatcher(const rules::CompiledRule& rule, const EGraph& egraph, Sink sink, std::function<bool(uint64_t)> wanted)
      : rule_(rule), egraph_(egraph), sink_(std::move(sink)), wanted_(std::move(wanted)) {}

  // All matches whose first root is this e-node. False where the sink ended it.
  bool at(graph::NodeId id);

 private:
  void step(size_t index);
  void visit(size_t index, int pattern);
  void match_list(size_t index, const rules::LeftNode& pattern, std::span<const graph::Value> inputs, size_t operand,
                  size_t input);
  void match_outputs(size_t index, const rules::LeftNode& pattern, std::span<const graph::Value> inputs, size_t operand,
                     size_t input);
  void match_sequence(size_t index, const rules::LeftNode& pattern, std::span<const graph::Value> inputs,
                      size_t operand, size_t input);
  bool assign(int pattern, graph::NodeId id);
  void finish();
  uint64_t place() const;

  const rules::CompiledRule& rule_;
  const EGraph& egraph_;
  Sink sink_;
  std::function<bool(uint64_t)> wanted_;
  rules::Binding binding_;
  bool ended_ = false;
};

}  // namespace rlgo::search
