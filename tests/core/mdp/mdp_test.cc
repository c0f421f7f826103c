#include "core/mdp/mdp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"

namespace rlgo::mdp {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ObservationSpec small_spec() {
  return {.ops = 4,
          .node_features = 1,
          .edge_features = 1,
          .global_features = 1,
          .rules = 2,
          .max_locations = 3,
          .rule_names = {"a", "b"}};
}

Observation small_observation() {
  return {.node_op = {0, 3},
          .node_feat = {1, 2},
          .edge_src = {0},
          .edge_dst = {1},
          .edge_feat = {0.5f},
          .globals = {7},
          .counts = {0, 2},
          .loc_node = {0, 1},
          .latent = {}};
}

// `change` breaks a good observation; the error must contain `text`.
void expect_rejected(const std::function<void(Observation&)>& change, const std::string& text) {
  auto o = small_observation();
  change(o);
  EXPECT_THAT([&] { check(o, small_spec()); }, ThrowsMessage<Error>(HasSubstr(text)));
}

TEST(ObservationSpec, HashChangesWithEveryField) {
  const auto base = small_spec();
  EXPECT_EQ(base.hash(), small_spec().hash());
  const std::vector<std::function<void(ObservationSpec&)>> changes = {[](auto& s) { s.ops = 5; },
                                                                      [](auto& s) { s.node_features = 2; },
                                                                      [](auto& s) { s.edge_features = 2; },
                                                                      [](auto& s) { s.rules = 3; },
                                                                      [](auto& s) { s.global_features = 2; },
                                                                      [](auto& s) { s.max_locations = 4; },
                                                                      [](auto& s) { s.location_features = 2; },
                                                                      [](auto& s) { s.rule_names[1] = "c"; },
                                                                      [](auto& s) {
                                                                        s.rule_names = {"ab", ""};
                                                                      }};
  for (const auto& change : changes) {
    auto other = base;
    change(other);
    EXPECT_NE(other.hash(), base.hash());
  }
}

TEST(Check, AcceptsAGoodObservation) {
  EXPECT_NO_THROW(check(small_observation(), small_spec()));
  auto o = small_observation();
  o.counts = {3, 0};  // the bound itself is legal
  o.loc_node = {0, 1, 1};
  EXPECT_NO_THROW(check(o, small_spec()));
}

TEST(Check, NamesTheFieldOfAWrongSize) {
  expect_rejected([](auto& o) { o.node_feat.push_back(0); }, "node_feat has 3 items, expected 2");
  expect_rejected([](auto& o) { o.edge_dst.clear(); }, "edge_dst has 0 items, expected 1");
  expect_rejected([](auto& o) { o.edge_feat.clear(); }, "edge_feat");
  expect_rejected([](auto& o) { o.globals.clear(); }, "globals");
  expect_rejected([](auto& o) { o.counts.push_back(0); }, "counts");
  expect_rejected([](auto& o) { o.loc_node.pop_back(); }, "loc_node has 1 items, expected 2");
}

TEST(Check, NamesTheFieldOfAnIndexOutOfRange) {
  expect_rejected([](auto& o) { o.node_op[1] = 4; }, "node_op[1] is 4, outside [0, 4)");
  expect_rejected([](auto& o) { o.edge_src[0] = 2; }, "edge_src[0]");
  expect_rejected([](auto& o) { o.edge_dst[0] = -1; }, "edge_dst[0] is -1");
  expect_rejected([](auto& o) { o.counts = {-1, 3}; }, "counts[0] is -1");
  expect_rejected([](auto& o) { o.counts = {0, 4}; }, "counts[1] is 4, outside [0, 4)");
  expect_rejected([](auto& o) { o.loc_node[0] = 2; }, "loc_node[0]");
}

TEST(Check, LocationsHaveTheFeaturesAndNodesThatTheyState) {
  auto spec = small_spec();
  spec.location_features = 2;
  auto good = small_observation();
  good.loc_feat = {-1, 0, 2, 1};
  good.loc_rest_end = {1, 1};
  good.loc_rest = {1};
  EXPECT_NO_THROW(check(good, spec));
  const auto rejected = [&](const std::function<void(Observation&)>& change, const std::string& text) {
    auto o = good;
    change(o);
    EXPECT_THAT([&] { check(o, spec); }, ThrowsMessage<Error>(HasSubstr(text)));
  };
  rejected([](auto& o) { o.loc_feat.pop_back(); }, "loc_feat has 3 items, expected 4");
  rejected([](auto& o) { o.loc_feat[1] = std::numeric_limits<float>::quiet_NaN(); }, "loc_feat[1]");
  rejected([](auto& o) { o.loc_rest_end = {1}; }, "loc_rest_end has 1 items, expected 2");
  rejected([](auto& o) { o.loc_rest_end = {1, 0}; }, "loc_rest_end[1] is 0, below 1");
  rejected([](auto& o) { o.loc_rest_end = {}; }, "loc_rest_end has 0 items, expected 2");
  rejected([](auto& o) { o.loc_rest = {2}; }, "loc_rest[0] is 2, outside [0, 2)");
}

TEST(Check, RejectsNumbersThatAreNotFinite) {
  expect_rejected([](auto& o) { o.node_feat[1] = std::numeric_limits<float>::quiet_NaN(); }, "node_feat[1]");
  expect_rejected([](auto& o) { o.edge_feat[0] = std::numeric_limits<float>::infinity(); }, "edge_feat[0]");
  expect_rejected([](auto& o) { o.globals[0] = -std::numeric_limits<float>::infinity(); }, "globals[0]");
}

}  // namespace
}  // namespace rlgo::mdp
