// What measuring promises apart from the times themselves.
#include "core/exec/measure.h"

#include <malloc.h>

#include "core/exec/freed_memory.h"
#include "core/exec/measured_cost.h"
#include "core/exec/warm_up.h"
#include "tests/core/exec/graphs.h"

namespace rlgo::exec {
namespace {

using ops::DType;
using ops::TensorType;

const MeasureOptions kQuick{{.warmup = 1, .repeats = 3, .min_sample_us = 50, .threads = 1}, 1000};

TEST(Measure, BatchesShortOperatorsAndReportsTheSpread) {
  const auto relu = measure_op(Op::relu, {}, {TensorType(DType::f32, {8})}, {}, kQuick);
  EXPECT_GT(relu.median_us, 0.0);
  EXPECT_GE(relu.spread_us, 0.0);
  EXPECT_EQ(relu.samples, 3);
  EXPECT_GT(relu.batch, 1);
}

TEST(Measure, FreeOperatorsCostNothing) {
  EXPECT_EQ(measure_op(Op::reshape, {{Attr::shape, Ints{4}}}, {TensorType(DType::f32, {2, 2})}, {}, kQuick).median_us,
            0.0);
  EXPECT_EQ(measure_op(Op::fill, {{Attr::shape, Ints{4}}}, {}, {}, kQuick).samples, 0);
}

TEST(Measure, RefusesWhatDoesNotFit) {
  EXPECT_THROW(measure_op(Op::add, {}, {TensorType(DType::f32, {2}), TensorType(DType::f32, {3})}, {}, kQuick), Error);
  EXPECT_THROW(measure_op(Op::softmax, {}, {TensorType(DType::f32, {2})}, {}, kQuick), Error);
  auto none = kQuick;
  none.repeats = 0;
  EXPECT_THROW(measure_op(Op::relu, {}, {TensorType(DType::f32, {2})}, {}, none), Error);
}

TEST(Measure, ThreadsAreSetBackAfterwards) {
  const int before = at::get_num_threads();
  auto two = kQuick;
  two.threads = 2;
  measure_op(Op::relu, {}, {TensorType(DType::f32, {8})}, {}, two);
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST(Measure, WarmingUpShowsHowManyRunsASampleTakes) {
  std::vector<double> times_us = {900, 120, 100, 400};
  int runs = 0;
  const auto sample_us = [&](int batch) {
    EXPECT_EQ(batch, 1);
    return times_us[static_cast<size_t>(runs++)];
  };
  EXPECT_EQ(warm_up(sample_us, 2, 1000, 4096), 10);
  EXPECT_EQ(runs, 4);
}

TEST(Measure, ASlowModelIsWarmAfterOneRun) {
  int runs = 0;
  const auto sample_us = [&](int) { return ++runs, 2e5; };
  EXPECT_EQ(warm_up(sample_us, 5, 1000, 4096), 1);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(warm_up(sample_us, 0, 1000, 4096), 1);
  EXPECT_EQ(runs, 2);
}

// 64 MiB at a time, as mapped blocks: what is kept stays in the arena, what is returned leaves it.
TEST(FreedMemory, IsKeptWhereItIsTimedAndReturnedElsewhere) {
  if (mallinfo2().arena == 0) GTEST_SKIP() << "another allocator (a sanitizer's)";
  const auto kept_bytes = [] { return static_cast<double>(mallinfo2().fordblks); };
  const auto use = [] { at::ones({16 << 20}, at::kFloat); };
  keep_freed_memory();
  use();
  EXPECT_GE(kept_bytes(), 60e6);
  return_freed_memory();
  const double before = static_cast<double>(mallinfo2().arena);
  use();
  EXPECT_EQ(static_cast<double>(mallinfo2().arena), before) << "a block of its own, unmapped again";
}

TEST(Measure, GraphsOneByOne) {
  const auto a = linear_graph({1, 2, 3, 4}, {0, 0}), b = linear_graph({1, 0, 0, 1}, {1, 1});
  const std::vector<const graph::Graph*> graphs{&a, &b, &a};
  const auto times = measure_graphs(graphs, {}, kQuick);
  ASSERT_EQ(times.size(), 3u);
  for (const auto& time : times) {
    EXPECT_GT(time.median_us, 0.0);
    EXPECT_EQ(time.samples, 3);
  }
}

TEST(Measure, NoMoreRoundsThanTheLeastWhenTimeIsOver) {
  const auto a = linear_graph({1, 2, 3, 4}, {0, 0});
  const std::vector<const graph::Graph*> graphs{&a};
  auto late = kQuick;
  late.repeats = 9;
  late.least_repeats = 2;
  late.max_seconds = 0;
  EXPECT_EQ(measure_graphs(graphs, {}, late)[0].samples, 2);
  late.max_seconds = 1e9;
  EXPECT_EQ(measure_graphs(graphs, {}, late)[0].samples, 9);
}

TEST(MeasuredCosts, FillATableWithOneValuePerOperator) {
  cost::TableCost table(measured_origin({}), measure_on_miss({}, kQuick));
  EXPECT_EQ(table.name(), "measured:cpu");
  EXPECT_FALSE(table.origin().device.empty());
  const auto graph = linear_graph({1, 2, 3, 4}, {0, 0}), same_types = linear_graph({5, 6, 7, 8}, {1, 1});
  for (graph::NodeId id : graph.order()) {
    const double us = table.op_us(graph, id);
    EXPECT_EQ(us, table.op_us(graph, id));
    EXPECT_EQ(us > 0, graph.node(id).op() != Op::input && graph.node(id).op() != Op::weight);
  }
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.entries()[0].measured.samples, 3);
  for (graph::NodeId id : same_types.order()) table.op_us(same_types, id);
  EXPECT_EQ(table.size(), 3u);
}

TEST(Device, WordsAndErrors) {
  EXPECT_EQ(to_string(resolve_device("cpu")), "cpu");
  EXPECT_THROW(resolve_device("gpu"), Error);
  EXPECT_THROW(resolve_device("cuda:x"), Error);
  EXPECT_THROW(resolve_device("cuda:-1"), Error);
  const Device found = resolve_device("auto");
  if (found.kind == Device::Kind::cuda) {
    EXPECT_EQ(resolve_device("cuda"), found);
    return;
  }
  try {
    resolve_device("cuda");
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("device 'cuda': "), std::string::npos) << text;
    EXPECT_NE(text.find("or use --device cpu"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace rlgo::exec
