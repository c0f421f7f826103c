// The whole pipeline under a runtime without a clock.
#include "core/optimise/optimise.h"

#include <gmock/gmock.h>

#include "core/base/temporary_folder.h"
#include "core/rules/rule_choice.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::optimise {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Whole models with fewer operators than the first one take `ratio` of its time.
class ByOperators : public FormulaRuntime {
 public:
  explicit ByOperators(double ratio) : FormulaRuntime({}), ratio_(ratio) {}
  bool reads_files() const override { return true; }
  bool restart() override { return true; }
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions& options) override {
    cost::Comparison out;
    for (const auto& model : models) {
      const double ratio = model.graph->size() < models[0].graph->size() ? ratio_ : 1;
      out.models.push_back({.median_us = 100 * ratio, .samples = options.repeats, .loading = {}, .error = {}});
      out.ratio.push_back(ratio);
      out.ratio_spread.push_back(0);
      out.quotients.emplace_back(options.repeats, ratio);
    }
    return out;
  }

 private:
  double ratio_;
};

Result optimised(double ratio, const std::filesystem::path& out, bool interrupted = false) {
  OptimiseOptions options;
  options.model.graph = "toy_conv";
  options.method = "sweep";
  options.out = out.string();
  OptimiseParts parts;
  parts.rules = rules::choose_rules({"base", "runtime"});
  parts.start_runtime = [&](const auto&) { return std::make_shared<ByOperators>(ratio); };
  StatusLine line(false, false);
  return optimise(options, parts, Log(), line, [=] { return interrupted; });
}

TEST(Optimise, WritesAModelThatIsFasterAndReportsWhatItDid) {
  const TemporaryFolder folder("rlgo-test");
  const auto out = folder.path() / "out.onnx";
  const Result result = optimised(0.8, out);
  EXPECT_TRUE(result.written);
  EXPECT_THAT(result.verdict, HasSubstr("improved: -20.00 % of the latency"));
  EXPECT_EQ(static_cast<uintmax_t>(result.bytes_after), std::filesystem::file_size(out));
  EXPECT_TRUE(result.checked);
  EXPECT_LT(result.best().graph.size(), result.before.size());
  EXPECT_EQ(result.step_us.size(), result.best().trace.size());
  std::vector<std::string> stages;
  for (const auto& phase : result.phases) stages.push_back(phase.name);
  for (const char* stage :
       {"reading", "starting the target", "timing the model", "checks", "final measurement", "writing"})
    EXPECT_THAT(stages, Contains(stage));
}

TEST(Optimise, WritesNothingThatIsSlower) {
  const TemporaryFolder folder("rlgo-test");
  const Result result = optimised(1.25, folder.path() / "out.onnx");
  EXPECT_THAT(result.verdict, HasSubstr("nothing found"));
  EXPECT_FALSE(result.written || result.improved);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Optimise, RefusesToWriteOverTheModelBeforeItStartsARuntime) {
  OptimiseOptions options;
  options.out = "-";
  StatusLine line(false, false);
  EXPECT_THROW(optimise(options, {}, Log(), line, [] { return false; }), Error);
}

}  // namespace
}  // namespace rlgo::optimise
