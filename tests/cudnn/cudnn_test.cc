// The real cuDNN plug-in over stand-ins for CUDA, cuDNN and cuBLASLt that compute what their descriptors state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/evaluate/interpreter.h"
#include "core/evaluate/values.h"
#include "core/gpu/gpu.h"
#include "core/gpu/runtime.h"
#include "core/graph/editor.h"
#include "core/ops/windows.h"
#include "core/zoo/zoo.h"
#include "tests/core/exec/random_calls.h"
#include "tests/cudnn/stubs/stub.h"
#include "tests/nccl/stubs/stub.h"

namespace rlgo::gpu {
namespace {

using exec::RandomCall;
using ops::Attr;
using ops::DType;
using ops::Ints;
using ops::Op;
using testing::HasSubstr;
using testing::ThrowsMessage;

const exec::Device kFirst{exec::Device::Kind::cuda, 0};

void script(const StubLibraries& to) {
  stub_cudnn(to);
  stub_cublaslt(to);
}

graph::Graph graph_of(Op op, const ops::Types& inputs, const ops::Attrs& attrs) {
  graph::Editor editor("one");
  std::vector<graph::Value> values;
  for (const auto& type : inputs) values.push_back(editor.add_input(fmt::format("x{}", values.size()), type));
  const auto id = editor.add(op, values, attrs);
  for (int32_t p = 0; p < static_cast<int32_t>(editor.node(id).info->outputs.size()); ++p)
    editor.add_output(fmt::format("y{}", p), {id, p});
  return *editor.finish();
}

void expect_near(const evaluate::TensorMap& found, const evaluate::TensorMap& expected, double tolerance,
                 const std::string& what) {
  for (const auto& [name, right] : expected) {
    const auto a = evaluate::cast(found.at(name), DType::f64), b = evaluate::cast(right, DType::f64);
    ASSERT_EQ(a.elements(), b.elements()) << what;
    for (int64_t i = 0; i < a.elements(); ++i) {
      const double x = a.data<double>()[i], y = b.data<double>()[i];
      if (x == y || (x != x && y != y)) continue;
      ASSERT_NEAR(x, y, tolerance * (1 + std::abs(y))) << what << " " << name << "[" << i << "]";
    }
  }
}

// The same call with other floats.
RandomCall as_type(RandomCall call, DType type) {
  for (auto& input : call.inputs) {
    if (input.dtype == DType::f32) input.dtype = type;
  }
  return call;
}

class EveryOperator : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryOperator, testing::Values(DType::f32, DType::f16, DType::f64),
                         [](const auto& type) { return std::string(ops::name(type.param)); });

// --target cuda refuses a graph that has one, by its name.
bool has_no_kernel(Op op) {
  constexpr std::array kNone = {Op::gather_elements, Op::gather_nd, Op::scatter_elements, Op::scatter_nd, Op::cumsum,
                                Op::trilu,           Op::one_hot,   Op::attention,        Op::recurrent};
  return std::ranges::find(kNone, op) != kNone.end();
}

// Kernels, descriptors, epilogues: random calls come to what core/evaluate computes.
TEST_P(EveryOperator, ComputesWhatTheReferenceDoes) {
  script({});
  const Gpu gpu(kFirst);
  const double tolerance = GetParam() == DType::f16 ? 4e-3 : 2e-4;
  for (const Op op : ops::all_ops()) {
    int ran = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      Rng rng({seed, static_cast<uint64_t>(op)});
      const auto some = exec::some_call(rng, op);
      if (!some) break;
      const auto call = as_type(*some, GetParam());
      auto attrs = ops::complete_attrs(op, call.attrs);
      if (!attrs || !ops::infer(op, call.inputs, *attrs)) continue;
      const auto graph = graph_of(op, call.inputs, call.attrs);
      evaluate::TensorMap inputs;
      const auto values = exec::values_for(op, call, seed);
      for (size_t k = 0; k < values.size(); ++k) inputs[fmt::format("x{}", k)] = exec::from_torch(values[k]);
      const std::string what = fmt::format("{} {} seed {}", ops::name(op), to_string(*attrs), seed);
      try {
        LoadedProgram program(gpu, make_program(graph));
        program.set_inputs(inputs);
        program.choose();
        expect_near(program.run(), evaluate::Interpreter(graph).run(inputs), tolerance, what);
        ++ran;
      } catch (const Error& e) {
        const bool empty = std::string(e.what()).find("over no elements") != std::string::npos;
        const bool wide = GetParam() == DType::f64 && ops::is_convolution(op);
        EXPECT_TRUE(empty || wide || has_no_kernel(op)) << what << ": " << e.what();
      }
      if (HasFatalFailure()) return;
    }
    const bool none = op == Op::input || op == Op::weight || op == Op::opaque || has_no_kernel(op) ||
                      (GetParam() == DType::f64 && ops::is_convolution(op));
    EXPECT_TRUE(none || ran > 5) << ops::name(op) << " ran " << ran << " times";
  }
}

// Whole graphs: constants, memory that is reused, views.
TEST(CudnnPlugin, ToysComputeWhatTheReferenceDoes) {
  script({});
  const Gpu gpu(kFirst);
  for (const char* name : {"toy_conv", "toy_mlp", "toy_attention", "toy_residual"}) {
    const auto graph = zoo::make(name);
    const auto inputs = evaluate::random_inputs(graph, 5);
    LoadedProgram program(gpu, make_program(graph));
    program.set_inputs(inputs);
    program.choose();
    const auto expected = evaluate::Interpreter(graph).run(inputs);
    expect_near(program.run(), expected, 1e-4, name);
    program.time_us(3);
    expect_near(program.run(), expected, 1e-4, name);  // replays leave inputs as they are
  }
}

graph::Graph convolution(const char* act) {
  return graph_of(Op::conv2d, {{DType::f32, {1, 3, 8, 8}}, {DType::f32, {4, 3, 3, 3}}, {DType::f32, {4}}},
                  {{Attr::act, std::string(act)}});
}
std::string chosen(const graph::Graph& graph) {
  const Gpu gpu(kFirst);
  LoadedProgram program(gpu, make_program(graph));
  program.choose();
  return program.describe();
}

// The fastest of what works, fused or not.
TEST(CudnnPlugin, AlgorithmsAreChosenByTheirTime) {
  script({.conv_us = {50, 30, 40}});
  EXPECT_EQ(chosen(convolution("relu")), "convolution: algorithm 1, bias and activation fused\n");
  script({.conv_us = {50, 30, 40}, .failing_conv = 1});
  EXPECT_EQ(chosen(convolution("relu")), "convolution: algorithm 2, bias and activation fused\n");
  script({.conv_us = {50, 45, 10}});  // without a ReLU cuDNN fuses a bias into algorithm 1 only
  EXPECT_EQ(chosen(convolution("none")), "convolution: algorithm 2\n");
  EXPECT_GT(stub_convs().additions, 0);
  script({.conv_us = {50, 11, 10}});
  EXPECT_EQ(chosen(convolution("none")), "convolution: algorithm 1, bias and activation fused\n");
  script({.matmul_us = {20, 10, 15}});
  const auto product = graph_of(Op::matmul, {{DType::f32, {4, 3}}, {DType::f32, {3, 5}}, {DType::f32, {5}}},
                                {{Attr::act, std::string("relu")}});
  EXPECT_EQ(chosen(product), "matmul: proposal 1 of 3, epilogue 6\n");  // CUBLASLT_EPILOGUE_RELU_BIAS
  EXPECT_THAT(stub_epilogues(), testing::Each(6));
}

// Two replays for a sample, the first of which does not count; the host's time in neither.
TEST(CudnnPlugin, TimesAreTheDevicesOwn) {
  script({.conv_us = {50, 30, 40}});
  const Gpu gpu(kFirst);
  LoadedProgram program(gpu, make_program(convolution("relu")));
  program.choose();
  const auto before = stub_device_counts();
  EXPECT_NEAR(program.time_us(7), 30, 1e-3);
  EXPECT_EQ(stub_device_counts().graphs, before.graphs + 2);
  EXPECT_EQ(stub_device_counts().live_graphs, 0);
}

TEST(CudnnPlugin, FailuresAreNamedAndLeaveNothing) {
  script({});
  const auto taken = stub_device_counts().bytes;
  const auto load = [](const graph::Graph& graph) { return [&graph] { chosen(graph); }; };
  const auto conv = convolution("relu");
  stub_memory_limit(taken + 100);
  EXPECT_THAT(load(conv), ThrowsMessage<Error>(testing::AllOf(HasSubstr("no room for 0 MiB"),
                                                              HasSubstr("cudaMalloc: out of memory"),
                                                              HasSubstr("--device cuda:N"))));
  stub_memory_limit(0);
  script({.conv_unsupported = true, .matmul_unsupported = true});
  EXPECT_THAT(load(conv), ThrowsMessage<Error>(testing::AllOf(
                              HasSubstr("conv2d"), HasSubstr("CUDNN_STATUS_NOT_SUPPORTED (said the stub)"))));
  const auto product = graph_of(Op::matmul, {{DType::f32, {4, 3}}, {DType::f32, {3, 5}}}, {});
  EXPECT_THAT(load(product), ThrowsMessage<Error>(HasSubstr("CUBLAS_STATUS_NOT_SUPPORTED")));
  script({.conv_us = {50}, .failing_conv = 0});  // what fails while it runs is no price either
  EXPECT_THAT(load(conv), ThrowsMessage<Error>(HasSubstr("cudnnConvolutionBiasActivationForward")));
  script({.no_handle = true});
  EXPECT_THAT(load(conv), ThrowsMessage<Error>(HasSubstr("cuda:0: cudnnCreate: CUDNN_STATUS_NOT_INITIALIZED")));
  script({});
  EXPECT_EQ(stub_device_counts().bytes, taken);
}

// Fusion pays, which LibTorch's prices do not show.
TEST(CudaRuntime, AFusedConvolutionIsCheaperThanItsParts) {
  script({});
  CudaRuntime runtime(kFirst, {});
  const auto prices = runtime.measure();
  const auto price = [&](const graph::Graph& graph) {
    double us = 0;
    for (const auto id : graph.order()) us += prices.model->op_us(graph, id);
    return us;
  };
  const double fused = price(convolution("relu"));
  const double parts = price(convolution("none")) + price(graph_of(Op::relu, {{DType::f32, {1, 4, 6, 6}}}, {}));
  EXPECT_NEAR(fused, 30, 1e-3);
  EXPECT_NEAR(parts, 30 + 2, 1e-3);
  EXPECT_EQ(prices.table->origin().model, "measured:cudnn");
}

TEST(CudaRuntime, ComparesWholeGraphsAndNamesWhatItRefuses) {
  script({});
  CudaRuntime runtime(kFirst, {});
  const auto toy = zoo::make("toy_conv"), other = zoo::make("toy_residual");
  const cost::RunnableModel models[] = {{&toy}, {&other}};
  const auto compared = runtime.compare(models, {.repeats = 3});
  EXPECT_EQ(compared.error, "");
  EXPECT_GT(compared.models[0].median_us, 10);
  EXPECT_EQ(compared.noise, 0);
  EXPECT_NEAR(compared.ratio[1], compared.models[1].median_us / compared.models[0].median_us, 1e-6);
  const auto answers = runtime.outputs(std::span(models, 1), 0);
  EXPECT_EQ(answers[0].outputs.size(), toy.outputs().size());
  const auto refused = graph_of(Op::add, {{DType::u32, {3}}, {DType::u32, {3}}}, {});
  const cost::RunnableModel bad[] = {{&refused}};
  EXPECT_THAT(runtime.compare(bad, {}).error, HasSubstr("no kernel for add of u32[3], u32[3]"));
  EXPECT_THROW(runtime.measure().model->op_us(refused, refused.outputs()[0].value.node), Error);
}

}  // namespace
}  // namespace rlgo::gpu
