#include "core/rules/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/graph/editor.h"

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

TEST(Replay, TellsTheGraphAfterEachRewrite) {
  std::vector<uint64_t> hashes;
  const Trace trace{{0, 1}, {1, 0}};
  const auto note = [&](const graph::Graph& graph) { hashes.push_back(graph.hash()); };
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

}  // namespace
}  // namespace rlgo::rules
