// Models along one axis become chains of images of one row.
#include <gtest/gtest.h>

#include "core/cost/analytic.h"
#include "core/search/search.h"
#include "core/verify/equivalence.h"
#include "tests/support/shipped_rules.h"

namespace rlgo {
namespace {

using graph::Value;
using ops::Attr;
using ops::Ints;
using ops::Op;

// Depthwise convolution, batch norm, relu, pooling, pointwise convolution: a block of a one-dimensional MobileNet.
graph::Graph line_model() {
  graph::Editor editor("line");
  uint64_t seed = 0;
  const auto weight = [&](const ops::Shape& shape, bool positive = false) {
    const std::string name = "w" + std::to_string(++seed);
    return editor.add_weight(name,
                             graph::Blob::seeded(ops::TensorType(ops::DType::f32, shape), seed, 0.5, 0.2, positive));
  };
  Value x = editor.add_input("x", ops::TensorType(ops::DType::f32, {1, 16, 200}));
  for (int block = 0; block < 2; ++block) {
    x = editor.op(Op::conv2d, {x, weight({16, 1, 5})}, {{Attr::group, int64_t{16}}, {Attr::pads, Ints{2, 2}}});
    x = editor.op(Op::batch_norm, {x, weight({16}), weight({16}), weight({16}), weight({16}, true)});
    x = editor.op(Op::relu, {x});
    x = editor.op(Op::max_pool, {x}, {{Attr::kernel, Ints{2}}, {Attr::strides, Ints{2}}});
    x = editor.op(Op::conv2d, {x, weight({16, 16, 1}), weight({16})});
  }
  editor.add_output("y", editor.op(Op::global_avg_pool, {x}));
  return *editor.finish();
}

TEST(Lines, DepthwiseConvolutionsBecomeImages) {
  const graph::Graph before = line_model();
  cost::AnalyticCost cost(cost::AnalyticOptions{}, "cpu");
  const auto result = search::run("sweep", {before, rules::shipped_rules(), cost}, {});
  EXPECT_LT(result.after_us, 0.8 * result.before_us);
  int batch_norms = 0;
  for (const graph::NodeId id : result.graph.order()) {
    const auto& node = result.graph.node(id);
    batch_norms += node.op() == Op::batch_norm ? 1 : 0;
    if (node.op() != Op::conv2d || node.attrs().i(Attr::group) == 1) continue;
    EXPECT_EQ(result.graph.type(node.inputs[0]).rank(), 4);
  }
  EXPECT_EQ(batch_norms, 0);
  verify::EquivalenceOptions in_double;
  in_double.f64 = true;
  const auto same = verify::equivalence(before, result.graph, in_double);
  EXPECT_TRUE(same.within(1e-9)) << same.max_rel_error << same.reason;
}

}  // namespace
}  // namespace rlgo
