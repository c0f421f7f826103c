#include "core/nets/gn.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/nets/graph_ops.h"
#include "tests/core/nets/_random_graphs.h"

namespace rlgo::nets {
namespace {

using test::pointers;
using test::random_observation;
using test::random_spec;

Encoder make(EncoderOptions options, uint64_t seed = 1) {
  Rng rng({seed});
  return Encoder(random_spec(), options, rng);
}

TEST(Encoder, ShapesAndGradientsOfEveryParameter) {
  Rng rng({1});
  const std::vector<mdp::Observation> graphs = {random_observation(random_spec(), 7, rng),
                                                random_observation(random_spec(), 4, rng)};
  for (const auto& options :
       {EncoderOptions{.rounds = 2, .width = 8}, EncoderOptions{.rounds = 2, .width = 8, .block = Block::gcn},
        EncoderOptions{.rounds = 2, .width = 8, .block = Block::gat},
        EncoderOptions{.rounds = 2,
        .width = 8,
        .aggregation = Aggregation::mean,
        .pooling = Aggregation::sum,
        .both_directions = false,
        .shared = true}}) {
    auto encoder = make(options);
    const auto latent = encoder(collate(pointers(graphs), random_spec()));
    EXPECT_EQ(latent.nodes.sizes(), (std::vector<int64_t>{11, 8}));
    EXPECT_EQ(latent.global.sizes(), (std::vector<int64_t>{2, 8}));
    (latent.global.pow(3).sum() + latent.nodes.pow(3).sum() + latent.edges.pow(3).sum()).backward();
    for (const auto& item : encoder->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
      EXPECT_GT(item.value().grad().abs().sum().item<float>(), 0.0f) << item.key();
    }
  }
}

// The latent of a graph does not depend on what else is in the batch, nor on how its nodes are numbered.
class EachBlock : public ::testing::TestWithParam<Block> {};
INSTANTIATE_TEST_SUITE_P(All, EachBlock, ::testing::Values(Block::full, Block::local, Block::gcn, Block::gat),
                         [](const auto& test) { return std::string(name_of(test.param, kBlocks)); });

TEST_P(EachBlock, GraphsOfABatchDoNotMix) {
  Rng rng({2});
  const std::vector<mdp::Observation> graphs = {random_observation(random_spec(), 9, rng),
                                                random_observation(random_spec(), 5, rng)};
  auto encoder = make({.rounds = 3, .width = 16, .block = GetParam()});
  const auto both = encoder(collate(pointers(graphs), random_spec()));
  const auto alone = encoder(collate(graphs[1], random_spec()));
  EXPECT_TRUE(torch::allclose(both.global[1], alone.global[0], 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(both.nodes.slice(0, 9), alone.nodes, 1e-4, 1e-5));
}

TEST_P(EachBlock, InvariantToTheNumberingOfNodes) {
  Rng rng({3});
  const auto a = random_observation(random_spec(), 6, rng);
  auto b = a;  // node i becomes 5 - i
  for (size_t i = 0; i < 6; ++i) {
    b.node_op[5 - i] = a.node_op[i];
    for (size_t f = 0; f < 3; ++f) b.node_feat[(5 - i) * 3 + f] = a.node_feat[i * 3 + f];
  }
  for (auto& n : b.edge_src) n = 5 - n;
  for (auto& n : b.edge_dst) n = 5 - n;
  auto encoder = make({.rounds = 3, .width = 16, .block = GetParam()});
  const auto x = encoder(collate(a, random_spec())), y = encoder(collate(b, random_spec()));
  EXPECT_TRUE(torch::allclose(x.global, y.global, 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(x.nodes.flip(0), y.nodes, 1e-4, 1e-5));
}

// On a line 0 -> 1 -> 2 -> 3, what happens at node 0 reaches node k after k rounds, and against the arrows only with
// both_directions. (The global latent would carry it everywhere, one round later: so only one round and node 1, 2.)
TEST(Encoder, MessagesFollowEdges) {
  mdp::Observation o{.node_op = {0, 0, 0},
                     .node_feat = std::vector<float>(9, 0.1f),
                     .edge_src = {0, 1},
                     .edge_dst = {1, 2},
                     .edge_feat = {0, 0, 0, 0},
                     .globals = {1, 1, 1, 1},
                     .counts = {0, 0, 0, 0, 0},
                     .loc_node = {}};
  auto changed_nodes = [&](bool both_directions, size_t node) {
    auto encoder = make({.rounds = 1, .width = 8, .both_directions = both_directions});
    auto p = o;
    p.node_op[node] = 5;
    const auto difference =
        (encoder(collate(o, random_spec())).nodes - encoder(collate(p, random_spec())).nodes).abs().sum(1);
    std::vector<bool> changed;
    for (int64_t i = 0; i < 3; ++i) changed.push_back(difference[i].item<float>() > 1e-6f);
    return changed;
  };
  EXPECT_EQ(changed_nodes(false, 0), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(changed_nodes(false, 2), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(changed_nodes(true, 2), (std::vector<bool>{false, true, true}));
}

// With a local block the global latent carries nothing back into nodes, however many rounds.
TEST(Encoder, LocalRowsSeeTheirNeighboursAlone) {
  Rng rng({5});
  const auto a = random_observation(random_spec(), 6, rng);
  auto b = a;
  b.globals = {9, 9, 9, 9};
  for (const auto block : {Block::local, Block::full}) {
    auto encoder = make({.rounds = 3, .width = 8, .block = block});
    const auto x = encoder(collate(a, random_spec())), y = encoder(collate(b, random_spec()));
    EXPECT_EQ(torch::equal(x.nodes, y.nodes), block == Block::local);
    EXPECT_FALSE(torch::allclose(x.global, y.global));
  }
}

// Against the definitions, with dense matrices: a graph 0 -> 1, 0 -> 2, 1 -> 2, both ways and each node to itself.
TEST(NeighbourBlock, IsThePublishedLayer) {
  mdp::Observation o{.node_op = {0, 1, 2},
                     .node_feat = std::vector<float>(9, 0.1f),
                     .edge_src = {0, 0, 1},
                     .edge_dst = {1, 2, 2},
                     .edge_feat = std::vector<float>(6, 0),
                     .globals = {1, 1, 1, 1},
                     .counts = {0, 0, 0, 0, 0},
                     .loc_node = {}};
  const auto batch = collate(o, random_spec());
  const torch::NoGradGuard no_gradients;
  for (const auto block : {Block::gcn, Block::gat}) {
    Rng rng({7});
    NeighbourBlock layer(EncoderOptions{.width = 8, .block = block}, rng);
    const Encoding in{torch::arange(24, torch::kFloat32).reshape({3, 8}).sin(), torch::zeros({3, 8}),
                      torch::zeros({1, 8})};
    const auto tensors = layer->named_parameters();
    const auto mapped = torch::linear(in.nodes, tensors["map.weight"], tensors["map.bias"]);
    auto sums = torch::full({3, 8}, 0.0);  // every node reads all three: degrees are 3
    if (block == Block::gcn) {
      sums += mapped.sum(0) / 3;
    } else {
      for (int64_t h = 0; h < kAttentionHeads; ++h) {
        const auto part = mapped.slice(1, 2 * h, 2 * h + 2);  // [3, 2]
        const auto source = part.matmul(tensors["as_source"][h]), reader = part.matmul(tensors["as_reader"][h]);
        const auto weight = torch::leaky_relu(reader.unsqueeze(1) + source.unsqueeze(0), 0.2).softmax(1);
        sums.slice(1, 2 * h, 2 * h + 2).copy_(weight.matmul(part));
      }
    }
    const auto expected = torch::layer_norm(in.nodes + sums.relu(), {8});
    EXPECT_TRUE(torch::allclose(layer(batch, Neighbours(batch, true), in).nodes, expected, 1e-4, 1e-5));
  }
}

TEST(Encoder, SeesTheMagnitudeOfALoneFeature) {
  mdp::ObservationSpec spec{.ops = 1,
                            .node_features = 0,
                            .edge_features = 0,
                            .global_features = 1,
                            .rules = 1,
                            .max_locations = 1,
                            .rule_names = {"a"}};
  Rng rng({4});
  Encoder encoder(spec, EncoderOptions{.rounds = 1, .width = 8}, rng);
  mdp::Observation a{.node_op = {0},
                     .node_feat = {},
                     .edge_src = {},
                     .edge_dst = {},
                     .edge_feat = {},
                     .globals = {1},
                     .counts = {0},
                     .loc_node = {}};
  auto b = a;
  b.globals = {2};
  EXPECT_GT((encoder(collate(a, spec)).global - encoder(collate(b, spec)).global).abs().max().item<float>(), 0.05f);
}

TEST(Encoder, GraphsWithoutNodesOrEdges) {
  mdp::Observation empty{.node_op = {},
                         .node_feat = {},
                         .edge_src = {},
                         .edge_dst = {},
                         .edge_feat = {},
                         .globals = {1, 2, 3, 4},
                         .counts = {0, 0, 0, 0, 0},
                         .loc_node = {}};
  for (const auto block : {Block::full, Block::gcn, Block::gat}) {
    auto encoder = make({.rounds = 2, .width = 8, .block = block});
    EXPECT_TRUE(encoder(collate(empty, random_spec())).global.isfinite().all().item<bool>());
  }
}

TEST(Encoder, OptionsOutOfBoundsAreErrors) {
  EXPECT_THROW(make({.rounds = 0}), Error);
  EXPECT_THROW(make({.width = 2}), Error);
}

}  // namespace
}  // namespace rlgo::nets
