#include "core/cost/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/core/cost/graphs.h"

namespace rlgo::cost {
namespace {

using testing::HasSubstr;

std::string shipped(const char* name) { return read_file(std::string("configs/costs/") + name); }

std::string error_of(const std::string& text) {
  try {
    parse_profile(text, "my.cost");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

double us(const Graph& graph, const AnalyticOptions& options) {
  return AnalyticCost(options).op_us(graph, graph.outputs()[0].value.node);
}

Graph transpose_of(int64_t rows) {
  Editor e("g");
  return finished(e, e.op(Op::transpose, {e.add_input("x", f32({rows, 10}))}, {{Attr::perm, Ints{1, 0}}}));
}

TEST(Profile, CpuIsTheDefault) { EXPECT_EQ(parse_profile(shipped("cpu.cost"), "cpu.cost"), AnalyticOptions()); }

TEST(Profile, WrittenAndReadBackExactly) {
  AnalyticOptions options;
  options.peak_gflops = 1.0 / 3;
  options.least_bandwidth = 0.1;
  EXPECT_EQ(parse_profile(to_text(options, "two\nlines"), "x"), options);
}

TEST(Profile, NameShowsWhatIsNotTheCpu) {
  EXPECT_EQ(AnalyticCost(AnalyticOptions(), "gpu").name(), "analytic:gpu");
  EXPECT_EQ(AnalyticCost(AnalyticOptions(), "cpu").name(), "analytic");
}

// Bytes: 8 n; fraction of the bandwidth 8 n / (8 n + 200,000), at least 0.05. 300 GB/s are 300,000 bytes a microsecond.
TEST(Profile, GpuMovesBytesAsItStates) {
  const auto gpu = parse_profile(shipped("gpu.cost"), "gpu.cost");
  EXPECT_NEAR(us(transpose_of(100'000), gpu), 5 + 8e6 / 300e3 / (8e6 / 8.2e6), 1e-9);
  EXPECT_NEAR(us(transpose_of(10), gpu), 5 + 800 / 300e3 / 0.05, 1e-9);
}

// [100,100] x [100,100]: 2e6 operations at 8 TFLOP/s x 0.65 x 100/104 x 100/132 x 100/108, 10,000 outputs.
TEST(Profile, GpuComputesAsItStates) {
  Editor e("g");
  const Graph g = finished(e, e.op(Op::matmul, {e.add_input("x", f32({100, 100})), weight(e, {100, 100})}));
  const double efficiency = 0.65 * (100 / 104.0) * (100 / 132.0) * (100 / 108.0);
  const auto gpu = parse_profile(shipped("gpu.cost"), "gpu.cost");
  EXPECT_NEAR(us(g, gpu), 5 + 2e6 / (8e6 * efficiency * (1e4 / 7e4)), 1e-9);
}

TEST(Profile, WhatIsMissingIsTheCpus) {
  const auto options = parse_profile("machine.launch_us = 7\n", "x");
  EXPECT_EQ(options.launch_us, 7);
  EXPECT_EQ(options.peak_gflops, AnalyticOptions().peak_gflops);
}

TEST(Profile, RuntimesHaveTheConstantsThatWereFittedToThem) {
  EXPECT_EQ(fitted_to("onnxruntime"), parse_profile(shipped("cpu-onnxruntime.cost"), "cpu-onnxruntime.cost"));
  EXPECT_EQ(fitted_to("libtorch"), parse_profile(shipped("cpu-libtorch.cost"), "cpu-libtorch.cost"));
  EXPECT_EQ(fitted_to("openvino"), AnalyticOptions());
  EXPECT_EQ(fitted_to("../elsewhere"), AnalyticOptions());  // what a measurer calls itself is no path
}

TEST(Profile, ErrorsNameFileAndKey) {
  EXPECT_THAT(error_of("[machine]\nlaunch = 2\n"), HasSubstr("my.cost: unknown key 'machine.launch'"));
  EXPECT_THAT(error_of("[half]\nrows = many\n"), HasSubstr("my.cost: half.rows: 'many' is not a number"));
  EXPECT_THAT(error_of("[stream]\npad = 1.5\n"), HasSubstr("my.cost: stream.pad must be above 0 and at most 1"));
  EXPECT_THAT(error_of("[machine]\npeak_gflops = nan\n"), HasSubstr("machine.peak_gflops"));
  EXPECT_THAT(error_of("[half]\nrows = 1\nrows = 2\n"), HasSubstr("given twice"));
  EXPECT_THAT(error_of("rows\n"), HasSubstr("my.cost: "));
}

}  // namespace
}  // namespace rlgo::cost
