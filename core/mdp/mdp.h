// The contract between the graph world and the learning world: what an agent sees, does and gets.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rlgo::mdp {

// rule in [0, rules): apply that rule at its location-th match; rule == rules: NO-OP, ends the episode, location 0.
struct Action {
  int32_t rule = 0;
  int32_t location = 0;
  bool operator==(const Action&) const = default;
};

// A graph as arrays, and the legal actions. Plain data: can be copied, sent, stored. N nodes (constants left out), E
// edges.
struct Observation {
  std::vector<int32_t> node_op;   // [N] operator ids (ops::Op)
  std::vector<float> node_feat;   // [N * node_features] row-major, about [-1, 4]
  std::vector<int32_t> edge_src;  // [E] index of the producing node
  std::vector<int32_t> edge_dst;  // [E] index of the reading node
  std::vector<float> edge_feat;   // [E * edge_features]
  std::vector<float> globals;     // [global_features]
  // Legal locations per rule, NO-OP not counted (it is always legal): locations 0..counts[x]-1 of rule x are legal, and
  // no others. So rule_mask[x] == counts[x] > 0, location_mask[x][l] == l < counts[x].
  std::vector<int32_t> counts;    // [rules] each in [0, max_locations]
  std::vector<int32_t> loc_node;  // [sum(counts)] node index of each location's matched root, grouped by rule in order
  // [sum(counts) * location_features] of each location, or empty where a spec has none. The first column is what its
  // rewrite changes, as a percentage of the cost of the unmodified graph (negative: cheaper); the second is 1 where
  // that is an estimate, or not known (then 0), else 0.
  std::vector<float> loc_feat = {};
  // The other matched nodes of each location, in the pattern's order, constants left out: those of location l end
  // before loc_rest_end[l], where those of l + 1 begin. loc_rest_end is empty where only the roots are known.
  std::vector<int32_t> loc_rest_end = {};  // [sum(counts)] or empty
  std::vector<int32_t> loc_rest = {};      // node indices
  // [latent_features + sum(counts) * location_latents] what a world model makes of the graph and its history, z and h,
  // then of each legal location; or empty. An environment never fills it. A dreamed observation is this and counts
  // alone, all else is empty.
  std::vector<float> latent = {};
  bool operator==(const Observation&) const = default;
};

// Sizes that an Env fixes for its life; networks are built from it, messages and stores carry its hash.
struct ObservationSpec {
  int32_t ops = 64;  // node_op < ops
  int32_t node_features = 0;
  int32_t edge_features = 0;
  int32_t global_features = 0;
  int32_t rules = 0;  // rules; actions are rules + 1 (NO-OP last)
  int32_t max_locations = 200;
  std::vector<std::string> rule_names;  // [rules]
  int32_t location_features = 0;        // 0, or at least 2: see Observation::loc_feat
  // Columns of node_feat that depend on more than a node's surroundings. A fact about names, so not in the hash either.
  std::vector<int32_t> nonlocal_node_features = {};
  // Of the agent, not of the environment: not in the hash, never stored.
  int32_t latent_features = 0;   // of a graph
  int32_t location_latents = 0;  // of each legal location
  uint64_t hash() const;
  bool operator==(const ObservationSpec&) const = default;
};

// What came of timing the graph after a step end to end.
enum class WholeTimed : uint8_t {
  no,            // it was not timed: another reward, or NO-OP
  shown,         // its latency is known to differ from the one before; of reward R4: it was timed
  within_noise,  // it may be as fast as the one before
  failed,        // the target died, hung, or refused the graph
};

// Facts about a step for people and analyses; agents must not see it.
struct StepInfo {
  std::string rule;    // name of the applied rule, "" for NO-OP
  double cost_us = 0;  // of the graph after the step
  double flops = 0, bytes = 0, peak_bytes = 0, launches = 0;
  double step_us = 0;  // time that the step took
  // End to end, of the rewards R4 and latency, else 0; 0 where the timing failed: us, the ratio to the unmodified graph
  // that ran in the same rounds, and the half-width of that ratio's 95 % interval.
  double measured_us = 0, measured_ratio = 0, measured_error = 0;
  WholeTimed timing = WholeTimed::no;
  // The rewrite's location as traces name it, among all matches of its rule. The action's location is among those that
  // were offered: another number where an episode is offered a part of them.
  int32_t location = 0;
};

// What an environment knows of an observation compared with the one that it returned before: it spares the coder
// (coded.h) to compare them. Never needed for what is coded, and never a part of it.
struct Changes {
  // [N] the row that the same node had in the observation before, each at most once; -1: it had none. Empty: not known.
  std::vector<int32_t> from;
  // [N] whether the node's operator and features (but for `varying` columns) are as in that row, and so are the edges
  // into it: as many, in the same order, with the same features, from the same nodes (by `from`).
  std::vector<uint8_t> kept;
  uint64_t varying = 0;  // bit c: column c of the node features may differ in kept rows, too
};

struct StepResult {
  Observation observation;  // after the step (of the final graph when the episode ended)
  Changes changes;          // of it, since the observation that reset() or step() returned before
  float reward = 0;
  bool terminal = false;   // NO-OP, or nothing applies any more, or the step limit where the reward is paid there
  bool truncated = false;  // step limit; the value of the final observation still counts
  StepInfo info;
};

// Where an episode begins: rewrites of an unmodified graph that were made before its first step.
struct Beginning {
  int32_t graph = 0;             // of those that a run optimises, in the order in which it names them
  std::vector<Action> rewrites;  // as traces name them
  std::vector<double> cost_us;   // of the graph after each of them
  bool operator==(const Beginning&) const = default;
};

// A single environment. Not thread safe. Errors are thrown; the episode is then lost, reset() must work again.
class Env {
 public:
  virtual ~Env() = default;
  virtual const ObservationSpec& spec() const = 0;  // what observations look like
  // Starts an episode; (seed, rank, episode) alone determine it. `key` mixes them.
  virtual Observation reset(uint64_t key) = 0;
  // Requires a legal action and a running episode; throws Error otherwise.
  virtual StepResult step(Action action) = 0;
  // Cost of the unmodified graph and of the current one, in us.
  virtual double initial_cost_us() const = 0;
  virtual double current_cost_us() const = 0;
  // Of the episode that was reset last.
  virtual Beginning beginning() const { return {}; }
};

// Many environments stepped together (the dream is one by nature; real ones are wrapped by make_batch).
class BatchEnv {
 public:
  virtual ~BatchEnv() = default;
  virtual const ObservationSpec& spec() const = 0;
  virtual int size() const = 0;
  virtual Observation reset(int index, uint64_t key) = 0;
  // One action per index in `indices`, results in the same order.
  virtual std::vector<StepResult> step(const std::vector<int>& indices, const std::vector<Action>& actions) = 0;
  // Cost of the unmodified graph of one environment, in us, since its reset. 0 where costs are unknown (a dream).
  virtual double initial_cost_us(int /*index*/) const { return 0; }
  // Where the running episode of one environment began.
  virtual Beginning beginning(int /*index*/) const { return {}; }
};
std::unique_ptr<BatchEnv> make_batch(std::vector<std::unique_ptr<Env>> envs);
// One environment out of several with the same spec: each episode is played in one of them, which its key draws
// uniformly; beginning().graph is its index. One alone is returned as it is.
std::unique_ptr<Env> make_choice(std::vector<std::unique_ptr<Env>> envs);

// One step of a stored trajectory: what was seen, done, got, and what the policy thought then.
struct Step {
  Observation observation;
  Action action;
  float reward = 0;
  float log_prob_rule = 0;      // of the behaviour policy
  float log_prob_location = 0;  // 0 for NO-OP
  float value_rule = 0;
  float value_location = 0;
  StepInfo info;
};

struct Trajectory {
  uint64_t seed = 0;  // (seed, rank, episode) name the episode
  int32_t rank = 0;
  int64_t episode = 0;
  int64_t weights_version = 0;  // of the policy that acted; -1 for a policy without weights
  uint64_t spec_hash = 0;
  bool terminal = false;  // else truncated
  bool dream = false;
  Beginning beginning;
  double initial_cost_us = 0;  // of the unmodified graph
  double best_cost_us = 0;     // lowest over the episode, its first graph included
  std::vector<Step> steps;
  Observation last;           // after the last action; bootstraps when truncated
  float last_value_rule = 0;  // of `last`, 0 when terminal
};

// Whole trajectories as bytes (versioned, checksummed by the caller); coded.h has them half-way. decode throws Error on
// malformed input.
std::string encode(const Trajectory& trajectory);
Trajectory decode(std::string_view bytes);
// Throws Error naming the field where an observation breaks its spec (sizes, index ranges, non-finite numbers). An
// observation without nodes but with a latent vector is a dreamed one.
void check(const Observation& observation, const ObservationSpec& spec);
inline bool is_dreamed(const Observation& o) { return o.node_op.empty() && !o.latent.empty(); }

}  // namespace rlgo::mdp
