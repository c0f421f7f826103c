// Inside of RuleSet, shared with MatchIndex.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/rules/matcher.h"

namespace rlgo::rules {

// A pattern node that may match nodes of some operator.
struct Anchor {
  int32_t rule = 0;
  int32_t pattern = 0;
};

// A match, shared between the indexes of graphs that have it, and what is true of it in one graph.
struct Placed {
  std::shared_ptr<const Found> found;
  uint64_t nodes = 0;                 // bit id % 64 of each matched node
  uint64_t signature = 0;             // the same as in `found`
  graph::NodeId first = 0, last = 0;  // of the matched nodes, in order
  bool sensitive = false;             // the same as in `found`
  bool blocked = false;               // a cycle would arise

  void find_ends(const graph::Graph& graph);  // first and last
};
Placed place(const graph::Graph& graph, Found found);

struct RuleSet::Impl {
  std::vector<std::shared_ptr<const CompiledRule>> rules;
  std::array<std::vector<Anchor>, 256> anchors;      // by operator id
  std::array<std::vector<Anchor>, 256> use_anchors;  // those of them that ask uses
  std::vector<uint32_t> asks_uses;                   // by rule: bit k where pattern node k's readers are counted
  uint64_t hash = 0;
  std::string remark;  // RuleSet::remark()

  void finish();  // anchors and hash from rules
};

// Orders by positions of nodes, then of variables.
bool stands_before(const graph::Graph& graph, const Match& a, const Match& b);
// From all matches in order to those that are offered: no blocked ones, `before` kept, one of equal results. Indices.
std::vector<uint32_t> publish(const CompiledRule& rule, const graph::Graph& graph, std::span<const Placed> all);
// Sorts, and drops repeated matches; the first `sorted` are in order and different.
void sort_found(const graph::Graph& graph, std::vector<Placed>& all, size_t sorted = 0);

}  // namespace rlgo::rules
