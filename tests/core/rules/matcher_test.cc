#include <gmock/gmock.h>

#include "core/graph/text.h"
#include "core/rules/rules.h"

namespace rlgo::rules {
namespace {

using graph::from_text;
using graph::Graph;
using testing::ElementsAre;

std::shared_ptr<const RuleSet> rule(std::string_view body) {
  return RuleSet::parse("rule r\n" + std::string(body), "f");
}
std::vector<Match> matches(const std::string& body, const Graph& graph) { return find_matches(*rule(body), 0, graph); }
// Text of the graph after the first match.
std::string rewritten(const std::string& body, const Graph& graph) {
  const auto set = rule(body);
  const auto found = find_matches(*set, 0, graph);
  if (found.empty()) return "no match";
  const auto rewrite = apply(*set, found[0], graph);
  if (!rewrite) return "not applicable";
  rewrite->graph.validate();
  return graph::to_text(rewrite->graph);
}
Graph graph_of(const std::string& lines) { return from_text("graph \"g\"\n" + lines); }
bool same(const std::string& text, const Graph& wanted) { return from_text(text).hash() == wanted.hash(); }

TEST(Matcher, FindsNestedTermsInTopologicalOrder) {
  const auto g = graph_of(R"(
%0 = input "x" : f32[2,3]
%1 = relu(%0)
%2 = relu(%1)
%3 = relu(%2)
output "y" = %3
)");
  const auto found = matches("?y = (relu (relu ?x)) => ?y = (relu ?x)", g);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].nodes, ElementsAre(2, 1));
  EXPECT_THAT(found[1].nodes, ElementsAre(3, 2));
  EXPECT_EQ(found[1].variables[0], (graph::Value{1, 0}));
}

TEST(Matcher, OperandsOfCommutativeOperatorsMatchBothWaysButCountOnce) {
  const auto g = graph_of(R"(
%0 = input "x" : f32[2,3]
%1 = input "a" : f32[2,3]
%2 = input "b" : f32[2,3]
%3 = mul(%1, %0)
%4 = mul(%0, %2)
%5 = add(%3, %4)
output "y" = %5
)");
  EXPECT_EQ(matches("?y = (add (mul ?x ?a) (mul ?x ?b)) => ?y = (mul ?x (add ?a ?b))", g).size(), 1u);
  EXPECT_EQ(matches("?y = (sub (mul ?x ?a) (mul ?x ?b)) => ?y = (mul ?x (sub ?a ?b))", g).size(), 0u);
  EXPECT_EQ(matches("?y = (mul ?p ?q) => ?y = (mul ?q ?p)", g).size(), 0u) << "changes nothing";
}

// Graphs hold equal nodes once, so does the pattern.
TEST(Matcher, ATermThatStandsTwiceIsOneNode) {
  const auto g = graph_of(R"(
%0 = input "x" : f32[2,3]
%1 = relu(%0)
%2 = add(%1, %1)
%3 = add(%2, %1)
output "y" = %3
)");
  for (const char* body : {"?y = (add (relu ?x) (relu ?x)) => ?y = (mul (relu ?x) 2)",
                           "?y = (add (relu ?x) ?a) ?a = (relu ?x) => ?y = (mul ?a 2)",
                           "?a = (relu ?x) ?y = (add (relu ?x) (relu ?x)) => ?y = (mul ?a 2)"}) {
    const auto found = matches(body, g);
    ASSERT_EQ(found.size(), 1u) << body;
    EXPECT_THAT(found[0].nodes, ElementsAre(2, 1)) << body;
  }
  const auto deep = matches("?y = (add (add (relu ?x) (relu ?x)) (relu ?x)) => ?y = (mul (relu ?x) 3)", g);
  ASSERT_EQ(deep.size(), 1u);
  EXPECT_EQ(deep[0].nodes.size(), 3u);
  EXPECT_TRUE(matches("?y = (add (relu ?x) (relu ?z)) => ?y = (relu (add ?x ?z))", g).empty())
      << "different terms are different nodes";
}

TEST(Matcher, NumbersAreWhatTheRuleStates) {
  const auto count = [](const std::string& body, const std::string& dtype, const std::string& number) {
    return matches(body, graph_of("%0 = input \"x\" : " + dtype + "[2]\n%1 = fill() to=" + dtype + " shape=[] value=" +
                                  number + " : " + dtype + "[]\n%2 = pow(%0, %1)\noutput \"y\" = %2\n"))
        .size();
  };
  const std::string root = "?y = (pow ?x 0.5) => ?y = (sqrt ?x)",
                    third = "?y = (pow ?x 0.3333333333333333) => ?y = (sqrt ?x)";
  EXPECT_EQ(count(root, "f32", "0.5"), 1u);
  EXPECT_EQ(count(root, "f32", "0.50000006"), 0u) << "the next float";
  EXPECT_EQ(count(root, "f64", "0.5000000001"), 0u);
  EXPECT_EQ(count(third, "f32", "0.3333333432674408"), 1u) << "as the file rounded it";
  EXPECT_EQ(count(third, "f32", "0.33334"), 0u);
  EXPECT_EQ(count(third, "f64", "0.3333333432674408"), 0u);
}

// (x + 2^23) - 2^23 rounds x to whole numbers.
TEST(Matcher, NumbersThatCancelAreNotDrawnTogether) {
  const auto drawn_together = [](const std::string& a, const std::string& b) {
    const auto g = graph_of("%0 = input \"x\" : f32[2]\n%1 = fill() shape=[] value=" + a +
                            " : f32[]\n%2 = fill() shape=[] value=" + b +
                            " : f32[]\n%3 = add(%0, %1)\n%4 = add(%3, %2)\noutput \"y\" = %4\n");
    const auto set = rule("?y = (add (add ?x ?a) ?b) => ?y = (add ?x (add ?a ?b))");
    return std::ranges::any_of(find_matches(*set, 0, g), [&](const Match& match) {
      const auto rewrite = apply(*set, match, g);
      return rewrite && graph::to_text(rewrite->graph).find("add(%1, %2)") != std::string::npos;
    });
  };
  EXPECT_FALSE(drawn_together("8388608.0", "-8388608.0"));
  EXPECT_FALSE(drawn_together("8388608.0", "-8388600.0"));
  EXPECT_TRUE(drawn_together("3.0", "-2.0"));
}

TEST(Matcher, AnIdentityIsNoMatch) {
  const auto g = graph_of(
      "%0 = input \"x\" : f32[2]\n%1 = input \"z\" : f32[2]\n%2 = add(%0, %1)\n%3 = add(%2, %0)\noutput \"y\" = %3\n");
  EXPECT_EQ(matches("?y = (add (add ?a ?b) ?c) => ?y = (add ?a (add ?b ?c))", g).size(),
            1u);  // z+(x+x); x+(z+x) is what stands there
  EXPECT_EQ(matches("?y = (relu ?a) => ?y = (relu ?a)", g).size(), 0u);
}

TEST(Matcher, ATermThatIsTheReplacedNodeIsNotReadByItsReplacement) {
  const auto g = graph_of("%0 = input \"x\" : f32[2]\n%1 = relu(%0)\n%2 = relu(%1)\noutput \"y\" = %2\n");
  EXPECT_EQ(matches("?y = (relu ?x) => ?y = (relu (relu ?x))", g).size(), 0u);
  EXPECT_EQ(matches("?y = (relu ?x) => ?y = (relu (relu (relu ?x)))", g).size(), 0u);
  EXPECT_EQ(matches("?y = (relu ?x) => ?y = (relu (max ?x 0))", g).size(), 2u);
}

TEST(Matcher, BundlesAndLiteralsMustAgree) {
  const auto g = graph_of(R"(
%0 = input "x" : f32[1,2,6,6]
%1 = weight "u" hash=0000000000000001 : f32[3,2,3,3]
%2 = weight "v" hash=0000000000000002 : f32[3,2,3,3]
%3 = conv2d(%0, %1) pads=[1,1,1,1]
%4 = conv2d(%0, %2) pads=[1,1,1,1] act=relu
%5 = conv2d(%0, %2) pads=[1,1,1,1]
%6 = conv2d(%0, %1)
output "a" = %3
output "b" = %4
output "c" = %5
output "d" = %6
)");
  const std::string merge =
      "before ?a ?b ?a = (conv2d ?x ?u ..?A) ?b = (conv2d ?x ?v ..?A)"
      " => ?s = (split (conv2d ?x (concat ?u ?v axis=0) ..?A) axis=1 sizes=[3,3]) ?a = ?s.0 ?b = ?s.1";
  const auto found = matches(merge, g);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].nodes, ElementsAre(3, 5));
  EXPECT_EQ(
      matches("?a = (conv2d ?x ?u pads=[1,1,1,1] act=relu) => ?a = (relu (conv2d ?x ?u pads=[1,1,1,1]))", g).size(),
      1u);
  EXPECT_EQ(matches("?a = (conv2d ?x ?u) => ?a = (conv2d ?x (relu ?u))", g).size(), 1u) << "unmentioned means default";
  EXPECT_EQ(
      matches("?a = (conv2d ?x ?u pads=[?t, ?l, ?t, 1] ..?A) => ?a = (conv2d ?x (relu ?u) pads=[?t, ?l, 1, 1] ..?A)", g)
          .size(),
      3u);
}

TEST(Matcher, ConstantRootsAreLeftAlone) {
  const auto g = graph_of(R"(
%0 = weight "w" hash=0000000000000001 : f32[2,2]
%1 = relu(%0)
%2 = input "x" : f32[2,2]
%3 = matmul(%2, %1)
output "y" = %3
)");
  EXPECT_EQ(matches("?y = (relu ?x) => ?y = (max ?x 0)", g).size(), 0u);
  EXPECT_EQ(matches("?y = (matmul ?x (relu ?w)) => ?y = (matmul ?x (max ?w 0))", g).size(), 1u);
}

TEST(Matcher, UsesCountsReadersAndGraphOutputs) {
  const std::string lines = "%0 = input \"x\" : f32[2]\n%1 = neg(%0)\n%2 = relu(%1)\n";
  const std::string fuse = "?n = (neg ?x) ?y = (relu ?n) when uses(?n) == 1 => ?y = (relu (sub 0 ?x))";
  EXPECT_EQ(matches(fuse, graph_of(lines + "output \"y\" = %2\n")).size(), 1u);
  EXPECT_EQ(matches(fuse, graph_of(lines + "output \"y\" = %2\noutput \"n\" = %1\n")).size(), 0u);
  EXPECT_EQ(matches(fuse, graph_of(lines + "%3 = exp(%1)\noutput \"y\" = %2\noutput \"e\" = %3\n")).size(), 0u);
}

constexpr const char* kMerge =
    "before ?a ?b ?a = (matmul ?x ?u) ?b = (matmul ?x ?v) when rank(?u) == 2 and rank(?v) == 2"
    " => ?s = (split (matmul ?x (concat ?u ?v axis=1)) axis=1 sizes=[dim(?u, 1), dim(?v, 1)]) ?a = ?s.0 ?b = ?s.1";

TEST(Matcher, AMergeThatWouldMakeACycleIsNoMatch) {
  const std::string lines =
      "%0 = input \"x\" : f32[2,2]\n%1 = weight \"u\" hash=0000000000000001 : f32[2,2]\n%2 = matmul(%0, %1)\n%3 = "
      "relu(%2)\n";
  EXPECT_EQ(matches(kMerge, graph_of(lines + "%4 = matmul(%0, %3)\noutput \"y\" = %4\n")).size(), 0u);
  EXPECT_EQ(matches(kMerge,
                    graph_of(lines +
                             "%4 = input \"v\" : f32[2,2]\n%5 = matmul(%0, %4)\n%6 = add(%5, %3)\noutput \"y\" = %6\n"))
                .size(),
            1u);
}

TEST(Matcher, ASingleRootMayNotReadWhatDependsOnIt) {
  const auto g =
      graph_of("%0 = input \"x\" : f32[2]\n%1 = neg(%0)\n%2 = exp(%1)\n%3 = add(%0, %2)\noutput \"y\" = %3\n");
  // ?o = exp(neg x) is found next to the root neg x through its reader; add(x, ?o) would read itself.
  EXPECT_EQ(matches("?n = (neg ?x) ?a = (add ?x ?o) => ?n = (sub ?o (add ?o ?x))", g).size(), 0u);
}

TEST(Matcher, SequencesTakeAnyNumber) {
  const auto g = graph_of(R"(
%0 = input "x" : f32[1,2]
%1 = relu(%0)
%2 = exp(%0)
%3 = relu(%2)
%4 = concat(%0, %1, %3, %2) axis=1
output "y" = %4
)");
  const std::string pair =
      "?y = (concat ?l... (relu ?p) (relu ?q) ?r... axis=?k) => ?y = (concat ?l... (relu (concat ?p ?q axis=?k)) ?r... "
      "axis=?k)";
  const auto found = matches(pair, g);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].variables.size(), 4u);
  EXPECT_TRUE(same(rewritten(pair, g), graph_of(R"(
%0 = input "x" : f32[1,2]
%1 = exp(%0)
%2 = concat(%0, %1) axis=1
%3 = relu(%2)
%4 = concat(%0, %3, %1) axis=1
output "y" = %4
)")));
}

TEST(Matcher, MappedTermsMakeOneNodeForEachElement) {
  const auto g = graph_of(
      "%0 = input \"x\" : f32[1,2]\n%1 = input \"z\" : f32[1,3]\n%2 = concat(%0, %1) axis=1\n%3 = relu(%2)\noutput "
      "\"y\" = %3\n");
  EXPECT_TRUE(same(rewritten("?y = (relu (concat ?xs... axis=?k)) => ?y = (concat (relu ?xs)... axis=?k)", g),
                   graph_of("%0 = input \"x\" : f32[1,2]\n%1 = input \"z\" : f32[1,3]\n%2 = relu(%0)\n%3 = "
                            "relu(%1)\n%4 = concat(%2, %3) axis=1\noutput \"y\" = %4\n")));
}

TEST(Matcher, AllOutputsOfASplit) {
  const std::string lines = "%0 = input \"x\" : f32[1,5]\n%1 = split(%0) axis=1 sizes=[2,2,1]\n";
  const std::string join = "?s = (split ?x axis=?k sizes=?n) ?y = (concat ?s... axis=?k) => ?y = ?x";
  EXPECT_EQ(matches(join, graph_of(lines + "%2 = concat(%1.0, %1.1, %1.2) axis=1\noutput \"y\" = %2\n")).size(), 1u);
  EXPECT_EQ(matches(join, graph_of(lines + "%2 = concat(%1.1, %1.0, %1.2) axis=1\noutput \"y\" = %2\n")).size(), 0u);
  EXPECT_EQ(matches(join, graph_of(lines + "%2 = concat(%1.0, %1.1) axis=1\noutput \"y\" = %2\n")).size(), 0u);
}

TEST(Matcher, OutputsOfASplitAreReplacedOneByOne) {
  const auto g = graph_of(
      "%0 = input \"x\" : f32[1,2]\n%1 = input \"z\" : f32[1,3]\n%2 = concat(%0, %1) axis=1\n%3 = split(%2) axis=1 "
      "sizes=[2,3]\n%4 = relu(%3.1)\noutput \"y\" = %4\noutput \"x0\" = %3.0\n");
  EXPECT_TRUE(same(
      rewritten("?s = (split (concat ?xs... axis=?k) axis=?k sizes=?n) when ?n == dim(?xs, ?k) => ?s... = ?xs...", g),
      graph_of("%0 = input \"x\" : f32[1,2]\n%1 = input \"z\" : f32[1,3]\n%2 = relu(%1)\noutput \"y\" = %2\noutput "
               "\"x0\" = %0\n")));
}

TEST(Matcher, NumbersMatchUniformConstants) {
  const std::string rest = "%2 = mul(%0, %1)\noutput \"y\" = %2\n";
  const std::string one = "?y = (mul ?x 1) => ?y = ?x";
  EXPECT_EQ(matches(one, graph_of("%0 = input \"x\" : f32[2]\n%1 = fill() shape=[] value=1.0\n" + rest)).size(), 1u);
  EXPECT_EQ(matches(one, graph_of("%0 = input \"x\" : f32[2]\n%1 = fill() shape=[2] value=1.0\n" + rest)).size(), 1u);
  EXPECT_EQ(matches(one, graph_of("%0 = input \"x\" : f32[2]\n%1 = fill() shape=[] value=1.5\n" + rest)).size(), 0u);
  EXPECT_EQ(matches(one, graph_of("%0 = input \"x\" : f32[2]\n%1 = fill() shape=[3,2] value=1.0\n" + rest)).size(), 0u)
      << "enlarges x";
  EXPECT_EQ(
      matches(one, graph_of("%0 = input \"x\" : f32[2]\n%1 = weight \"w\" hash=0000000000000005 : f32[1]\n" + rest))
          .size(),
      0u)
      << "contents are not here";
}

TEST(Matcher, NewScalarsTakeTheTypeOfTheirNeighbours) {
  const auto g = graph_of("%0 = input \"x\" : f64[2]\n%1 = neg(%0)\noutput \"y\" = %1\n");
  EXPECT_THAT(rewritten("?y = (neg ?x) => ?y = (sub 0 ?x)", g), testing::HasSubstr("to=f64"));
}

TEST(Matcher, TypesMustBeEqual) {
  const auto square = graph_of("%0 = input \"x\" : f32[3,3]\n%1 = transpose(%0) perm=[1,0]\noutput \"y\" = %1\n");
  const auto oblong = graph_of("%0 = input \"x\" : f32[3,2]\n%1 = transpose(%0) perm=[1,0]\noutput \"y\" = %1\n");
  const std::string wrong = "?y = (transpose ?x perm=[1, 0]) => ?y = ?x";
  EXPECT_EQ(matches(wrong, square).size(), 1u);
  EXPECT_EQ(matches(wrong, oblong).size(), 0u);
}

TEST(Apply, AStaleMatchDoesNotApply) {
  const auto set = rule("?y = (relu (relu ?x)) => ?y = (relu ?x)");
  const auto g = graph_of("%0 = input \"x\" : f32[2]\n%1 = relu(%0)\n%2 = relu(%1)\noutput \"y\" = %2\n");
  const auto match = find_matches(*set, 0, g).at(0);
  const auto first = apply(*set, match, g);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(apply(*set, match, first->graph).has_value());
  Match wrong = match;
  wrong.nodes[1] = 0;
  EXPECT_FALSE(apply(*set, wrong, g).has_value());
  wrong.nodes[1] = 99;
  EXPECT_FALSE(apply(*set, wrong, g).has_value());
}

TEST(Apply, InnerNodesThatAreReadElsewhereStay) {
  const auto g =
      graph_of("%0 = input \"x\" : f32[2]\n%1 = relu(%0)\n%2 = relu(%1)\noutput \"y\" = %2\noutput \"z\" = %1\n");
  EXPECT_TRUE(same(rewritten("?y = (relu (relu ?x)) => ?y = (relu ?x)", g),
                   graph_of("%0 = input \"x\" : f32[2]\n%1 = relu(%0)\noutput \"y\" = %1\noutput \"z\" = %1\n")));
}

// (x + b) - b rounds x to b's last place, whatever b is.
TEST(Matcher, MultiplesOfOneValueThatCancelAreNotDrawnTogether) {
  const std::string associate = "?y = (sub (add ?x ?a) ?b) => ?y = (add ?x (sub ?a ?b))";
  const auto count = [&](const std::string& a, const std::string& b) {
    return matches(associate, graph_of("%0 = input \"x\" : f32[2]\n%1 = input \"b\" : f32[2]\n%2 = neg(%1)\n"
                                       "%3 = fill() shape=[] to=f32 value=3\n%4 = mul(%1, %3)\n%5 = mul(%3, %2)\n"
                                       "%6 = add(%0, " +
                                       a + ")\n%7 = sub(%6, " + b + ")\noutput \"y\" = %7\n"))
        .size();
  };
  EXPECT_EQ(count("%1", "%1"), 1u) << "b + (x - b), not x + (b - b)";
  EXPECT_EQ(count("%4", "%4"), 1u);
  EXPECT_EQ(count("%1", "%4"), 2u) << "b - 3 b";
  EXPECT_EQ(count("%2", "%1"), 2u) << "-b - b";
  EXPECT_EQ(count("%5", "%2"), 2u) << "-3 b + b";
}

TEST(Matcher, NoRuleMakesMuchArithmeticOnWeights) {
  const std::string associate = "?y = (matmul (matmul ?x ?u) ?v) => ?y = (matmul ?x (matmul ?u ?v))";
  const auto count = [&](const std::string& n) {
    const std::string weight = " hash=0000000000000012 : f32[" + n + "," + n + "]\n";
    return matches(associate,
                   graph_of("%0 = input \"x\" : f32[1," + n + "]\n%1 = weight \"u\"" + weight + "%2 = weight \"v\"" +
                            weight + "%3 = matmul(%0, %1)\n%4 = matmul(%3, %2)\noutput \"y\" = %4\n"))
        .size();
  };
  EXPECT_EQ(count("3000"), 1u);
  EXPECT_EQ(count("4000"), 0u);  // 1.3e11 operations
}

}  // namespace
}  // namespace rlgo::rules
