#include "core/nets/menu.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo::nets {
namespace {

// Rule 0 at nodes {0, 1} and {3, 4}, rule 1 at {1, 2}, rule 2 at {5}; a location has one feature.
Menu make() {
  mdp::Observation o;
  o.counts = {2, 1, 1};
  o.loc_node = {0, 3, 1, 5};
  o.loc_rest = {1, 4, 2};
  o.loc_rest_end = {1, 2, 3, 3};
  const std::vector<float> features = {10, 11, 12, 13};
  return Menu(o, features, 1);
}

std::vector<float> features_of(const Menu& menu) {
  std::vector<float> all;
  menu.append_features(all);
  return all;
}

TEST(Menu, KnowsItsLocations) {
  const auto menu = make();
  EXPECT_EQ(menu.counts(3), (std::vector<int32_t>{2, 1, 1}));
  EXPECT_EQ(menu.at({0, 1}).nodes, (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(features_of(menu), (std::vector<float>{10, 11, 12, 13}));
  EXPECT_THROW(menu.at({1, 1}), Error);
  EXPECT_THROW(menu.at({3, 0}), Error);
}

TEST(Menu, OverlapIsSharedNodes) {
  std::vector<float> of_rule(3, 9);
  make().overlap({0, 0}, of_rule);
  EXPECT_EQ(of_rule, (std::vector<float>{1, 1, 0}));  // itself, and rule 1 by node 1
  make().overlap({3, 0}, of_rule);                    // NO-OP
  EXPECT_EQ(of_rule, (std::vector<float>{0, 0, 0}));
}

// The list gets shorter with each action, whatever is predicted: nothing can be taken twice.
TEST(Menu, TheActionsOwnLocationGoes) {
  auto menu = make();
  const std::vector<int64_t> none(3, 0);
  menu.apply({0, 0}, {none, none, {}}, 200);
  EXPECT_EQ(features_of(menu), (std::vector<float>{11, 12, 13}));
}

TEST(Menu, WhatSharesNodesGoesFirstThenTheNearest) {
  auto menu = make();
  const std::vector<int64_t> gone = {1, 1, 0}, none(3, 0);
  menu.apply({0, 0}, {gone, none, {}}, 200);
  EXPECT_EQ(features_of(menu), (std::vector<float>{11, 13}));
  auto other = make();
  const std::vector<int64_t> two = {2, 0, 0};
  other.apply({0, 0}, {two, none, {}}, 200);
  EXPECT_EQ(features_of(other), (std::vector<float>{12, 13}));
}

TEST(Menu, WhatComesStandsWhereTheActionWas) {
  auto menu = make();
  const std::vector<int64_t> none(3, 0), come = {1, 0, 2};
  menu.apply({1, 0}, {none, come, {20, 21, 22}}, 2);
  EXPECT_EQ(features_of(menu), (std::vector<float>{10, 11, 21, 13}));  // of rule 0 and 2 no more than two stay
  EXPECT_EQ(menu.at({2, 0}).nodes, (std::vector<int32_t>{1, 2}));
}

TEST(Menu, GoesThroughBytes) {
  ByteWriter out;
  make().put(out);
  ByteReader in(out.bytes());
  const auto menu = Menu::get(in);
  EXPECT_TRUE(in.done());
  EXPECT_EQ(features_of(menu), features_of(make()));
  EXPECT_EQ(menu.at({0, 1}).nodes, make().at({0, 1}).nodes);
}

}  // namespace
}  // namespace rlgo::nets
