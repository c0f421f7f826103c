#include "core/calibrate/verify_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::calibrate {
namespace {

using testing::HasSubstr;

bool never() { return false; }
void silent(const std::string&) {}

// Answers these times of a run in turn, us, where the graph is one in double precision; an error where one is 0.
class TimesRuntime : public optimise::FakeRuntime {
 public:
  explicit TimesRuntime(std::vector<double> us) : optimise::FakeRuntime("times 1.0"), us_(std::move(us)) {}
  bool reads_files() const override { return false; }
  int threads() const override { return 2; }
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions&) override {
    const auto& graph = *models[0].graph;
    EXPECT_EQ(graph.type(graph.outputs()[0].value).dtype, ops::DType::f64);
    cost::Comparison out;
    out.models.resize(1);
    out.models[0].median_us = us_.at(turn_++ % us_.size());
    if (out.models[0].median_us == 0) out.models[0].error = "no kernel";
    return out;
  }

 private:
  std::vector<double> us_;
  size_t turn_ = 0;
};

TEST(VerifyBench, PutsChecksNextToTheReference) {
  TimesRuntime runtime({1000, 1000});
  const VerifyBenchOptions options{.graphs = {"toy_mlp"}};
  // The evaluator's own runs are real: where the machine is busy they are refused.
  for (int attempt = 0; attempt < 20; ++attempt) {
    try {
      const auto found = bench_verify(options, runtime, never, silent);
      const auto& row = found.at("models").at(0);
      EXPECT_EQ(row.at("reference_s"), 0.001);
      EXPECT_NEAR(row.at("ratio").get<double>(), row.at("run_s").get<double>() / 0.001, 1e-9);
      EXPECT_GT(row.at("comparison_s"), row.at("run_s"));
      return;
    } catch (const Error&) {
    }
  }
  GTEST_SKIP() << "the machine is busy";
}

std::string refusal_of(std::vector<double> us, const std::string& graph) {
  TimesRuntime runtime(std::move(us));
  std::string printed;
  try {
    bench_verify({.graphs = {graph}}, runtime, never, [&](const std::string& text) { printed += text; });
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "bench verify: none of 1 model was timed");
  }
  return printed;
}

TEST(VerifyBench, RefusesWhatTheReferenceDoesNotRun) {
  EXPECT_THAT(
      refusal_of({0}, "toy_mlp"),
      HasSubstr("toy_mlp: refused: times 1.0 does not run it in double precision (no kernel); --target libtorch"));
}

TEST(VerifyBench, RefusesAMachineThatIsTooBusy) {
  EXPECT_THAT(refusal_of({1000, 2000}, "toy_mlp"), HasSubstr("toy_mlp: refused: the machine is too busy"));
}

}  // namespace
}  // namespace rlgo::calibrate
