// Checks of a rewritten model: how much is done in how much time.
#include "core/optimise/verify.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/exec/runtime.h"
#include "core/graph/editor.h"

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
  Verifier verifier(model, before, runtime, {});
  const auto checks = verifier.check({model.graph, {}, {}, {}}, file);
  const Check alone = verifier.in_runtime({model.graph, {}, {}, {}}, file);
  EXPECT_EQ(std::pair(alone.finding, alone.error), std::pair(checks.at(2).finding, checks.at(2).error));
  return checks.at(2);
}

TEST(Verifier, ARuntimesOwnRoundingIsNotHeldAgainstAResult) {
  EXPECT_EQ(by_runtime(1e-5, 0).finding, Finding::same);
  EXPECT_EQ(by_runtime(5e-4, 0).finding, Finding::rounding);
  EXPECT_EQ(by_runtime(5e-4, 1e-5).finding, Finding::rounding);
  const Check check = by_runtime(5e-4, 1e-4);
  EXPECT_EQ(check.finding, Finding::same);
  EXPECT_NEAR(check.allowed, 8e-4, 1e-7);
  EXPECT_EQ(check.detail, "output 'y'; the runtime's own 0.0001");
  EXPECT_EQ(by_runtime(0.02, 0.5).finding, Finding::rounding);  // no more than 1 %, whatever the runtime does
}

graph::Value scalar(graph::Editor& editor, const char* name, float number) {
  const std::string bytes(reinterpret_cast<const char*>(&number), sizeof(number));
  return editor.add_weight(name, graph::Blob::bytes({ops::DType::f32, {}}, bytes));
}

// y = x * factor, and a variance as mean(a^2) - mean(a)^2 of large numbers, of which single precision leaves nothing.
graph::Graph beside_noise(float factor) {
  graph::Editor editor("beside");
  const auto x = editor.add_input("x", {ops::DType::f32, {1, 64}});
  editor.add_output("y", editor.op(ops::Op::mul, {x, scalar(editor, "factor", factor)}));
  const auto large = editor.op(ops::Op::add, {x, scalar(editor, "large", 3e4F)});
  const auto mean = [&](graph::Value value) {
    return editor.op(ops::Op::reduce_mean, {value},
                     {{ops::Attr::axes, ops::Ints{1}}, {ops::Attr::keepdims, int64_t{1}}});
  };
  const auto of_squares = mean(editor.op(ops::Op::mul, {large, large})), once = mean(large);
  editor.add_output("z", editor.op(ops::Op::sub, {of_squares, editor.op(ops::Op::mul, {once, once})}));
  return *editor.finish();
}

TEST(Verifier, OneOutputsRoundingDoesNotExcuseAnothers) {
  const TemporaryFolder folder("rlgo-test");
  LoadedModel model;
  model.graph = beside_noise(1);
  const auto same = folder.path() / "same.onnx", other = folder.path() / "other.onnx";
  export_model(model, model.graph, same);
  export_model(model, beside_noise(1.02F), other);
  exec::LibTorchRuntime runtime({}, {});
  Verifier verifier(model, same, runtime, {});
  const auto as_it_is = verifier.check({model.graph, {}, {}, {}}, same).at(1);
  EXPECT_EQ(as_it_is.finding, Finding::same);
  EXPECT_NE(as_it_is.limits.find("output 'z' is as large as its values"), std::string::npos) << as_it_is.limits;
  const auto changed = verifier.check({model.graph, {}, {}, {}}, other).at(1);
  EXPECT_EQ(changed.finding, Finding::wrong);
  EXPECT_NE(changed.detail.find("output 'y'"), std::string::npos) << changed.detail;
}

// y = (x - 2459000) / 10 or x / 10 - 245900: the same in real numbers.
graph::Graph shifted(bool first) {
  graph::Editor editor("shifted");
  const auto x = editor.add_input("x", {ops::DType::f32, {1, 64}});
  const auto factor = scalar(editor, "factor", 0.1F), mean = scalar(editor, "mean", first ? 2459000 : 245900);
  editor.add_output("y", first ? editor.op(ops::Op::mul, {editor.op(ops::Op::sub, {x, mean}), factor})
                               : editor.op(ops::Op::sub, {editor.op(ops::Op::mul, {x, factor}), mean}));
  return *editor.finish();
}

TEST(Verifier, AShiftThatRoundsAtRealInputsIsRefused) {
  const TemporaryFolder folder("rlgo-test");
  LoadedModel model;
  model.graph = shifted(true);
  const auto same = folder.path() / "same.onnx", other = folder.path() / "other.onnx";
  export_model(model, model.graph, same);
  export_model(model, shifted(false), other);
  exec::LibTorchRuntime runtime({}, {});
  Verifier verifier(model, same, runtime, {});
  EXPECT_EQ(verifier.check({model.graph, {}, {}, {}}, same).at(1).finding, Finding::same);
  const auto moved = verifier.check({model.graph, {}, {}, {}}, other).at(1);
  EXPECT_EQ(moved.finding, Finding::rounding);
  EXPECT_GT(moved.error, 1e-3);
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
  Verifier verifier(model, file, runtime, {}, {.left_s = [&] { return seconds; }});
  return verifier.check({model.graph, {}, {}, {}}, file);
}

TEST(Verifier, DoesAllWhereThereIsTime) {
  const auto checks = checks_in(600);
  EXPECT_EQ(checks[0].by, "rlgo in double precision, 4 inputs");
  EXPECT_EQ(checks[0].finding, Finding::same);
}

TEST(Verifier, DoesTheLeastWhenTimeIsOver) {
  for (const double left_s : {0.0, -5.0}) {
    const auto checks = checks_in(left_s);
    ASSERT_EQ(checks.size(), 2u);
    EXPECT_EQ(checks[0].by, "rlgo in double precision, 1 input");
    EXPECT_EQ(checks[0].finding, Finding::same);
    EXPECT_EQ(checks[1].finding, Finding::same);
    EXPECT_EQ(checks[0].limits, "3 of 4 inputs are skipped for lack of time");
  }
}

// An ONNX file: y = tanh(relu(x)), x is f32[N,16].
constexpr char kOpenModel[] =
    "\010\010\022\000:K\012\014\012\001x\022\001a\042\004Relu\012\014\012\001a\022\001y\042\004Tanh"
    "\022\001gZ\024\012\001x\022\017\012\015\010\001\022\011\012\003\022\001N\012\002\010\020b\024"
    "\012\001y\022\017\012\015\010\001\022\011\012\003\022\001N\012\002\010\020B\004\012\000\020\021";

// y = relu(reshape(x, [-1, 512])), x is f32[N,16]: N must be a multiple of 32.
constexpr char kAlignedModel[] =
    "\010\010\022\000\072\135\012\022\012\001x\012\001s\022\001a\042\007Reshape\012\014\012\001a\022\001y\042\004Relu"
    "\022\001g\052\025\010\002\020\007\072\014\377\377\377\377\377\377\377\377\377\001\200\004B\001sZ\024\012\001x\022"
    "\017\012\015\010\001\022\011\012\003\022\001N\012\002\010\020b\011\012\001y\022\004\012\002\010\001B\004\012\000"
    "\020\021";

// How the checks of such a model end, unchanged, by deadline `end`.
std::vector<Check> checks_of_open_file(const Deadline& end, double run_s, const std::vector<std::string>& sizes = {},
                                       double kept_s = 0,
                                       std::string_view bytes = {kOpenModel, sizeof(kOpenModel) - 1}) {
  const TemporaryFolder folder("rlgo-test");
  const auto file = folder.path() / "open.onnx";
  atomic_write(file, std::string(bytes));
  ModelOptions options;
  options.graph = file.string();
  options.sizes = sizes;
  const LoadedModel model = load_model(options, true);
  RoundingRuntime runtime(file, 0, 0);
  const auto rules = rules::RuleSet::parse("rule twice\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n", "test.rules");
  Verifier verifier(model, file, runtime, {}, {[end] { return end.left(); }, end, run_s, rules, 0, kept_s});
  return verifier.check({model.graph, {}, {}, {}}, file);
}

TEST(Verifier, ASlowModelIsCheckedAtSmallerSizes) {
  const auto usual = checks_of_open_file({}, 0.01, {"N=64"});
  EXPECT_EQ(usual.at(0).by, "rlgo in double precision, 4 inputs");
  EXPECT_EQ(least_skipped(usual), nullptr);
  const auto slow = checks_of_open_file(Deadline([] { return 100.0; }), 20, {"N=64"});
  EXPECT_EQ(slow.at(0).by, "rlgo in double precision at N=4, 4 inputs");
  EXPECT_EQ(slow.at(0).finding, Finding::same);
  EXPECT_EQ(least_skipped(slow), nullptr);
}

TEST(Verifier, SmallerSizesAreMultiplesWhereTheModelNeedsThat) {
  const auto slow =
      checks_of_open_file(Deadline([] { return 100.0; }), 20, {"N=480"}, 0, {kAlignedModel, sizeof(kAlignedModel) - 1});
  EXPECT_EQ(slow.at(0).by, "rlgo in double precision at N=32, 4 inputs");
  EXPECT_EQ(slow.at(0).finding, Finding::same);
}

TEST(Verifier, WithoutTimeTheLeastIsSkippedAndReported) {
  const auto none = checks_of_open_file(Deadline([] { return 0.0; }), 0.01);
  ASSERT_EQ(none.size(), 4u);  // double precision, the file, the runtime, other sizes
  for (const Check& check : none) EXPECT_EQ(check.finding, Finding::skipped) << check.by;
  EXPECT_EQ(least_skipped(none), &none[0]);
  EXPECT_EQ(to_text(none[0]), "skipped: there is no time left for it");
  EXPECT_FALSE(any_done(none));
}

// Time for the runtime, not for the file in LibTorch.
TEST(Verifier, TheFileInLibTorchIsSkippedBeforeTheRuntimesOutputs) {
  const auto some = checks_of_open_file(Deadline([] { return 5.0; }), 1.0);
  EXPECT_EQ(some.at(0).finding, Finding::same);
  EXPECT_EQ(some.at(1).finding, Finding::skipped);
  EXPECT_TRUE(some.at(2).done()) << some.at(2).detail;
  EXPECT_EQ(least_skipped(some), nullptr);
}

// 100 s are enough for all, but the final measurement needs them: what must be made is made.
TEST(Verifier, OnlyTheLeastTakesTheTimeOfTheFinalMeasurement) {
  const auto least = checks_of_open_file(Deadline([] { return 100.0; }), 0.01, {}, 200);
  ASSERT_EQ(least.size(), 4u);
  EXPECT_TRUE(least[0].done() && least[2].done());
  EXPECT_EQ(least[1].finding, Finding::skipped);
  EXPECT_EQ(least[3].finding, Finding::skipped);
  EXPECT_EQ(checks_of_open_file(Deadline([] { return 100.0; }), 0.01).at(1).finding, Finding::same);
}

TEST(WriteAndReadAgain, WritesNothingOnceItIsStopped) {
  const TemporaryFolder folder("rlgo-test");
  ModelOptions options;
  options.graph = "toy_mlp";
  const LoadedModel model = load_model(options, true);
  const auto verified = folder.path() / "verified.onnx", out = folder.path() / "out.onnx";
  export_model(model, model.graph, verified);
  int asked = 0;  // begins in time
  const Deadline soon([&] { return asked++ == 0 ? 1.0 : 0.0; });
  EXPECT_THROW(write_and_read_again(model, model.graph, verified, out, soon), Stopped);
  EXPECT_FALSE(std::filesystem::exists(out));
  write_and_read_again(model, model.graph, verified, out);
  EXPECT_TRUE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace rlgo::optimise
