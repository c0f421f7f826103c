// Traces without some of their rewrites.
#include "core/optimise/repair.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/graph/editor.h"

namespace rlgo::optimise {
namespace {

using graph::Editor;
using ops::Op;

// Two chains of relus and a tanh of a tanh, added up.
graph::Graph chains() {
  Editor e("g");
  const auto x = e.add_input("x", {ops::DType::f32, {4}});
  const auto a = e.op(Op::relu, {e.op(Op::relu, {e.op(Op::relu, {x})})});
  const auto b = e.op(Op::neg, {e.op(Op::neg, {x})});
  e.add_output("y", e.op(Op::add, {a, b}));
  return *e.finish();
}

std::shared_ptr<const rules::RuleSet> rules() {
  return rules::RuleSet::parse(
      "rule twice\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\nrule minus\n  ?y = (neg (neg ?x))\n  => ?y = ?x\n",
      "test.rules");
}

const rules::Trace kTrace{{0, 0}, {1, 0}, {0, 0}};

size_t nodes(const graph::Graph& graph) { return graph.size(); }

TEST(Replay, WholeTraceIsWhatSearchReplays) {
  const rules::Script replay(chains(), rules(), kTrace);
  const rules::Replayed all = replay.prefix(3);
  EXPECT_EQ(all.graph.hash(), rules::replay(chains(), rules(), kTrace).hash());
  EXPECT_EQ(nodes(all.graph), 3u);  // x, relu, add
  EXPECT_FALSE(all.replaced.empty());
}

TEST(Replay, WithoutAStepTheOthersAreMade) {
  const rules::Script replay(chains(), rules(), kTrace);
  const rules::Replayed some = replay.subset({true, false, true});
  EXPECT_EQ(nodes(some.graph), 5u);
  EXPECT_EQ(some.steps, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(rules::replay(chains(), rules(), some.trace).hash(), some.graph.hash());
}

TEST(Replay, StepsThatAreMadeTogetherGoWithoutOneOfThem) {
  const rules::Trace together{{1, 0}, {0, -1}, {0, 0}};  // minus and twice at once, then twice
  const rules::Script replay(chains(), rules(), together);
  const rules::Replayed all = replay.prefix(3);
  EXPECT_EQ(all.trace, together);
  EXPECT_EQ(all.graph.hash(), rules::replay(chains(), rules(), kTrace).hash());
  const rules::Replayed some = replay.subset({false, true, true});
  EXPECT_EQ(some.trace, (rules::Trace{{0, 0}, {0, 0}}));
  EXPECT_EQ(some.steps, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(rules::replay(chains(), rules(), some.trace).hash(), some.graph.hash());
}

TEST(Repair, LeavesOutWhatIsRefused) {
  const rules::Script replay(chains(), rules(), kTrace);
  const auto has_minus = [](const rules::Replayed& r) {
    return std::ranges::none_of(r.steps, [](size_t step) { return step == 1; });
  };
  const auto repaired = without_refused(replay, has_minus, 20, [] { return false; });
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->left_out, (std::vector<size_t>{1}));
  EXPECT_EQ(minimal_refused(replay, has_minus, 20, [] { return false; }), (std::vector<size_t>{1}));
}

TEST(Repair, EndsWhereItIsAskedTo) {
  const rules::Script replay(chains(), rules(), kTrace);
  int asked = 0;
  const auto refused = [&](const rules::Replayed&) { return ++asked < 0; };
  EXPECT_FALSE(without_refused(replay, refused, 20, [&] { return asked > 0; }));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(minimal_refused(replay, refused, 20, [] { return true; }), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(asked, 1);
}

TEST(Replay, LooksAtItsDeadlineBeforeEachStep) {
  int asked = 0;
  const Deadline second([&] { return ++asked > 2 ? 0.0 : 1.0; });
  EXPECT_THROW(rules::Script(chains(), rules(), kTrace, second), Stopped);
  EXPECT_EQ(asked, 3);
}

TEST(Repair, NothingIsLeftWhereAllIsRefused) {
  const rules::Script replay(chains(), rules(), kTrace);
  EXPECT_FALSE(without_refused(
      replay, [](const rules::Replayed& r) { return r.steps.empty(); }, 20, [] { return false; }));
}

TEST(Repair, CounterexampleIsTheMatchedPart) {
  const TemporaryFolder folder("rlgo-test");
  const rules::Script replay(chains(), rules(), kTrace);
  write_counterexample(replay, {1}, "because", folder.path());
  const std::string text = read_file(folder.path() / "trace.txt");
  EXPECT_NE(text.find("because\nstep 2: minus\n"), std::string::npos) << text;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "before.onnx"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "after.onnx"));
}

}  // namespace
}  // namespace rlgo::optimise
