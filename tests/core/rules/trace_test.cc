#include "core/rules/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/graph/editor.h"
#include "core/rules/together.h"

namespace rlgo::rules {
namespace {

using testing::HasSubstr;

std::shared_ptr<const RuleSet> two_rules() {
  return RuleSet::parse(
      "rule relu-twice\n  proof tested\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n\n"
      "rule relu-again\n  proof tested\n  ?y = (relu ?x)\n  => ?y = (relu (relu ?x))\n",
      "two.rules");
}

TraceFile identity() {
  TraceFile trace;
  trace.graph = "my model.onnx";
  trace.graph_hash = 0xfedcba9876543210;
  trace.rules_hash = 7;
  return trace;
}

std::shared_ptr<const RuleSet> there_and_back() {
  return RuleSet::parse(
      "rule there\n  proof tested\n  ?y = (relu ?x)\n  => ?y = (sigmoid ?x)\n\n"
      "rule back\n  proof tested\n  ?y = (sigmoid ?x)\n  => ?y = (relu ?x)\n",
      "pair.rules");
}

// Two relus, side by side.
graph::Graph two_relus() {
  graph::Editor editor("relus");
  for (const std::string name : {"a", "b"}) {
    const graph::Value inputs[] = {editor.add_input(name, {ops::DType::f32, {2, 3}})};
    editor.add_output("out_" + name, {editor.add(ops::Op::relu, inputs), 0});
  }
  return *editor.finish();
}

TEST(Replay, ReportsTheGraphAfterEachRewrite) {
  std::vector<uint64_t> hashes;
  const Trace trace{{0, 1}, {1, 0}};
  const auto note = [&](const graph::Graph& graph, size_t) { hashes.push_back(graph.hash()); };
  const auto end = replay(two_relus(), there_and_back(), trace, 2, note);
  EXPECT_EQ(end.hash(), two_relus().hash());
  ASSERT_EQ(hashes.size(), 2u);
  EXPECT_NE(hashes[0], end.hash());
  EXPECT_EQ(hashes[1], end.hash());
}

TEST(Replay, RefusesLocationsBeyondTheLimit) {
  const Trace second{{0, 1}};
  EXPECT_NO_THROW(replay(two_relus(), there_and_back(), second, 2));
  EXPECT_THROW(replay(two_relus(), there_and_back(), second, 1), Error);
}

TEST(Trace, CountsItsRulesMostFrequentFirst) {
  EXPECT_EQ(count_rules(Trace{{0, 0}, {1, 0}, {1, 1}}, *two_rules()), "2 x relu-again, 1 x relu-twice");
  EXPECT_EQ(count_rules({}, *two_rules()), "none");
}

std::string error_of(const std::string& text) {
  try {
    parse_trace(text, "my.trace", *two_rules());
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

TEST(Trace, TextReadsBackExactly) {
  TraceFile trace = identity();
  trace.rewrites = {{0, 3}, {1, 0}};
  trace.cost_us = {20.06773053181386, 0.1};
  const std::string text = to_text(trace, *two_rules());
  EXPECT_THAT(text, HasSubstr("0\trelu-twice\t3\t20.06773053181386\n"));
  const TraceFile back = parse_trace(text, "t", *two_rules());
  EXPECT_EQ(back.graph, trace.graph);
  EXPECT_EQ(back.graph_hash, trace.graph_hash);
  EXPECT_EQ(back.rules_hash, trace.rules_hash);
  EXPECT_EQ(back.cost_us, trace.cost_us);
  ASSERT_EQ(back.rewrites.size(), 2u);
  EXPECT_EQ(back.rewrites[0].location, 3);
  EXPECT_EQ(back.rewrites[1].rule, 1);
}

TEST(Trace, RulesAreFoundByNameNotByNumber) {
  const auto turned = RuleSet::parse(
      "rule relu-again\n  proof tested\n  ?y = (relu ?x)\n  => ?y = (relu (relu ?x))\n\n"
      "rule relu-twice\n  proof tested\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n",
      "turned.rules");
  EXPECT_EQ(parse_trace("rlgo-trace 1\n0\trelu-twice\t0\t-\n", "t", *turned).rewrites[0].rule, 1);
}

TEST(Trace, CommentsBlankLinesAndMissingCostsAreFine) {
  const auto trace = parse_trace("rlgo-trace 1\r\n\n# comment\n0\trelu-again\t0\t-\n", "t", *two_rules());
  EXPECT_EQ(trace.rewrites.size(), 1u);
  EXPECT_EQ(trace.graph_hash, 0u);
}

TEST(Trace, ErrorsNameFileAndLine) {
  EXPECT_THAT(error_of(""), HasSubstr("my.trace:1: not a trace"));
  EXPECT_THAT(error_of("rlgo-trace 2\n"), HasSubstr("my.trace:1"));
  EXPECT_THAT(error_of("rlgo-trace 1\n0\trelu-twic\t0\t1\n"),
              HasSubstr("my.trace:2: unknown rule 'relu-twic' (did you mean 'relu-twice'?)"));
  EXPECT_THAT(error_of("rlgo-trace 1\n\n0\trelu-twice\t0\n"), HasSubstr("my.trace:3: 3 columns"));
  EXPECT_THAT(error_of("rlgo-trace 1\n0\trelu-twice\t-1\t1\n"), HasSubstr("'-1' is not a location"));
  EXPECT_THAT(error_of("rlgo-trace 1\n0\trelu-twice\t4294967296\t1\n"), HasSubstr("is not a location"));
  EXPECT_THAT(error_of("rlgo-trace 1\ncolour red\n"), HasSubstr("unknown key 'colour'"));
  EXPECT_THAT(error_of("rlgo-trace 1\ngraph_hash xyz\n"), HasSubstr("'xyz' is not a hash"));
}

// Three relus in a row, a tanh between two of them.
graph::Graph relus() {
  graph::Editor e("relus");
  graph::Value x = e.add_input("x", {ops::DType::f32, {2, 3}});
  for (int k = 0; k < 3; ++k) x = e.op(ops::Op::relu, {k % 2 == 1 ? e.op(ops::Op::tanh, {x}) : x});
  e.add_output("y", x);
  return *e.finish();
}

TEST(Together, SeveralRewritesAreOneEdit) {
  const Trace one_by_one{{0, 2}, {0, 1}, {0, 0}}, together{{0, 2}, {0, -2}, {0, -1}};
  std::vector<size_t> made;
  const auto note = [&](const graph::Graph&, size_t count) { made.push_back(count); };
  const auto graph = replay(relus(), there_and_back(), together, 1, note);
  EXPECT_EQ(graph.hash(), replay(relus(), there_and_back(), one_by_one).hash());
  EXPECT_EQ(made, (std::vector<size_t>{3}));
  graph.validate();
  const TraceFile file{"g", 1, 2, together, {}};
  EXPECT_EQ(parse_trace(to_text(file, *there_and_back()), "t", *there_and_back()).rewrites, together);
  EXPECT_THROW(replay(relus(), there_and_back(), Trace{{0, -1}}), Error);
  EXPECT_THROW(replay(relus(), there_and_back(), Trace{{0, 1}, {0, -2}}), Error);  // the same match
}

// sigmoid(relu) reads the relu of the match before it.
TEST(Together, NoneReadsWhatOneBeforeItReplaces) {
  graph::Editor e("two");
  const graph::Value x = e.add_input("x", {ops::DType::f32, {2, 3}});
  e.add_output("y", e.op(ops::Op::sigmoid, {e.op(ops::Op::relu, {x})}));
  const graph::Graph graph = *e.finish();
  const MatchIndex index(there_and_back(), graph);
  graph::Trial trial(graph);
  Together upwards(index, trial);
  EXPECT_TRUE(upwards.add(0, 0));
  EXPECT_FALSE(upwards.add(1, 0));
  trial.apply();
  trial.undo();
  Together downwards(index, trial);
  EXPECT_TRUE(downwards.add(1, 0));
  EXPECT_TRUE(downwards.add(0, 0));  // what the first one made reads the new value
  trial.apply();
  ASSERT_TRUE(trial.keep());
  EXPECT_EQ(trial.graph().size(), 3u);
  trial.graph().validate();
}

// Both rewrites need the number 2: it is there once.
TEST(Together, EqualNodesAreOneNode) {
  const auto twice = RuleSet::parse("rule twice\n  ?y = (add ?x ?x)\n  => ?y = (mul ?x 2)\n", "t");
  graph::Editor e("g");
  const graph::Value a = e.add_input("a", {ops::DType::f32, {2}}), b = e.add_input("b", {ops::DType::f32, {2}});
  e.add_output("y", e.op(ops::Op::mul, {e.op(ops::Op::add, {a, a}), e.op(ops::Op::add, {b, b})}));
  const graph::Graph graph = *e.finish();
  EXPECT_EQ(replay(graph, twice, Trace{{0, 1}, {0, -1}}).hash(), replay(graph, twice, Trace{{0, 1}, {0, 0}}).hash());
  graph::Trial trial(graph);
  const MatchIndex index(twice, graph);
  Together edit(index, trial);
  EXPECT_TRUE(edit.add(0, 1) && edit.add(0, 0));
  trial.apply();
  trial.undo();
  EXPECT_EQ(trial.graph().id_bound(), graph.id_bound());
  ASSERT_EQ(replay(graph, twice, Trace{{0, 1}, {0, -1}}).size(), 6u);
}

}  // namespace
}  // namespace rlgo::rules
