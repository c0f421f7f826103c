// Graphs and models that the tests of core/cost share.
#pragma once

#include "core/cost/cost.h"
#include "core/graph/editor.h"

namespace rlgo::cost {

using graph::Editor;
using graph::Graph;
using graph::NodeId;
using graph::Value;
using ops::Attr;
using ops::Ints;
using ops::Op;

inline ops::TensorType f32(ops::Shape shape) { return {ops::DType::f32, std::move(shape)}; }
inline Value weight(Editor& e, ops::Shape shape, uint64_t seed = 1) {
  return e.add_weight("w" + std::to_string(seed), graph::Blob::seeded(f32(std::move(shape)), seed, 1.0));
}
inline Graph finished(Editor& e, Value out) {
  e.add_output("y", out);
  return *e.finish();
}
// x[4,8] @ w[8,16] -> relu
inline Graph small_graph() {
  Editor e("small");
  const Value x = e.add_input("x", f32({4, 8}));
  return finished(e, e.op(Op::relu, {e.op(Op::matmul, {x, weight(e, {8, 16})})}));
}
inline NodeId only(const Graph& g, Op op) {
  NodeId found = graph::kNoNode;
  for (const NodeId id : g.order()) {
    if (g.node(id).op() == op) found = id;
  }
  return found;
}

// Counts what it is asked; answers come from a list, the last one for ever.
class ScriptedCost : public CostModel {
 public:
  explicit ScriptedCost(std::vector<double> answers) : answers_(std::move(answers)) {}
  std::string name() const override { return "scripted"; }
  double op_us(const Graph&, NodeId) override { return answers_[std::min(asked++, answers_.size() - 1)]; }
  size_t asked = 0;

 private:
  std::vector<double> answers_;
};

}  // namespace rlgo::cost
