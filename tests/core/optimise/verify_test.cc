// Checks of a rewritten model: how much is done in how much time.
#include "core/optimise/verify.h"

#include <gtest/gtest.h>

#include "core/base/temporary_folder.h"
#include "core/exec/runtime.h"

namespace rlgo::optimise {
namespace {

// Answers 1 for the original, 1 + `result` for any other file, 1 + `plain` for the original without its own
// optimisation.
class RoundingRuntime : public exec::LibTorchRuntime {
 public:
  RoundingRuntime(std::filesystem::path before, double result, double plain)
      : exec::LibTorchRuntime({}, {}), before_(std::move(before)), result_(result), plain_(plain) {}
  bool reads_files() const override { return true; }
  std::vector<cost::Outputs> outputs(std::span<const cost::RunnableModel> models, int) override {
    std::vector<cost::Outputs> out;
    for (const auto& model : models) out.push_back(answer(model.file == before_ ? 1 : 1 + result_));
    return out;
  }
  std::vector<cost::Outputs> plain_outputs(std::span<const cost::RunnableModel>, int) override {
    return {answer(1 + plain_)};
  }

 private:
  static cost::Outputs answer(double value) { return {{{"y", "float32", {1}, {value}}}, ""}; }
  std::filesystem::path before_;
  double result_, plain_;
};

// What the runtime's own check finds of a toy, unchanged.
Check by_runtime(double result, double plain) {
  const TemporaryFolder folder("rlgo-test");
  ModelOptions options;
  options.graph = "toy_mlp";
  const LoadedModel model = load_model(options, true);
  const auto file = folder.path() / "out.onnx", before = folder.path() / "before.onnx";
  export_model(model, model.graph, file);
  RoundingRuntime runtime(before, result, plain);
  const auto checks = Verifier(model, before, runtime, {}).check({model.graph, {}, {}, {}}, file);
  return checks.at(2);
}

TEST(Verifier, ARuntimesOwnRoundingIsNotHeldAgainstAResult) {
  EXPECT_EQ(by_runtime(1e-5, 0).finding, Finding::same);
  EXPECT_EQ(by_runtime(5e-4, 0).finding, Finding::rounding);
  EXPECT_EQ(by_runtime(5e-4, 1e-5).finding, Finding::rounding);
  const Check check = by_runtime(5e-4, 1e-4);
  EXPECT_EQ(check.finding, Finding::same);
  EXPECT_NEAR(check.allowed, 8e-4, 1e-7);
  EXPECT_EQ(check.detail, "y; the runtime's own 0.0001");
  EXPECT_EQ(by_runtime(0.02, 0.5).finding, Finding::rounding);  // no more than 1 %, whatever the runtime does
}

// A toy, unchanged, whose file is read again; checks may take `seconds`.
std::vector<Check> checks_in(double seconds) {
  const TemporaryFolder folder("rlgo-test");
  ModelOptions options;
  options.graph = "toy_mlp";
  const LoadedModel model = load_model(options, true);
  const auto file = folder.path() / "out.onnx";
  export_model(model, model.graph, file);
  exec::LibTorchRuntime runtime({}, {});
  Verifier verifier(model, file, runtime, {}, [&] { return seconds; });
  return verifier.check({model.graph, {}, {}, {}}, file);
}

TEST(Verifier, DoesAllWhereThereIsTime) {
  const auto checks = checks_in(600);
  EXPECT_EQ(checks[0].by, "LibTorch in double precision, 4 inputs");
  EXPECT_EQ(checks[0].finding, Finding::same);
}

TEST(Verifier, DoesTheLeastWhenTimeIsOver) {
  for (const double left_s : {0.0, -5.0}) {
    const auto checks = checks_in(left_s);
    ASSERT_EQ(checks.size(), 2u);
    EXPECT_EQ(checks[0].by, "LibTorch in double precision, 1 input");
    EXPECT_EQ(checks[0].finding, Finding::same);
    EXPECT_EQ(checks[1].finding, Finding::same);
  }
}

}  // namespace
}  // namespace rlgo::optimise
