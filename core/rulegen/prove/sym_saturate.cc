#include "core/rulegen/prove/sym_saturate.h"

#include "core/base/hash.h"

namespace rlgo::rulegen::sym {

void add_split_terms(EGraph& graph, World& world, int32_t most_terms, int32_t& seen) {
  for (; seen < graph.size() && graph.size() < most_terms; ++seen) {
    const Node node = graph.node(seen);
    if (node.op != static_cast<int>(ops::Op::split)) continue;
    std::vector<TermId> ports;
    for (size_t k = 0; k < node.outs.size(); ++k) ports.push_back(port_of(graph, seen, static_cast<int>(k)));
    Params params;
    set(params, ops::Attr::axis, *find(world.pool.params_of(node.params), ops::Attr::axis));
    Fit fit = Fit::fits;
    make_term(graph, world, ops::Op::concat, params, ports, &fit);
  }
}

bool Saturation::reached(const Goals& goals) const {
  for (const auto& [a, b] : goals) {
    if (!graph_.same(a, b)) return false;
  }
  return true;
}

bool Saturation::run(const Goals& goals, const std::vector<int32_t>& axioms) {
  add_split_terms(graph_, w_, limits_.terms, seeded_);
  for (int k = 0; k < limits_.iterations && !reached(goals); ++k) {
    const auto before = graph_.instances().size();
    const int32_t terms = graph_.size();
    if (round(goals, axioms)) break;
    add_split_terms(graph_, w_, limits_.terms, seeded_);
    if (graph_.instances().size() == before && graph_.size() == terms) break;
  }
  return reached(goals);
}

uint64_t Saturation::key(int32_t axiom, const Binding& b) const {
  uint64_t h = mix64(static_cast<uint64_t>(axiom));
  for (size_t k = 0; k < b.nodes.size(); ++k) {
    if (b.masks.nodes >> k & 1u) h = hash_combine(h, static_cast<uint64_t>(b.nodes[k]));
  }
  for (size_t k = 0; k < b.tensors.size(); ++k) {
    if (b.masks.tensors >> k & 1u) h = hash_combine(h, static_cast<uint64_t>(graph_.find(b.tensors[k])));
  }
  for (size_t k = 0; k < b.sequences.size(); ++k) {
    if ((b.masks.sequences >> k & 1u) == 0) continue;
    h = hash_combine(h, b.sequences[k].size());
    for (TermId t : b.sequences[k]) h = hash_combine(h, static_cast<uint64_t>(graph_.find(t)));
  }
  return h;
}

// Finds all matches first, then applies them. True where the goals are reached or a limit is.
bool Saturation::round(const Goals& goals, const std::vector<int32_t>& axioms) {
  std::vector<std::pair<int32_t, Binding>> found;
  for (const int32_t k : axioms) {
    const auto& axiom = axioms_.axioms()[static_cast<size_t>(k)];
    const auto& rule = axiom.rule;
    if ((axiom.operators & ~graph_.operators()) != 0) continue;
    const auto roots = graph_.of_op(static_cast<int>(rule.left[0].op));
    if (roots.empty()) continue;
    AxiomMatcher matcher(rule, graph_, w_);
    for (TermId root : roots) {
      if (graph_.node(root).duplicate) continue;
      matcher.at(root, [&](const Binding& binding) {
        if (tried_.insert(key(k, binding)).second) found.emplace_back(k, binding);
      });
    }
  }
  for (auto& [axiom, binding] : found) {
    if (graph_.size() > limits_.terms) return true;
    const auto before = graph_.instances().size();
    apply_axiom(axioms_.axioms()[static_cast<size_t>(axiom)].rule, axiom, graph_, w_, std::move(binding));
    if (graph_.instances().size() != before && reached(goals)) return true;
  }
  return false;
}

}  // namespace rlgo::rulegen::sym
