// What every operator means, once, over any ring: the definition that rules are checked against. Agrees with ONNX
// (explicit pads, -inf around max_pool, count_include_pad, ceil_mode) and is tested against the kernels of core/exec.
//
// A ring R has: Element; zero(), integer(n), ratio(n, d), number(double); add, sub, neg, mul, div, power; maximum,
// minimum of spans; apply(Fn, x); whole(x); and R::Sum for sums of products.
#pragma once

#include <functional>
#include <optional>

#include "core/graph/graph.h"
#include "core/ops/moves.h"
#include "core/rulegen/semantics/eval_enlarge.h"
#include "core/rulegen/semantics/eval_index.h"
#include "core/rulegen/semantics/eval_reduce.h"
#include "core/rulegen/semantics/eval_sequence.h"
#include "core/rulegen/semantics/eval_shape.h"
#include "core/rulegen/semantics/eval_window.h"

namespace rlgo::rulegen {

// Outputs of one operator. `attrs` are complete, `types` what ops::infer states. False where the operator has no
// meaning over real numbers on these inputs: leaves, opaque ones, rounding (integer division, casts to shorter
// integers), steps (comparisons), windows without an element, indices out of range.
template <class R>
bool eval_op(R& ring, ops::Op op, const ops::Attrs& attrs, std::span<const TensorOf<R>* const> inputs,
             const ops::Types& types, std::vector<TensorOf<R>>& outputs) {
  using ops::Op;
  outputs.clear();
  Eval<R> e{ring, attrs, inputs, types, outputs};
  if (ops::is_reduction(op)) return eval_reduce(e, op);
  switch (op) {
#define RLGO_MEANING(name, meaning) \
  case Op::name:                    \
    return meaning;
#include "core/rulegen/semantics/meaning_list.def"
#undef RLGO_MEANING
    default:
      return eval_elementwise(e, op);
  }
}

// Contents of an input or weight of the graph.
template <class R>
using Leaves = std::function<TensorOf<R>(const graph::Graph&, graph::NodeId)>;

// The graph's outputs, in order. Nothing where an operator cannot be evaluated; then `failed` (where given) is its
// node. Values are let go after their last reader.
template <class R>
std::optional<std::vector<TensorOf<R>>> eval_graph(R& ring, const graph::Graph& graph, const Leaves<R>& leaves,
                                                   graph::NodeId* failed = nullptr) {
  std::vector<std::vector<TensorOf<R>>> values(static_cast<size_t>(graph.id_bound()));
  std::vector<size_t> readers(values.size(), 0);
  for (graph::NodeId id : graph.order()) readers[id] = graph.node(id).uses.size();
  for (const auto& output : graph.outputs()) ++readers[output.value.node];
  for (graph::NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    if (node.op() == ops::Op::input || node.op() == ops::Op::weight) {
      values[id].push_back(leaves(graph, id));
      continue;
    }
    std::vector<const TensorOf<R>*> inputs;
    for (const auto& value : node.inputs) inputs.push_back(&values[value.node][value.port]);
    if (!eval_op<R>(ring, node.op(), node.attrs(), inputs, node.info->outputs, values[id])) {
      if (failed) *failed = id;
      return std::nullopt;
    }
    for (const auto& value : node.inputs) {
      if (--readers[value.node] == 0) values[value.node].clear();
    }
  }
  std::vector<TensorOf<R>> outputs;
  for (const auto& output : graph.outputs()) outputs.push_back(values[output.value.node][output.value.port]);
  return outputs;
}

}  // namespace rlgo::rulegen
