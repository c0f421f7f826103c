#include "core/rulegen/sym_saturate.h"

#include "core/base/hash.h"

namespace rlgo::rulegen::sym {

bool Saturation::reached(const Goals& goals) const {
  for (const auto& [a, b] : goals) {
    if (!graph_.same(a, b)) return false;
  }
  return true;
}

bool Saturation::run(const Goals& goals, const std::vector<int32_t>& axioms) {
  seeds();
  for (int k = 0; k < limits_.iterations && !reached(goals); ++k) {
    const auto before = graph_.instances().size();
    const int32_t terms = graph_.size();
    if (round(goals, axioms)) break;
    seeds();
    if (graph_.instances().size() == before && graph_.size() == terms) break;
  }
  return reached(goals);
}

// Terms that axioms need and would not make by themselves: the outputs of each split, and their concat, which is the
// whole. Adding a term asserts nothing.
void Saturation::seeds() {
  for (; seeded_ < graph_.size() && graph_.size() < limits_.terms; ++seeded_) {
    const Node node = graph_.node(seeded_);
    if (node.op != static_cast<int>(ops::Op::split)) continue;
    std::vector<TermId> ports;
    for (size_t k = 0; k < node.outs.size(); ++k) ports.push_back(port_of(graph_, seeded_, static_cast<int>(k)));
    Params params;
    set(params, ops::Attr::axis, *find(w_.pool.params_of(node.params), ops::Attr::axis));
    Fit fit = Fit::fits;
    make_term(graph_, w_, ops::Op::concat, params, ports, &fit);
  }
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
