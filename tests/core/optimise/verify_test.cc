// Checks of a rewritten model: how much is done in how much time.
#include "core/optimise/verify.h"

#include <gtest/gtest.h>

#include "core/base/temporary_folder.h"
#include "core/exec/runtime.h"

namespace rlgo::optimise {
namespace {

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
