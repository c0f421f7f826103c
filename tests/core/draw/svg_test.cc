#include "core/draw/svg.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/draw/layout.h"
#include "core/graph/text.h"

namespace rlgo::graph {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

const Graph& toy() {
  static const Graph graph = from_text(
      "graph \"a<b\"\n"
      "%0 = input \"x\" : f32[1,3,8,8]\n"
      "%1 = weight \"w\" seed=7 scale=0.1 shift=0 positive=0 : f32[4,3,3,3]\n"
      "%2 = conv2d(%0, %1) pads=[1,1,1,1]\n"
      "%3 = split(%2) axis=1 sizes=[1,3]\n"
      "%4 = add(%3.0, %3.1)\n"
      "output \"y\" = %4\n");
  return graph;
}

TEST(Layout, LayersFromTopToBottom) {
  const Size boxes[] = {{20, 10}, {20, 10}, {20, 10}};
  const std::pair<int, int> arrows[] = {{0, 1}, {1, 2}, {0, 2}};
  const auto layout = layered_layout(boxes, arrows);
  EXPECT_LT(layout.centres[0].y, layout.centres[1].y);
  EXPECT_LT(layout.centres[1].y, layout.centres[2].y);
  EXPECT_EQ(layout.routes[0].size(), 2u);
  ASSERT_EQ(layout.routes[2].size(), 3u);  // passes the layer of box 1
  EXPECT_GE(std::abs(layout.routes[2][1].x - layout.centres[1].x), 10);
}

TEST(Layout, BoxesOfALayerDoNotOverlap) {
  std::vector<Size> boxes(12, {30, 10});
  std::vector<std::pair<int, int>> arrows;
  for (int k = 1; k < 11; ++k) {
    arrows.emplace_back(0, k);
    arrows.emplace_back(k, 11);
  }
  const auto layout = layered_layout(boxes, arrows);
  std::vector<double> x;
  for (int k = 1; k < 11; ++k) x.push_back(layout.centres[k].x);
  std::sort(x.begin(), x.end());
  for (size_t k = 1; k < x.size(); ++k) EXPECT_GE(x[k] - x[k - 1], 30);
  EXPECT_NEAR(layout.centres[0].x, (x[4] + x[5]) / 2, 2);
}

TEST(Layout, UncrossesTwoArrows) {
  const Size boxes[] = {{20, 10}, {20, 10}, {20, 10}, {20, 10}};
  const std::pair<int, int> arrows[] = {{0, 3}, {1, 2}};
  const auto layout = layered_layout(boxes, arrows);
  EXPECT_EQ(layout.centres[0].x < layout.centres[1].x, layout.centres[3].x < layout.centres[2].x);
}

TEST(Layout, CyclesAreRefused) {
  const Size boxes[] = {{20, 10}, {20, 10}};
  const std::pair<int, int> arrows[] = {{0, 1}, {1, 0}};
  EXPECT_THROW(layered_layout(boxes, arrows), Error);
}

TEST(Svg, DrawsEveryOperatorAndOutputOnce) {
  const std::string svg = to_svg(picture(toy()));
  EXPECT_EQ(count(svg, "<g class=\"box "), 5u);            // x, conv2d, split, add, y; the weight is part of conv2d
  EXPECT_EQ(count(svg, "<g class=\"arrow "), 4u);          // two arrows from split to add are one
  EXPECT_NE(svg.find(">0, 1</text>"), std::string::npos);  // with both ports
  EXPECT_NE(svg.find("<title>a&lt;b</title>"), std::string::npos);
  EXPECT_NE(svg.find("pads=[1,1,1,1]"), std::string::npos);
  EXPECT_EQ(svg, to_svg(picture(toy())));
}

TEST(Svg, MarksAndNotesNodes) {
  PictureOptions options;
  options.mark = [](NodeId id) { return toy().node(id).op() == ops::Op::add ? "added" : ""; };
  options.note = [](NodeId id) { return toy().node(id).op() == ops::Op::split ? "12.5 us" : ""; };
  const std::string svg = to_svg(picture(toy(), options), {.style = false});
  EXPECT_EQ(count(svg, "\"box op added\""), 1u);
  EXPECT_NE(svg.find(">12.5 us</text>"), std::string::npos);
  EXPECT_EQ(svg.find("<style>"), std::string::npos);
}

TEST(Svg, RunsOfUnmarkedNodesBecomeOneBox) {
  std::string text = "%0 = input \"x\" : f32[4]\n";
  for (int k = 1; k <= 20; ++k) text += fmt::format("%{} = relu(%{})\n", k, k - 1);
  const Graph graph = from_text("graph \"g\"\n" + text + "output \"y\" = %20\n");
  PictureOptions options;
  options.mark = [&](NodeId id) { return graph.position(id) == 10 ? "touched" : ""; };
  options.only_marked = true;
  const Picture folded = picture(graph, options);
  ASSERT_EQ(folded.boxes.size(), 6u);  // 9 folded, relu, the marked one, relu, 9 folded, y
  EXPECT_EQ(folded.boxes[0].title, "9 unchanged");
  EXPECT_EQ(folded.boxes[0].about, "8 x relu\n1 x x");
  EXPECT_EQ(folded.boxes[4].title, "9 unchanged");
  EXPECT_EQ(folded.arrows.size(), 5u);
}

// 1,000 boxes in a row, and an arrow from the first to each: the arrows pass half a million layers.
TEST(Svg, ArrowsThatPassTooManyLayersAreRefused) {
  Picture picture;
  for (int k = 0; k < 1000; ++k) {
    picture.boxes.push_back({"b", {}, "", "", ""});
    if (k > 0) picture.arrows.push_back({k - 1, k, "", ""});
    if (k > 1) picture.arrows.push_back({0, k, "", ""});
  }
  EXPECT_THROW(to_svg(picture), TooLarge);
}

TEST(Svg, EscapesWhatXmlDoesNotAllow) {
  EXPECT_EQ(xml_escaped("<a b='1'>&\"\n"), "&lt;a b=&#39;1&#39;&gt;&amp;&quot;\n");
  EXPECT_EQ(xml_escaped("\x01é\xff\xc3"), "?é??");
  EXPECT_EQ(xml_escaped("\xed\xa0\x80"), "???");  // a surrogate
}

TEST(Svg, ArrowsToNowhereAreRefused) {
  Picture picture{"p", {{"a", {}, "", "", ""}}, {{0, 1, "", ""}}};
  EXPECT_THROW(to_svg(picture), Error);
  picture.arrows[0].to = 0;
  EXPECT_THROW(to_svg(picture), Error);  // a cycle
  picture.arrows.clear();
  EXPECT_EQ(count(to_svg(picture), "<rect"), 1u);
  EXPECT_EQ(count(to_svg({}), "</svg>"), 1u);
}

}  // namespace
}  // namespace rlgo::graph
