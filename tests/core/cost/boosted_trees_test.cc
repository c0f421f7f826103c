#include "core/cost/boosted_trees.h"

#include <gmock/gmock.h>

#include "core/base/error.h"

namespace rlgo::cost {
namespace {

using testing::HasSubstr;

std::string reason(const std::string& text) {
  try {
    BoostedTrees(text, "t.trees");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(BoostedTrees, AddUpTheLeavesThatFeaturesLeadTo) {
  const BoostedTrees trees(
      "# runtime paper 1.0\ndevice Paper (R) 1\nthreads 2\nfeatures size count:relu\ntree 0 2.5 1 0 =1 =2 =4\ntree 1 "
      "1e-35 =0.5 0 "
      "10 =-1 =-2\n",
      "t");
  const auto of = [&](double size, double relus) {
    return trees(std::vector<std::pair<std::string, double>>{{"count:relu", relus}, {"size", size}, {"other", 7}});
  };
  EXPECT_DOUBLE_EQ(of(2.5, 0), 1 + 0.5);  // a threshold itself is on the first side
  EXPECT_DOUBLE_EQ(of(2.5, 1), 2 - 1);
  EXPECT_DOUBLE_EQ(of(3, 1), 4 - 1);
  EXPECT_DOUBLE_EQ(of(11, 1), 4 - 2);
  EXPECT_EQ(trees.device(), "Paper (R) 1");
  EXPECT_EQ(trees.note("threads"), "2");
  EXPECT_EQ(trees.note("base"), "");
  EXPECT_DOUBLE_EQ(trees({}), 1 + 0.5) << "what is not named is 0";
}

TEST(BoostedTrees, NameTheLineThatIsWrong) {
  EXPECT_THAT(reason("features a\ntree 0 1 =1\n"), HasSubstr("t.trees:2: a tree ends before its last leaf"));
  EXPECT_THAT(reason("features a\ntree 0\n"), HasSubstr("t.trees:2: a tree ends before its last leaf"));
  EXPECT_THAT(reason("features a\ntree 0 1 =1 =2 =3\n"), HasSubstr("t.trees:2: '=3' after the last leaf"));
  EXPECT_THAT(reason("features a\ntree 1 1 =1 =2\n"), HasSubstr("'1' is not the number of a feature: there are 1"));
  EXPECT_THAT(reason("features a\ntree 0.5 1 =1 =2\n"), HasSubstr("not the number of a feature"));
  EXPECT_THAT(reason("features a\ntree -1 1 =1 =2\n"), HasSubstr("not the number of a feature"));
  EXPECT_THAT(reason("features a\ntree 0 x =1 =2\n"), HasSubstr("t.trees:2: 'x' is not a number"));
  EXPECT_THAT(reason("features a\ntree 0 1 =nan =2\n"), HasSubstr("'nan' is not a number"));
  EXPECT_THAT(reason("features a a\n"), HasSubstr("t.trees:1: feature 'a' is named twice"));
  EXPECT_THAT(reason("features a\nfeatures b\n"), HasSubstr("t.trees:2: a second line of features"));
  EXPECT_THAT(reason("device a\ndevice b\n"), HasSubstr("t.trees:2: a second line of device"));
  EXPECT_THAT(reason("device \n"), HasSubstr("t.trees:1: a device without a name"));
  EXPECT_THAT(reason("base a\nbase a\n"), HasSubstr("t.trees:2: a second line of base"));
  EXPECT_THAT(reason("forest\n"), HasSubstr("t.trees:1: 'forest' begins no line of trees"));
  EXPECT_THAT(reason("features a\n"), HasSubstr("t.trees: has no trees"));
  std::string deep = "features a\ntree";
  for (int k = 0; k < 100; ++k) deep += " 0 1";
  EXPECT_THAT(reason(deep), HasSubstr("deeper than"));
}

}  // namespace
}  // namespace rlgo::cost
