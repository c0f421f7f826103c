// Rules with several roots can tie a knot: a new value that reads something which depends on another replaced value.
#include <algorithm>
#include <utility>

#include "core/rules/matcher.h"

namespace rlgo::rules {
namespace {

using graph::NodeId;
using graph::Value;

// Values that the new value reads, without those that stand before every root, and without constants.
std::vector<Value> risky_reads(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding,
                               const Replacement& replacement) {
  std::vector<Value> reads;
  const auto add = [&](Value v) {
    if (!graph.node(v.node).constant) reads.push_back(v);
  };
  for (size_t k = 0; k < rule.tensors.size(); ++k) {
    if (replacement.tensors & ~rule.safe_tensors & (1u << k)) add(binding.tensors[k]);
  }
  for (size_t k = 0; k < rule.sequences.size(); ++k) {
    if ((replacement.sequences & ~rule.safe_sequences & (1u << k)) == 0) continue;
    for (const Value& v : binding.sequences[k]) add(v);
  }
  for (size_t k = 0; k < rule.left.size(); ++k) {
    if ((replacement.left_nodes & ~rule.safe_left & (1u << k)) == 0) continue;
    const auto ports = static_cast<int32_t>(graph.node(binding.nodes[k]).info->outputs.size());
    for (int32_t port = 0; port < ports; ++port) {
      const bool replaced = std::ranges::any_of(rule.replacements, [&](const Replacement& r) {
        return r.left == static_cast<int32_t>(k) && (r.port < 0 || r.port == port);
      });
      if (!replaced) add({binding.nodes[k], port});
    }
  }
  return reads;
}

// Bit r: some path from a value of `reads` up to replaced value r passes no other replaced value.
uint32_t reached(const CompiledRule& rule, const graph::Graph& graph, Binding& binding, std::vector<Value> stack,
                 int64_t* visited) {
  int32_t first = INT32_MAX;
  for (const auto& replacement : rule.replacements)
    first = std::min(first, graph.position(binding.nodes[replacement.left]));
  binding.seen.resize(static_cast<size_t>(graph.id_bound()), 0);
  if (++binding.walk == 0) std::ranges::fill(binding.seen, binding.walk++);
  uint32_t hit = 0;
  while (!stack.empty()) {
    const Value v = stack.back();
    stack.pop_back();
    if (graph.position(v.node) < first) continue;  // stands before all roots
    bool replaced = false;
    for (size_t r = 0; r < rule.replacements.size(); ++r) {
      const auto& replacement = rule.replacements[r];
      if (binding.nodes[replacement.left] != v.node || (replacement.port >= 0 && replacement.port != v.port)) continue;
      hit |= 1u << r;
      replaced = true;
    }
    auto& seen = binding.seen[static_cast<size_t>(v.node)];
    if (replaced || std::exchange(seen, binding.walk) == binding.walk) continue;
    ++*visited;
    for (const Value& input : graph.node(v.node).inputs) stack.push_back(input);
  }
  return hit;
}

}  // namespace

bool would_cycle(const CompiledRule& rule, const graph::Graph& graph, Binding& binding, bool* sensitive,
                 int64_t* visited) {
  const size_t count = rule.replacements.size();
  std::vector<uint32_t> depends(count, 0);
  *sensitive = false;
  for (size_t r = 0; r < count; ++r) {
    auto reads = risky_reads(rule, graph, binding, rule.replacements[r]);
    if (reads.empty()) continue;
    *sensitive = true;
    depends[r] = reached(rule, graph, binding, std::move(reads), visited);
  }
  for (size_t via = 0; via < count; ++via) {  // transitive closure
    for (size_t r = 0; r < count; ++r) {
      if (depends[r] >> via & 1u) depends[r] |= depends[via];
    }
  }
  for (size_t r = 0; r < count; ++r) {
    if (depends[r] >> r & 1u) return true;
  }
  return false;
}

}  // namespace rlgo::rules
