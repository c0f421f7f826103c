#include "core/rulegen/prove/sym_number.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::rulegen::sym {
namespace {

using ops::Op;
using rules::Operand;

// The axiom that makes a scalar of a number at this operand; nothing where there is none.
std::optional<std::string> fill_shape(Op op, size_t place) {
  const bool ordered = op == Op::sub || op == Op::div;
  const bool either = op == Op::add || op == Op::mul || op == Op::max || op == Op::min;
  if (!ordered && !either && !(op == Op::pow && place == 1)) return std::nullopt;
  return fmt::format("{}-fill-shape{}", ops::name(op), ordered && place == 0 ? "-first" : "");
}

bool mentions_node(const rules::Expr& expr) {
  return expr.slot.kind == rules::SlotKind::left || expr.slot.kind == rules::SlotKind::right ||
         std::ranges::any_of(expr.args, mentions_node);
}

// An operator on single elements over the tensor, numbers and other such nodes; a number stands next to something else.
template <class Nodes>
bool is_pointwise(const Nodes& node, Operand::Kind inner) {
  return ops::spec(node.op).elementwise &&
         std::ranges::all_of(node.operands,
                             [&](const Operand& operand) {
                               return !operand.spread && !operand.element &&
                                      (operand.kind == Operand::Kind::tensor || operand.kind == inner ||
                                       operand.kind == Operand::Kind::scalar);
                             }) &&
         std::ranges::any_of(node.operands,
                             [](const Operand& operand) { return operand.kind != Operand::Kind::scalar; });
}

// Whether the replaced node reads all others.
bool one_term(const rules::CompiledRule& rule) {
  std::vector<bool> read(rule.left.size(), false);
  std::vector<int32_t> open{rule.replacements[0].left};
  while (!open.empty()) {
    const auto at = static_cast<size_t>(open.back());
    open.pop_back();
    if (read[at]) continue;
    read[at] = true;
    for (const auto& operand : rule.left[at].operands) {
      if (operand.kind == Operand::Kind::left) open.push_back(operand.index);
    }
  }
  return std::ranges::find(read, false) == read.end();
}

}  // namespace

std::optional<std::string> covered_number(const rules::CompiledRule& rule, const EGraph& graph, const Pool& pool,
                                          const Binding& binding) {
  for (size_t k = 0; k < rule.left.size(); ++k) {
    const auto& left = rule.left[k];
    if (left.operands.size() != 2) continue;
    const Node& node = graph.node(binding.nodes[k]);
    for (size_t place = 0; place < 2; ++place) {
      if (left.operands[place].kind != Operand::Kind::scalar) continue;
      const Node &number = graph.node(node.kids[place]), &other = graph.node(node.kids[1 - place]);
      if (pool.shape_of(number.outs[0]).empty() || node.outs[0] != other.outs[0]) continue;
      if (auto axiom = fill_shape(left.op, place)) return axiom;
    }
  }
  return std::nullopt;
}

std::optional<std::set<std::string>> only_scalars(const rules::CompiledRule& rule) {
  const bool plain = rule.tensors.size() == 1 && rule.sequences.empty() && rule.deferred.empty() &&
                     rule.replacements.size() == 1 && rule.replacements[0].with.kind != Operand::Kind::left &&
                     rule.replacements[0].with.kind != Operand::Kind::scalar;
  if (!plain || !one_term(rule)) return std::nullopt;
  std::set<std::string> axioms;
  for (const auto& node : rule.left) {
    if (!is_pointwise(node, Operand::Kind::left)) return std::nullopt;
    for (size_t place = 0; place < node.operands.size(); ++place) {
      if (node.operands[place].kind != Operand::Kind::scalar) continue;
      const auto axiom = fill_shape(node.op, place);
      if (!axiom) return std::nullopt;
      axioms.insert(*axiom);
    }
  }
  const auto of_right = [](const rules::RightNode& node) {
    return !node.mapped && is_pointwise(node, Operand::Kind::right) &&
           std::ranges::none_of(node.attrs, [](const auto& attr) { return mentions_node(attr.expr); });
  };
  const bool reads_nodes =
      std::ranges::any_of(rule.conditions, [](const auto& condition) { return mentions_node(condition.expr); }) ||
      std::ranges::any_of(rule.scalars, mentions_node);
  if (reads_nodes || !std::ranges::all_of(rule.right, of_right) || axioms.empty()) return std::nullopt;
  return axioms;
}

}  // namespace rlgo::rulegen::sym
