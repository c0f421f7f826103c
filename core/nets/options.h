// Sizes and kinds of the networks. Needs no LibTorch, so that code that reads options does not either.
#pragma once

#include <cstdint>

#include "core/base/options.h"

namespace rlgo::nets {

// How several vectors become one.
enum class Aggregation : uint8_t { sum, mean };

// What an edge's and a node's update reads. full: neighbours and the global latent (Battaglia et al. 2018). local:
// neighbours alone, so that a row depends on its surroundings and equal surroundings are computed once (local_rows.h);
// only the heads read the global latent. gcn, gat: nodes read nodes, by degree or by attention (neighbour_block.h).
enum class Block : uint8_t { full, local, gcn, gat };
inline constexpr Named<Block> kBlocks[] = {
    {"full", Block::full}, {"local", Block::local}, {"gcn", Block::gcn}, {"gat", Block::gat}};
inline constexpr int kAttentionHeads = 4;  // of Block::gat

struct EncoderOptions {
  int rounds = 3;                              // of message passing, 1..16
  int width = 64;                              // of node, edge and global latents, 4..1024
  Aggregation aggregation = Aggregation::sum;  // edges -> node
  Aggregation pooling = Aggregation::mean;     // nodes, edges -> global
  bool both_directions = true;  // a node also gets the edges that it sends: it sees its consumers, not only its inputs
  bool shared = false;          // one set of weights for all rounds
  Block block = Block::full;
};

// What the location head scores: the nodes that a location's match is at, or location numbers.
enum class LocationHead : uint8_t { pointer, index };
inline constexpr Named<LocationHead> kLocationHeads[] = {{"pointer", LocationHead::pointer},
                                                         {"index", LocationHead::index}};
// What one softmax ranges over. joint: all locations and NO-OP. staged: rules and NO-OP, then the locations of the
// rule, as RLFlow has it. flat: as joint, but the scores are a table of rules x max_locations over the global latent.
enum class PolicyHead : uint8_t { joint, staged, flat };
inline constexpr Named<PolicyHead> kPolicyHeads[] = {
    {"joint", PolicyHead::joint}, {"staged", PolicyHead::staged}, {"flat", PolicyHead::flat}};
// How much one percent of the unmodified graph's cost weighs at the start: a sampled agent that has learned nothing is
// a heat bath of temperature 1 / beta, a greedy one is greedy search.
inline constexpr double kBeta = 15;

// The model-free agent: an encoder under the four heads.
struct AgentOptions {
  int rounds = 3;  // of the encoder, as in EncoderOptions
  int width = 64;
  LocationHead location_head = LocationHead::pointer;
  PolicyHead head = PolicyHead::joint;
  Aggregation aggregation = Aggregation::sum;
  Aggregation pooling = Aggregation::mean;
  bool both_directions = true;
  bool shared = false;
  double noop_bias = 0;  // -20..20
  double beta = kBeta;   // 0.001..10000
  Block block = Block::local;
  EncoderOptions encoder() const { return {rounds, width, aggregation, pooling, both_directions, shared, block}; }
  // Whether the network can be used without LibTorch (plain.h).
  bool has_plain_form() const { return block == Block::local && head == PolicyHead::joint; }
};
// Options gnn.*, policy.*.
void declare(OptionSink& sink, AgentOptions& options);

// How the controller in the dream learns. cma_es: it is a linear map, which evolves (Ha and Schmidhuber 2018).
enum class Controller : uint8_t { ppo, cma_es };
inline constexpr Named<Controller> kControllers[] = {{"ppo", Controller::ppo}, {"cma-es", Controller::cma_es}};

// The agent that reads latent vectors: the controller in the dream.
struct LatentAgentOptions {
  Controller controller = Controller::ppo;
  int width = 128;  // of the two hidden layers, 4..4096
  double noop_bias = 0;
  double beta = kBeta;  // as in AgentOptions; where the world model sees locations
};
// Options dream.width, dream.noop-bias.
void declare(OptionSink& sink, LatentAgentOptions& options);

// Where the world model's rewards come from: its own features, or a network of their own over (h, z, action), cut off
// from the rest's gradient.
enum class RewardModel : uint8_t { joint, separate };
inline constexpr Named<RewardModel> kRewardModels[] = {{"joint", RewardModel::joint},
                                                       {"separate", RewardModel::separate}};

// How the numbers of legal locations are predicted: log(1 + count) by regression, as published; or how each changes, in
// whole numbers, by classification.
enum class CountModel : uint8_t { log, change };
inline constexpr Named<CountModel> kCountModels[] = {{"log", CountModel::log}, {"change", CountModel::change}};
// What the reward head's squared error is of: standardised rewards, or sign(x) log(1 + |x|) of them (Hafner et al.
// 2023, "Mastering diverse domains through world models", equation 9), in which rare large ones weigh less.
enum class RewardScale : uint8_t { linear, symlog };
inline constexpr Named<RewardScale> kRewardScales[] = {{"linear", RewardScale::linear},
                                                       {"symlog", RewardScale::symlog}};

struct WorldOptions {
  EncoderOptions encoder;     // width is Z
  int hidden = 256;           // LSTM units, 4..4096
  int mixtures = 8;           // Gaussians per latent dimension, 1..64
  int action_width = 32;      // of the embedding of an rule, 1..1024
  int ensemble = 1;           // reward and transition heads whose disagreement shows what is unknown, 1..16
  double sigma_floor = 0.01;  // smallest deviation of a component, in standardised units, 1e-6..1
  RewardModel reward_model = RewardModel::joint;
  // The repairs of the published form (docs/world-model.md), each by itself.
  bool locations = true;  // the model sees the location that an action takes, and its exact change of cost; dreams keep
                          // a list of locations, which the controller sees. Needs CountModel::change.
  CountModel counts = CountModel::change;
  RewardScale reward_scale = RewardScale::symlog;
  bool own_trunks = true;   // members of the ensemble share nothing that is trained for them
  bool ranges = true;       // the ranges of latents and of each rule's rewards are kept, to which dreams may be clipped
  int location_width = 16;  // of a location's embedding, 1..1024
};
// Options wm.hidden, wm.mixtures, ...; the encoder is that of AgentOptions.
void declare(OptionSink& sink, WorldOptions& options);

// Throw Error naming the option that is out of bounds.
void check(const EncoderOptions& options);
void check(const AgentOptions& options);
void check(const LatentAgentOptions& options);
void check(const WorldOptions& options);

}  // namespace rlgo::nets
