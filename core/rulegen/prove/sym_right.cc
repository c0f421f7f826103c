#include <algorithm>

#include "core/base/error.h"
#include "core/rulegen/prove/sym_rule.h"

namespace rlgo::rulegen::sym {

using ops::Attr;
using ops::Op;
using rules::Operand;

void complete(World& world, Op op, Params& params) {
  if (op == Op::slice) {
    const Value *axes = find(params, Attr::axes), *steps = find(params, Attr::steps);
    if (axes && (!steps || steps->list.empty()))
      set(params, Attr::steps, Value::of(Shape(axes->list.size(), world.pool.extents.number(1))));
  }
  // All tensors are of one type.
  if (op == Op::fill || op == Op::literal) set(params, Attr::to, Value::word(world.pool.element_type()));
  for (auto& [key, value] : params) {
    if (value.kind == Value::Kind::extent) value.id = world.logic.facts.canon(value.id);
    if (value.kind == Value::Kind::real) value.id = world.logic.facts.real(value.id);
    for (ExtentId& item : value.list) item = world.logic.facts.canon(item);
  }
}

TermId make_term(EGraph& graph, World& world, Op op, Params params, const std::vector<TermId>& kids, Fit* fit) {
  complete(world, op, params);
  std::vector<Shape> inputs, outputs;
  for (TermId kid : kids) inputs.push_back(world.pool.shape_of(graph.node(kid).outs[0]));
  *fit = infer(world, op, params, inputs, outputs);
  if (*fit != Fit::fits) return -1;
  Kids ids, outs;
  for (TermId kid : kids) ids.push_back(kid);
  for (const Shape& shape : outputs) outs.push_back(world.pool.shape(shape));
  complete(world, op, params);  // what inference has just assumed counts
  return graph.add(static_cast<int>(op), world.pool.params(params), ids, outs);
}

TermId port_of(EGraph& graph, TermId split, int port) {
  const int32_t shape = graph.node(split).outs[static_cast<size_t>(port)];
  return graph.add(kPort, port, Kids{split}, Kids{shape});
}

Fit RightSide::run() {
  for (size_t k = 0; k < rule_.right.size(); ++k) {
    if (const Fit fit = node(k); fit != Fit::fits) return fit;
  }
  return Fit::fits;
}

size_t RightSide::length(const Operand& operand) const {
  const auto index = static_cast<size_t>(operand.index);
  if (operand.kind == Operand::Kind::sequence) return b_.sequences[index].size();
  if (operand.kind == Operand::Kind::left) return graph_.node(b_.nodes[index]).outs.size();
  return right_[index].size();
}

Fit RightSide::node(size_t index) {
  const auto& node = rule_.right[index];
  if (!node.mapped) return make(index, -1);
  int count = -1;
  for (const auto& operand : node.operands) {
    if (!operand.element) continue;
    const int elements = static_cast<int>(length(operand));
    if (count >= 0 && elements != count) return Fit::misfit;
    count = elements;
  }
  for (int round = 0; round < count; ++round) {
    if (const Fit fit = make(index, round); fit != Fit::fits) return fit;
  }
  return Fit::fits;
}

Fit RightSide::expand(const Operand& operand, int round, std::vector<TermId>& out) {
  const auto index = static_cast<size_t>(operand.index);
  if (operand.kind == Operand::Kind::tensor) {
    out.push_back(b_.tensors[index]);
    return Fit::fits;
  }
  if (operand.kind == Operand::Kind::scalar) {
    const Value value = to_attr(w_.pool, evaluate(rule_.scalars[index], scope(round)), 0.0);
    if (value.kind != Value::Kind::real) return value.kind == Value::Kind::open ? Fit::unknown : Fit::misfit;
    out.push_back(scalar(value));
    return Fit::fits;
  }
  const size_t count = length(operand);
  const size_t at = static_cast<size_t>(operand.element ? round : operand.port);
  if (!operand.spread && at >= count) return Fit::misfit;
  for (size_t k = operand.spread ? 0 : at; k < (operand.spread ? count : at + 1); ++k) {
    if (operand.kind == Operand::Kind::sequence) out.push_back(b_.sequences[index][k]);
    if (operand.kind == Operand::Kind::right) out.push_back(right_[index][k]);
    if (operand.kind == Operand::Kind::left) {
      const TermId t = b_.nodes[index];
      out.push_back(
          count > 1 || graph_.node(t).op == static_cast<int>(Op::split) ? port_of(graph_, t, static_cast<int>(k)) : t);
    }
  }
  return Fit::fits;
}

TermId RightSide::scalar(const Value& value) {
  Params params;
  set(params, Attr::shape, Value::of(Shape()));
  set(params, Attr::value, value);
  Fit fit = Fit::fits;
  const TermId t = make_term(graph_, w_, Op::fill, params, {}, &fit);
  RLGO_CHECK(fit == Fit::fits);
  return t;
}

Fit RightSide::attribute(const rules::RightNode& node, const rules::RightAttr& attr, int round, Params& params) {
  if (node.op == Op::cast && attr.expr.kind == rules::Expr::Kind::word) return Fit::unknown;  // a certain type
  Value value = to_attr(w_.pool, evaluate(attr.expr, scope(round)), attr.fallback);
  if (value.kind == Value::Kind::open) return Fit::unknown;
  if (value.kind == Value::Kind::none) return Fit::misfit;
  set(params, attr.key, std::move(value));
  return Fit::fits;
}

Fit RightSide::attributes(const rules::RightNode& node, int round, Params& params) {
  for (const auto& [key, value] : node.defaults.items()) set(params, key, from_attr(w_.pool, value));
  if (node.bundle >= 0) {
    const auto& bundle = b_.bundles[static_cast<size_t>(node.bundle)];
    for (const auto& [key, value] : w_.pool.params_of(bundle.params)) {
      const auto known = [key = key](const ops::AttrSpec& spec) { return spec.key == key; };
      if (in_bundle(*bundle.pattern, key) && std::ranges::any_of(ops::spec(node.op).attrs, known))
        set(params, key, value);
    }
  }
  for (const auto& attr : node.attrs) {
    if (const Fit fit = attribute(node, attr, round, params); fit != Fit::fits) return fit;
  }
  return Fit::fits;
}

Fit RightSide::make(size_t index, int round) {
  const auto& node = rule_.right[index];
  std::vector<TermId> kids;
  for (const auto& operand : node.operands) {
    if (const Fit fit = expand(operand, round, kids); fit != Fit::fits) return fit;
  }
  Params params;
  Fit fit = attributes(node, round, params);
  if (fit != Fit::fits) return fit;
  const TermId t = make_term(graph_, w_, node.op, std::move(params), kids, &fit);
  if (fit != Fit::fits) return fit;
  if (node.op != Op::split) {
    right_[index].push_back(t);
    return Fit::fits;
  }
  for (size_t port = 0; port < graph_.node(t).outs.size(); ++port)
    right_[index].push_back(port_of(graph_, t, static_cast<int>(port)));
  return Fit::fits;
}

Fit RightSide::replaced(const rules::Replacement& replacement, std::vector<std::pair<TermId, TermId>>& pairs) {
  const TermId old = b_.nodes[static_cast<size_t>(replacement.left)];
  const bool split = graph_.node(old).op == static_cast<int>(Op::split);
  const size_t ports = graph_.node(old).outs.size();
  std::vector<TermId> values;
  if (const Fit fit = expand(replacement.with, -1, values); fit != Fit::fits) return fit;
  const bool all = replacement.port < 0;
  if (values.size() != (all ? ports : 1) || (!all && replacement.port >= static_cast<int>(ports))) return Fit::misfit;
  for (size_t k = 0; k < values.size(); ++k) {
    const int port = all ? static_cast<int>(k) : replacement.port;
    pairs.emplace_back(split ? port_of(graph_, old, port) : old, values[k]);
  }
  return Fit::fits;
}

}  // namespace rlgo::rulegen::sym
