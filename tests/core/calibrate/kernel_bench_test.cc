#include "core/calibrate/kernel_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/graph/editor.h"
#include "core/onnx/onnx.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::calibrate {
namespace {

using testing::HasSubstr;

bool never() { return false; }
void silent(const std::string&) {}

// A machine without a cache, on which everything but softmax runs at one speed.
cost::AnalyticOptions even_machine() {
  cost::AnalyticOptions out;
  out.cache_bytes = 0;
  out.launch_us = 1;
  out.elementwise = out.matmul = out.conv_1x1 = out.conv_3x3 = out.conv_other = out.conv_depthwise = 1;
  out.softmax = 0.001;
  return out;
}

report::Json bench(const KernelBenchOptions& options) {
  optimise::FormulaRuntime runtime(even_machine());
  return bench_kernels(options, runtime, never, silent);
}

TEST(KernelBench, FindsTheKernelThatIsSlow) {
  const TemporaryFolder folder("rlgo-test");
  KernelBenchOptions options;
  options.graphs = {"bert"};
  options.page = (folder.path() / "k.md").string();
  options.csv = (folder.path() / "k.csv").string();
  const auto found = bench(options);
  double fraction = 0;
  for (const auto& kernel : found.at("kernels")) {
    fraction += kernel.at("fraction").get<double>();
    const double slowdown = kernel.at("us").get<double>() / kernel.at("machine_us").get<double>();
    if (kernel.at("operator") == "softmax") EXPECT_GT(slowdown, 20);
    if (kernel.at("operator") == "matmul") EXPECT_LT(slowdown, 3);
  }
  EXPECT_NEAR(fraction, 1, 1e-6);
  EXPECT_THAT(read_file(options.page), HasSubstr("| `softmax axis=3"));
  EXPECT_THAT(read_file(options.csv),
              HasSubstr("operator,us,machine_us,elements,bytes,flops,fraction,kernel\nsoftmax,"));
}

TEST(KernelBench, CountsEveryModelAlike) {
  const auto found = bench({.graphs = {"toy_mlp", "resnet18"}, .seconds = 60});
  double of_mlp = 0;
  for (const auto& kernel : found.at("kernels"))
    if (kernel.at("operator") == "matmul" && kernel.at("elements") < 1e4) of_mlp += kernel.at("fraction").get<double>();
  EXPECT_GT(of_mlp, 0.05);
}

TEST(KernelBench, TakesChosenOperatorsAndRefusesUnknownOnes) {
  const auto found = bench({.graphs = {"bert"}, .operators = {"softmax"}});
  for (const auto& kernel : found.at("kernels")) EXPECT_EQ(kernel.at("operator"), "softmax");
  EXPECT_THROW(bench({.graphs = {"bert"}, .operators = {"conv2d"}}), Error);
}

// A file with an operator that rlgo does not know; the runtime states where its time goes.
class ProfiledRuntime : public optimise::FormulaRuntime {
 public:
  ProfiledRuntime() : optimise::FormulaRuntime(even_machine()) {}
  std::vector<cost::OperatorTime> operator_times(const cost::RunnableModel&) override {
    return {{"", "Relu", 30}, {"", "Det", 10}};
  }
};

TEST(KernelBench, StatesTheTimeOfUnknownOperators) {
  const TemporaryFolder folder("rlgo-test");
  const auto file = folder.path() / "m.onnx";
  graph::Editor editor("g");
  const graph::Value relu = editor.op(ops::Op::relu, {editor.add_input("x", {ops::DType::f32, {2, 4, 4}})});
  auto det = std::make_shared<graph::Opaque>();
  det->op_type = "Det";
  det->payload =
      "\x12\x01"
      "0"
      "\x22\x03"
      "Det";  // a NodeProto: its output, its type
  det->formal_inputs = {true};
  det->outputs = {"0"};
  const auto id = editor.add_opaque("", std::move(det), {&relu, 1}, {{ops::DType::f32, {2}}});
  editor.add_output("y", {id, 0});
  onnx_io::export_graph(*editor.finish(), {}, file);
  ProfiledRuntime runtime;
  KernelBenchOptions options;
  options.graphs = {"toy_mlp", file.string()};
  options.csv = (folder.path() / "k.csv").string();
  std::string printed;
  const auto found = bench_kernels(options, runtime, never, [&](const std::string& line) { printed += line; });
  EXPECT_EQ(found.at("opaque_fraction").at("Det"), 0.25);
  EXPECT_THAT(printed,
              HasSubstr("(of 1 model, whole), since rlgo does not know them: 25.0 % of its time: 1 Det 25.0 %."));
  EXPECT_THAT(read_file(options.csv), HasSubstr("\nDet,,,,,,0.25,\"kept as it is\"\n"));
}

// A runtime without a softmax.
class PartialRuntime : public optimise::FormulaRuntime {
 public:
  PartialRuntime() : optimise::FormulaRuntime(even_machine()) {}
  cost::MeasuredCosts measure() override {
    auto out = optimise::FormulaRuntime::measure();
    const auto whole = out.table;
    out.table = std::make_shared<cost::TableCost>(whole->origin());
    out.model = std::make_shared<Partial>(whole, out.table);
    out.failures = [] { return std::map<std::string, int>{{"no kernel", 1}}; };
    return out;
  }

 private:
  struct Partial : cost::CostModel {
    Partial(std::shared_ptr<cost::TableCost> all, std::shared_ptr<cost::TableCost> some)
        : all(std::move(all)), some(std::move(some)) {}
    std::string name() const override { return "partial"; }
    double op_us(const graph::Graph& graph, graph::NodeId id) override {
      const double us = all->op_us(graph, id);
      if (graph.node(id).op() != ops::Op::softmax) some->insert(cost::signature(graph, id), {us, 0, 1});
      return us;
    }
    std::shared_ptr<cost::TableCost> all, some;
  };
};

TEST(KernelBench, NamesWhatTheRuntimeDoesNotRun) {
  PartialRuntime runtime;
  std::string printed;
  const auto found =
      bench_kernels({.graphs = {"bert"}}, runtime, never, [&](const std::string& line) { printed += line; });
  EXPECT_EQ(found.at("refused"), report::Json({{"softmax", 1}}));
  EXPECT_THAT(printed, HasSubstr("does not run them alone (shapes): softmax (1). Why: 1 x no kernel.\n"));
  for (const auto& kernel : found.at("kernels")) EXPECT_NE(kernel.at("operator"), "softmax");
}

// Times of the same operator differ by half.
class BusyRuntime : public optimise::FakeRuntime {
 public:
  BusyRuntime() : optimise::FakeRuntime("busy 1.0") {}
  cost::MeasuredCosts measure() override {
    cost::MeasuredCosts out;
    out.table = std::make_shared<cost::TableCost>(cost::TableOrigin{"busy", "paper", 1},
                                                  [turn = 0](const graph::Graph&, graph::NodeId) mutable {
                                                    return cost::Measured{10.0 + 5 * (turn++ % 3), 0, 1};
                                                  });
    out.model = out.table;
    return out;
  }
};

TEST(KernelBench, RefusesAMachineThatIsTooBusy) {
  BusyRuntime runtime;
  try {
    bench_kernels({.graphs = {"toy_mlp"}}, runtime, never, silent);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("too busy to time kernels"));
  }
  const auto found = bench_kernels({.graphs = {"toy_mlp"}, .spread = 1}, runtime, never, silent);
  EXPECT_GT(found.at("reference").at("spread"), 0.1);
}

}  // namespace
}  // namespace rlgo::calibrate
