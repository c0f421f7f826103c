#include "core/rulegen/prove/sym_match.h"

#include <algorithm>

#include "core/base/error.h"

namespace rlgo::rulegen::sym {

using ops::Op;
using rules::LeftNode;
using rules::Operand;

void AxiomMatcher::at(TermId t, const Sink& sink) {
  sink_ = &sink;
  b_.masks = {};
  std::ranges::fill(b_.nodes, -1);
  goals_.assign(1, {0, t});
  node(0, t);
}

// Goal 0 is a given term; the others are classes.
void AxiomMatcher::next(size_t goal) {
  if (goal == goals_.size()) return (*sink_)(b_);
  const Goal wanted = goals_[goal];
  const auto index = static_cast<size_t>(wanted.node);
  if ((b_.masks.nodes >> index & 1u) != 0) {
    if (graph_.same(b_.nodes[index], wanted.at)) next(goal + 1);
    return;
  }
  const auto members = graph_.members(wanted.at);
  for (TermId t : members) node(goal, t);
}

void AxiomMatcher::node(size_t goal, TermId t) {
  const auto index = static_cast<size_t>(goals_[goal].node);
  const LeftNode& left = rule_.left[index];
  const Node& node = graph_.node(t);
  w_.spend(1);
  if (node.op != static_cast<int>(left.op) || node.duplicate) return;
  const auto saved = b_.masks;
  const size_t goals = goals_.size();
  if (attributes(left, node)) {
    b_.nodes[index] = t;
    b_.masks.nodes |= 1u << index;
    const auto inner = b_.masks;
    const Kids kids = node.kids;
    operands(goal, left, kids, 0, 0);
    if (left.commutative && kids.size() == 2 && !graph_.same(kids[0], kids[1])) {
      b_.masks = inner;
      operands(goal, left, Kids{kids[1], kids[0]}, 0, 0);
    }
  }
  goals_.resize(goals);
  b_.masks = saved;
}

bool AxiomMatcher::bind(int32_t slot, const Value& value) {
  if ((b_.masks.attributes >> slot & 1u) != 0)
    return equal(w_, b_.attributes[static_cast<size_t>(slot)], value) == Truth::yes;
  b_.attributes[static_cast<size_t>(slot)] = value;
  b_.masks.attributes |= 1u << slot;
  return true;
}

bool AxiomMatcher::attributes(const LeftNode& left, const Node& node) {
  if (node.params < 0) return false;
  const Params& params = w_.pool.params_of(node.params);
  for (const auto& [key, wanted] : left.fixed) {
    if ((left.op == Op::fill || left.op == Op::literal) && key == ops::Attr::to)
      continue;  // all tensors are of one type
    const Value* held = find(params, key);
    if (!held || equal(w_, *held, from_attr(w_.pool, wanted)) != Truth::yes) return false;
  }
  for (const auto& test : left.tests) {
    const Value* held = find(params, test.key);
    if (!held) return false;
    if (!test.is_list) {
      if (!bind(test.items[0].slot, *held)) return false;
      continue;
    }
    if (held->list.size() != test.items.size()) return false;
    for (size_t k = 0; k < test.items.size(); ++k) {
      const auto& item = test.items[k];
      if (item.slot >= 0 ? !bind(item.slot, Value::extent(held->list[k]))
                         : w_.logic.facts.equal(held->list[k], w_.pool.extents.number(item.number)) != Truth::yes)
        return false;
    }
  }
  if (left.bundle < 0) return true;
  auto& bundle = b_.bundles[static_cast<size_t>(left.bundle)];
  if ((b_.masks.bundles >> left.bundle & 1u) == 0) {
    bundle = {node.params, &left};
    b_.masks.bundles |= 1u << left.bundle;
    return true;
  }
  const auto covered = [&](const Params& a, const LeftNode& of_a, const Params& b, const LeftNode& of_b) {
    return std::ranges::all_of(a, [&](const auto& item) {
      if (!in_bundle(of_a, item.first)) return true;
      const Value* other = in_bundle(of_b, item.first) ? find(b, item.first) : nullptr;
      return other && equal(w_, item.second, *other) == Truth::yes;
    });
  };
  const Params& held = w_.pool.params_of(bundle.params);
  return covered(held, *bundle.pattern, params, left) && covered(params, left, held, *bundle.pattern);
}

void AxiomMatcher::operands(size_t goal, const LeftNode& left, const Kids& kids, size_t operand, size_t kid) {
  if (operand == left.operands.size()) {
    if (kid == kids.size()) next(goal + 1);
    return;
  }
  const auto saved = b_.masks;
  const size_t goals = goals_.size();
  if (left.operands[operand].kind == Operand::Kind::sequence) {
    sequence(goal, left, kids, operand, kid);
  } else if (kid < kids.size()) {
    this->operand(goal, left, kids, operand, kid);
  }
  goals_.resize(goals);
  b_.masks = saved;
}

void AxiomMatcher::operand(size_t goal, const LeftNode& left, const Kids& kids, size_t operand, size_t kid) {
  const Operand& wanted = left.operands[operand];
  const auto slot = static_cast<size_t>(wanted.index);
  if (wanted.kind == Operand::Kind::tensor) {
    if ((b_.masks.tensors >> slot & 1u) != 0) {
      if (!graph_.same(b_.tensors[slot], kids[kid])) return;
    } else {
      b_.tensors[slot] = kids[kid];
      b_.masks.tensors |= 1u << slot;
    }
    return operands(goal, left, kids, operand + 1, kid + 1);
  }
  if (wanted.kind == Operand::Kind::scalar) {
    const Scope scope{rule_, graph_, w_, b_, nullptr, -1, nullptr};
    const Value value = to_attr(w_.pool, evaluate(rule_.scalars[slot], scope), 0.0);
    for (TermId t : graph_.members(kids[kid])) {
      const Node& node = graph_.node(t);
      if (node.op != static_cast<int>(Op::fill)) continue;
      if (equal(w_, *find(w_.pool.params_of(node.params), ops::Attr::value), value) != Truth::yes) continue;
      b_.scalars[slot] = t;
      return operands(goal, left, kids, operand + 1, kid + 1);
    }
    return;
  }
  if (rule_.left[slot].op == Op::split) return ports(goal, left, kids, operand, kid);
  goals_.push_back({wanted.index, kids[kid]});
  operands(goal, left, kids, operand + 1, kid + 1);
}

// One output of a split, or all of them.
void AxiomMatcher::ports(size_t goal, const LeftNode& left, const Kids& kids, size_t operand, size_t kid) {
  const Operand wanted = left.operands[operand];
  std::vector<TermId> splits;
  for (TermId t : graph_.members(kids[kid])) {
    const Node& node = graph_.node(t);
    if (node.op == kPort && node.params == wanted.port && !node.duplicate) splits.push_back(node.kids[0]);
  }
  for (TermId split : splits) {
    const int ports = static_cast<int>(graph_.node(split).outs.size());
    const size_t taken = wanted.spread ? static_cast<size_t>(ports) : 1;
    if (kid + taken > kids.size()) continue;
    bool fits = true;
    for (int port = 1; wanted.spread && port < ports && fits; ++port) {
      const TermId other = graph_.lookup(kPort, port, Kids{split});
      fits = other >= 0 && graph_.same(other, kids[kid + static_cast<size_t>(port)]);
    }
    if (!fits) continue;
    const size_t goals = goals_.size();
    const auto saved = b_.masks;
    goals_.push_back({wanted.index, split});
    operands(goal, left, kids, operand + 1, kid + taken);
    goals_.resize(goals);
    b_.masks = saved;
  }
}

void AxiomMatcher::sequence(size_t goal, const LeftNode& left, const Kids& kids, size_t operand, size_t kid) {
  const auto slot = static_cast<size_t>(left.operands[operand].index);
  auto& items = b_.sequences[slot];
  if ((b_.masks.sequences >> slot & 1u) != 0) {
    if (kid + items.size() > kids.size()) return;
    for (size_t k = 0; k < items.size(); ++k) {
      if (!graph_.same(items[k], kids[kid + k])) return;
    }
    return operands(goal, left, kids, operand + 1, kid + items.size());
  }
  const auto saved = b_.masks;
  for (size_t count = 0; kid + count <= kids.size(); ++count) {
    if (operand + 1 == left.operands.size() && kid + count != kids.size()) continue;
    b_.masks = saved;
    b_.masks.sequences |= 1u << slot;
    items.assign(kids.begin() + kid, kids.begin() + kid + count);
    operands(goal, left, kids, operand + 1, kid + count);
  }
}

namespace {

// The left side as the axiom writes it, over the terms that its variables stand for.
class LeftTerms {
 public:
  LeftTerms(const rules::CompiledRule& rule, EGraph& graph, const Binding& binding)
      : rule_(rule), graph_(graph), b_(binding), made_(rule.left.size(), -1) {}

  TermId node(size_t index) {
    if (made_[index] >= 0) return made_[index];
    const Node matched = graph_.node(b_.nodes[index]);
    Kids kids;
    for (const auto& operand : rule_.left[index].operands) {
      const auto slot = static_cast<size_t>(operand.index);
      if (operand.kind == Operand::Kind::tensor) kids.push_back(b_.tensors[slot]);
      if (operand.kind == Operand::Kind::scalar) kids.push_back(b_.scalars[slot]);
      if (operand.kind == Operand::Kind::sequence) {
        for (TermId t : b_.sequences[slot]) kids.push_back(t);
      }
      if (operand.kind != Operand::Kind::left) continue;
      const TermId inner = node(slot);
      if (rule_.left[slot].op != Op::split) {
        kids.push_back(inner);
        continue;
      }
      const int ports = static_cast<int>(graph_.node(inner).outs.size());
      for (int port = operand.spread ? 0 : operand.port; port < (operand.spread ? ports : operand.port + 1); ++port)
        kids.push_back(port_of(graph_, inner, port));
    }
    made_[index] = graph_.add(matched.op, matched.params, kids, matched.outs);
    return made_[index];
  }

 private:
  const rules::CompiledRule& rule_;
  EGraph& graph_;
  const Binding& b_;
  std::vector<TermId> made_;
};

bool conditions_follow(const rules::CompiledRule& rule, EGraph& graph, World& world, Binding& binding) {
  const Scope scope{rule, graph, world, binding, nullptr, -1, nullptr};
  for (const auto& deferred : rule.deferred) {
    const Node& node = graph.node(binding.nodes[static_cast<size_t>(deferred.node)]);
    const Value value = evaluate(deferred.expr, scope);
    if (equal(world, *find(world.pool.params_of(node.params), deferred.key), value) != Truth::yes) return false;
  }
  for (const auto& condition : rule.conditions) {
    const Value value = evaluate(condition.expr, scope);
    if (condition.let >= 0) {
      if (value.kind == Value::Kind::none || value.kind == Value::Kind::open) return false;
      binding.attributes[static_cast<size_t>(condition.let)] = value;
      binding.masks.attributes |= 1u << condition.let;
    } else if (value.kind != Value::Kind::truth || value.truth != Truth::yes) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool apply_axiom(const rules::CompiledRule& rule, int32_t axiom, EGraph& graph, World& world, Binding binding) {
  constexpr int64_t kSteps = 20;  // what it takes, next to a step of matching
  world.spend(kSteps);
  if (!conditions_follow(rule, graph, world, binding)) return false;
  LeftTerms left(rule, graph, binding);
  for (size_t k = 0; k < rule.left.size(); ++k) {
    const TermId exact = left.node(k);
    if (!graph.same(exact, binding.nodes[k])) return false;  // operands were joined in another way meanwhile
    binding.nodes[k] = exact;
  }
  RightSide right(rule, graph, world, binding, nullptr);
  if (right.run() != Fit::fits) return false;
  std::vector<std::pair<TermId, TermId>> pairs;
  for (const auto& replacement : rule.replacements) {
    if (right.replaced(replacement, pairs) != Fit::fits) return false;
  }
  for (const auto& [old, fresh] : pairs) {
    if (graph.node(old).outs != graph.node(fresh).outs) return false;
  }
  for (const auto& [old, fresh] : pairs) graph.merge(axiom, old, fresh);
  return true;
}

}  // namespace rlgo::rulegen::sym
