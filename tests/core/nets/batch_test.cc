#include "core/nets/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/mdp/mdp.h"

namespace rlgo::nets {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

mdp::ObservationSpec spec() {
  return {.ops = 4,
          .node_features = 2,
          .edge_features = 1,
          .global_features = 1,
          .rules = 3,
          .max_locations = 4,
          .rule_names = {"a", "b", "c"}};
}
mdp::Observation first() {
  return {.node_op = {1, 2},
          .node_feat = {1, 2, 3, 4},
          .edge_src = {0},
          .edge_dst = {1},
          .edge_feat = {9},
          .globals = {5},
          .counts = {0, 2, 1},
          .loc_node = {0, 1, 1}};
}
mdp::Observation second() {
  return {.node_op = {3, 0, 0},
          .node_feat = {5, 6, 7, 8, 9, 10},
          .edge_src = {0, 1},
          .edge_dst = {2, 2},
          .edge_feat = {7, 8},
          .globals = {6},
          .counts = {1, 0, 0},
          .loc_node = {2}};
}
template <typename T = int64_t>
std::vector<T> values(const torch::Tensor& t) {
  const auto flat = t.contiguous();
  return std::vector<T>(flat.data_ptr<T>(), flat.data_ptr<T>() + flat.numel());
}
using Ints = std::vector<int64_t>;

TEST(Collate, JoinsGraphsWithOffsets) {
  const auto a = first(), b = second();
  const mdp::Observation* const both[] = {&a, &b};
  const auto batch = collate(both, spec());
  EXPECT_EQ(values(batch.node_op), (Ints{1, 2, 3, 0, 0}));
  EXPECT_EQ(values(batch.node_graph), (Ints{0, 0, 1, 1, 1}));
  EXPECT_EQ(values(batch.edge_src), (Ints{0, 2, 3}));
  EXPECT_EQ(values(batch.edge_dst), (Ints{1, 4, 4}));
  EXPECT_EQ(values(batch.edge_graph), (Ints{0, 1, 1}));
  EXPECT_EQ(values<float>(batch.node_feat), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(values<float>(batch.edge_feat), (std::vector<float>{9, 7, 8}));
  EXPECT_EQ(values<float>(batch.globals), (std::vector<float>{5, 6}));
  EXPECT_EQ(batch.globals.sizes(), (std::vector<int64_t>{2, 1}));
}

TEST(Collate, GroupsLocationsByPair) {
  const auto a = first(), b = second();
  const mdp::Observation* const both[] = {&a, &b};
  const auto batch = collate(both, spec());
  EXPECT_EQ(values(batch.counts), (Ints{0, 2, 1, 1, 0, 0}));
  EXPECT_EQ(values(batch.loc_node), (Ints{0, 1, 1, 4}));
  EXPECT_EQ(values(batch.loc_graph), (Ints{0, 0, 0, 1}));
  EXPECT_EQ(values(batch.loc_rule), (Ints{1, 1, 2, 0}));
  EXPECT_EQ(values(batch.loc_index), (Ints{0, 1, 0, 0}));
  EXPECT_EQ(values(batch.loc_pair), (Ints{0, 0, 1, 2}));
  EXPECT_EQ(values(batch.pair_graph), (Ints{0, 0, 1}));
  EXPECT_EQ(values(batch.pair_rule), (Ints{1, 2, 0}));
  EXPECT_EQ(batch.loc_offset, (Ints{0, 0, 2, 3, 4, 4, 4}));
}

TEST(Collate, KnowsTheFirstLocationOfEachGraph) {
  const auto a = first(), b = second();
  const mdp::Observation* const three[] = {&a, &b, &a};
  EXPECT_EQ(values(collate(three, spec()).loc_first), (Ints{0, 3, 4}));
}

TEST(Collator, JoinsEachBatchAsCollateDoes) {
  const auto a = first(), b = second();
  const mdp::Observation *const both[] = {&a, &b}, *const one[] = {&b};
  const auto s = spec();
  Collator collator(s, torch::kCPU);
  collator.add(both);
  collator.add(one);
  EXPECT_GT(collator.bytes(), 0);
  const auto batches = collator.finish();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(values(batches[0].loc_node), (Ints{0, 1, 1, 4}));
  EXPECT_EQ(values<float>(batches[0].edge_feat), (std::vector<float>{9, 7, 8}));
  EXPECT_EQ(values(batches[1].loc_node), (Ints{2}));
  EXPECT_EQ(values<float>(batches[1].globals), (std::vector<float>{6}));
  EXPECT_EQ(collator.bytes(), 0);
  EXPECT_TRUE(collator.finish().empty());
}

TEST(Collate, RejectsWhatBreaksTheSpec) {
  auto bad = first();
  bad.edge_dst[0] = 2;
  EXPECT_THAT([&] { collate(bad, spec()); }, ThrowsMessage<Error>(HasSubstr("edge_dst[0] is 2")));
  EXPECT_THROW(collate(std::span<const mdp::Observation* const>(), spec()), Error);
}

}  // namespace
}  // namespace rlgo::nets
