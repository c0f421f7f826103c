#include "core/rulegen/check/wild_instance.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "core/graph/editor.h"
#include "core/ops/moves.h"
#include "core/rulegen/check/wild_choice.h"
#include "core/rulegen/check/wild_wishes.h"
#include "core/rules/instance_parts.h"

namespace rlgo::rulegen {
namespace {

using graph::Value;
using ops::Attr;
using ops::DType;
using ops::Op;
using ops::Shape;
using ops::TensorType;
using rules::LeftNode;
using rules::Operand;

constexpr int kDraws = 40;    // of one node at one place of the search
constexpr int kWaysOn = 6;    // of those that fit, so many are gone on from
constexpr int kBudget = 600;  // draws for one graph

// An output of a left node, or a leaf.
struct Source {
  int leaf = -1, node = -1;
  int32_t port = 0;
};
// What a variable or a number of the rule stands for where no other value of the graph does.
struct Leaf {
  TensorType type;
  std::optional<double> number;                      // a fill of this
  bool constant = false;                             // conditions ask for a constant
  std::optional<ops::Attrs> literal = std::nullopt;  // a literal of these
};
struct Placed {
  ops::Attrs attrs;
  std::vector<Source> operands;
  ops::Types outputs;
};

class WildMaker {
 public:
  WildMaker(const rules::CompiledRule& rule, Rng& rng) : rule_(rule), rng_(rng), choose_(rule, rng), wishes_(rule) {
    for (const auto& condition : rule.conditions) asked_.look(condition.expr);
    order_nodes();
  }

  std::optional<graph::Graph> run() {
    State state;
    state.nodes.resize(rule_.left.size());
    if (!place(0, state)) return std::nullopt;
    return build(state);
  }

 private:
  using Key = std::tuple<int, int32_t, int>;  // operand kind, index, element
  // The left side as far as it is placed: types alone, so that a choice which led nowhere can be taken back.
  struct State {
    std::vector<std::optional<Placed>> nodes;  // by left node
    std::vector<Leaf> leaves;
    std::map<Key, Source> bound;
    std::map<int32_t, int> lengths;  // of sequences
    rules::BoundAttributes attributes;
  };

  void order_nodes() {
    std::vector<bool> seen(rule_.left.size(), false);
    const auto visit = [&](const auto& self, size_t k) -> void {
      if (seen[k]) return;
      seen[k] = true;
      for (const auto& operand : rule_.left[k].operands) {
        if (operand.kind == Operand::Kind::left) self(self, static_cast<size_t>(operand.index));
      }
      order_.push_back(k);
    };
    for (size_t k = 0; k < rule_.left.size(); ++k) visit(visit, k);
  }

  // Depth first: where the nodes behind a draw fit nowhere, the node is drawn again.
  bool place(size_t at, State& state) {
    if (at == order_.size()) return true;
    for (int draw = 0, ways = 0; draw < kDraws && ways < kWaysOn; ++draw) {
      if (budget_-- <= 0) return false;
      State next = state;
      if (!draw_node(order_[at], next)) continue;
      ++ways;
      if (place(at + 1, next)) {
        state = std::move(next);
        return true;
      }
    }
    return false;
  }

  bool draw_node(size_t index, State& state) {
    const LeftNode& left = rule_.left[index];
    Placed placed;
    if (!operands(left, state, placed.operands)) return false;
    state.attributes.give(left, placed.attrs);
    std::vector<TensorType> types;
    for (const auto& source : placed.operands) types.push_back(type_of(state, source));
    for (const auto& spec : ops::spec(left.op).attrs) {
      if (!placed.attrs.find(spec.key)) placed.attrs.set(spec.key, choose_.attribute(left, spec, types, placed.attrs));
    }
    state.attributes.bind(left, placed.attrs);
    auto outputs = ops::infer(left.op, types, placed.attrs);
    if (!outputs) return false;
    placed.outputs = std::move(*outputs);
    state.nodes[index] = std::move(placed);
    return true;
  }

  static const TensorType& type_of(const State& state, const Source& source) {
    if (source.leaf >= 0) return state.leaves[static_cast<size_t>(source.leaf)].type;
    return state.nodes[static_cast<size_t>(source.node)]->outputs[static_cast<size_t>(source.port)];
  }

  bool operands(const LeftNode& left, State& state, std::vector<Source>& sources) {
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::left) {
        const auto count = static_cast<int32_t>(state.nodes[static_cast<size_t>(operand.index)]->outputs.size());
        if (!operand.spread && operand.port >= count) return false;
        for (int32_t p = operand.spread ? 0 : operand.port; p < (operand.spread ? count : operand.port + 1); ++p)
          sources.push_back({-1, operand.index, p});
      } else if (operand.kind == Operand::Kind::sequence) {
        const auto [held, is_new] =
            state.lengths.try_emplace(operand.index, static_cast<int>(choose_.between(0, choose_.percent(60) ? 1 : 5)));
        for (int k = 0; k < held->second; ++k) sources.push_back(variable(left, operand, k, state, sources));
      } else {
        sources.push_back(variable(left, operand, 0, state, sources));
      }
    }
    return true;
  }

  // What the variable stands for, chosen at its first use.
  Source variable(const LeftNode& left, const Operand& operand, int element, State& state,
                  const std::vector<Source>& before) {
    const Key key{static_cast<int>(operand.kind), operand.index, element};
    if (const auto held = state.bound.find(key); held != state.bound.end()) return held->second;
    if (operand.kind == Operand::Kind::scalar) {
      const auto& number = rule_.scalars[static_cast<size_t>(operand.index)];
      return add_leaf(state, constant(number.kind == rules::Expr::Kind::integer ? static_cast<double>(number.integer)
                                                                                : number.real));
    }
    const bool tensor = operand.kind == Operand::Kind::tensor;
    Leaf leaf;
    leaf.constant = tensor && (asked_.constant >> operand.index & 1u) != 0;
    const bool valued = tensor && (asked_.value >> operand.index & 1u) != 0 && choose_.percent(80);
    // Two variables may be one value, and a variable may be what another node of the left side computes.
    if (!leaf.constant && !valued && choose_.percent(8)) {
      if (const auto other = any_value(state)) return state.bound[key] = *other;
    }
    std::vector<TensorType> types;
    for (const auto& source : before) types.push_back(type_of(state, source));
    const bool kernel = left.op == Op::conv2d && types.size() == 1;
    if (valued && !kernel) {
      leaf = constant(any_number());
    } else {
      const bool index = ops::holds_places(left.op, types.size());
      leaf.type = TensorType(index ? DType::i64 : choose_.type(), choose_.operand(left.op, types, shapes(state)));
    }
    if (tensor && choose_.percent(80)) wishes_.grant(operand.index, leaf.type.shape, known_shapes(state));
    if (valued && kernel) {
      const auto window = static_cast<double>(std::max<int64_t>(1, leaf.type.elements()));
      const double channels = leaf.type.rank() == 4 ? static_cast<double>(leaf.type.shape[0] * leaf.type.shape[1]) : 1;
      leaf.number = choose_.percent(70) ? std::max(1.0, channels) / window : any_number();
    }
    if (tensor && ((asked_.rising | asked_.varying) >> operand.index & 1u) != 0 && choose_.percent(90))
      leaf.literal = indices(left.op, asked_.rising >> operand.index & 1u, types, leaf.type);
    return state.bound[key] = add_leaf(state, std::move(leaf));
  }

  // Of places that a tensor has along all of its axes: which one it is to be is open yet.
  std::optional<ops::Attrs> indices(Op op, bool rising, const std::vector<TensorType>& before, const TensorType& type) {
    if (!ops::holds_places(op, before.size()) || before[0].rank() == 0) return std::nullopt;
    if (!rising && type.rank() == 0) return std::nullopt;
    const auto axis = type.rank() == 0 ? 0 : choose_.between(0, type.rank() - 1);
    return rules::literal_of_indices(type, rising, axis, *std::ranges::min_element(before[0].shape), rng_);
  }

  double any_number() {
    std::vector<double> numbers = asked_.numbers;
    numbers.insert(numbers.end(), {0, 1, 2, -0.5, -3});
    return numbers[rng_.below(numbers.size())];
  }

  static WildWishes::Known known_shapes(const State& state) {
    return [&state](int tensor) -> const Shape* {
      const auto held = state.bound.find(Key{static_cast<int>(Operand::Kind::tensor), tensor, 0});
      return held == state.bound.end() ? nullptr : &type_of(state, held->second).shape;
    };
  }

  static Source add_leaf(State& state, Leaf leaf) {
    state.leaves.push_back(std::move(leaf));
    return {static_cast<int>(state.leaves.size()) - 1, -1, 0};
  }

  Leaf constant(double value) {
    const ops::Ints one(choose_.percent(60) ? 0 : static_cast<size_t>(choose_.between(1, 3)),
                        choose_.percent(90) ? 1 : choose_.extent());
    return {TensorType(choose_.type(), Shape(std::span<const int64_t>(one))), value, true};
  }

  static std::vector<Shape> shapes(const State& state) {
    std::vector<Shape> all;
    for (const auto& leaf : state.leaves) all.push_back(leaf.type.shape);
    for (const auto& node : state.nodes) {
      if (node && !node->outputs.empty()) all.push_back(node->outputs[0].shape);
    }
    return all;
  }

  std::optional<Source> any_value(const State& state) {
    std::vector<Source> all;
    for (size_t k = 0; k < state.leaves.size(); ++k) {
      if (!state.leaves[k].number) all.push_back({static_cast<int>(k), -1, 0});
    }
    for (size_t k = 0; k < state.nodes.size(); ++k) {
      if (state.nodes[k]) all.push_back({-1, static_cast<int>(k), 0});
    }
    if (all.empty()) return std::nullopt;
    return all[rng_.below(all.size())];
  }

  std::optional<graph::Graph> build(const State& state) {
    graph::Editor editor("wild");
    std::vector<Value> leaves;
    for (const auto& leaf : state.leaves) leaves.push_back(leaf_value(editor, leaf, leaves.size()));
    std::vector<graph::NodeId> ids(rule_.left.size(), graph::kNoNode);
    for (const size_t k : order_) {
      std::vector<Value> values;
      for (const auto& source : state.nodes[k]->operands) {
        values.push_back(source.leaf >= 0 ? leaves[static_cast<size_t>(source.leaf)]
                                          : Value{ids[static_cast<size_t>(source.node)], source.port});
      }
      const auto id = editor.try_add(rule_.left[k].op, values, state.nodes[k]->attrs);
      if (!id || std::ranges::find(ids, *id) != ids.end()) return std::nullopt;
      ids[k] = *id;
    }
    int number = 0;
    for (const size_t k : order_) {
      if (!rule_.left[k].replaced && !choose_.percent(15)) continue;
      const auto ports = static_cast<int32_t>(editor.node(ids[k]).info->outputs.size());
      for (int32_t p = 0; p < ports; ++p)
        editor.add_output("out" + std::to_string(number++), passed_on(editor, {ids[k], p}, 20));
    }
    return editor.finish();
  }

  Value leaf_value(graph::Editor& editor, const Leaf& leaf, size_t number) {
    if (leaf.number) {
      return editor.op(Op::fill, {},
                       {{Attr::shape, ops::Ints(leaf.type.shape.begin(), leaf.type.shape.end())},
                        {Attr::to, std::string(ops::name(leaf.type.dtype))},
                        {Attr::value, *leaf.number}});
    }
    if (leaf.literal) return editor.op(Op::literal, {}, *leaf.literal);
    const std::string name = "v" + std::to_string(number);
    if (leaf.type.dtype == DType::f32 && choose_.percent(leaf.constant ? 90 : 30))
      return editor.add_weight(name, graph::Blob::seeded(leaf.type, rng_.next(), 0.7, 0.2, false));
    const Value input = editor.add_input(name, leaf.type);
    return leaf.constant ? input : passed_on(editor, input, 15);
  }

  // Something around the left side: now and then an operator behind the value.
  Value passed_on(graph::Editor& editor, Value value, uint64_t chance) {
    constexpr std::array<Op, 3> kOperators{Op::relu, Op::neg, Op::abs};
    if (!choose_.percent(chance)) return value;
    const auto id = editor.try_add(kOperators[rng_.below(kOperators.size())], std::array{value}, {});
    return id ? Value{*id, 0} : value;
  }

  const rules::CompiledRule& rule_;
  Rng& rng_;
  WildChooser choose_;
  WildWishes wishes_;
  rules::Asked asked_;
  std::vector<size_t> order_;  // of left nodes: operands first
  int budget_ = kBudget;
};

}  // namespace

std::optional<graph::Graph> wild_instance(const rules::CompiledRule& rule, Rng& rng) {
  return WildMaker(rule, rng).run();
}

}  // namespace rlgo::rulegen
