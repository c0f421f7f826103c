// The rollout store's table of datasets: the one place that says what a part file holds. Writer, reader, checks and the
// table in README.md all follow it. Ragged arrays are data + offsets: rows offset[i] .. offset[i+1] - 1 belong to i.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/mdp/mdp.h"
#include "replay/h5.h"

namespace rlgo::replay {

constexpr std::string_view kFormat = "rlgo-rollouts";
constexpr int64_t kVersion = 1;  // raised by any change of a dataset's meaning; readers refuse other versions
constexpr std::string_view kCoding = "full";  // how observations are stored; later versions may store differences

// What all episodes of a part share; attributes of its root group.
struct StoreHeader {
  mdp::ObservationSpec spec;  // its names go to the dataset /xfer_names
  uint64_t seed = 0;          // of the run
  std::string graph;          // name or path of the graph that the run optimises
  std::string git_revision;   // of rlgo
  std::string rule_set_hash;  // identity of the rules behind the xfers
  std::string reward;         // name of the reward
  bool operator==(const StoreHeader&) const = default;
};

void write_header(h5::Writer& file, const StoreHeader& header);
// Throws Error where the file is of another format or version, or its spec does not match its hash.
StoreHeader read_header(const h5::Reader& file);

// What the rows of a dataset are. P episodes, S steps, O = S + P observations, and their N nodes, E edges, L locations.
enum class Rows : uint8_t { episodes, steps, observations, nodes, edges, locations };
// Number of columns: none for 1-D datasets, else that of the spec.
enum class Width : uint8_t { none, node_features, edge_features, globals, xfers };

struct ColumnInfo {
  std::string_view name;
  Rows rows;
  bool offsets;  // one row more than `rows` has: offsets into another dimension
  Width width;
  std::string_view unit;
  std::string_view meaning;
};

uint64_t width_of(Width width, const mdp::ObservationSpec& spec);  // 0 for none

// The datasets in memory, for any run of consecutive episodes; offsets start at 0.
struct Columns {
  std::vector<uint64_t> seed, spec_hash;
  std::vector<int32_t> rank;
  std::vector<int64_t> episode, weights_version, step_offset = {0};
  std::vector<uint8_t> terminal, truncated, dream;
  std::vector<double> initial_cost_us, best_cost_us;
  std::vector<float> last_value_xfer;

  std::vector<int32_t> xfer, location, rule;
  std::vector<float> reward, log_prob_xfer, log_prob_location, value_xfer, value_location;
  std::vector<double> cost_us, flops, bytes, peak_bytes, launches, step_us, measured_us;

  std::vector<int64_t> node_offset = {0}, edge_offset = {0}, location_offset = {0};
  std::vector<int32_t> counts, node_op, edge_src, edge_dst, loc_node;
  std::vector<float> globals, node_feat, edge_feat;

  uint64_t size_bytes() const;
};

// THE table, in three pieces. Each calls visit(vector, ColumnInfo) for its datasets.
template <typename AnyColumns, typename Visit>
void for_each_episode_column(AnyColumns& c, Visit&& visit) {
  using enum Width;
  const auto episode = [&](auto& v, std::string_view name, std::string_view unit, std::string_view meaning) {
    visit(v, ColumnInfo{name, Rows::episodes, false, none, unit, meaning});
  };
  episode(c.seed, "episodes/seed", "",
          "seed of the run; (seed, rank, episode) names an episode and lets it be stepped again");
  episode(c.rank, "episodes/rank", "", "rank of the actor");
  episode(c.episode, "episodes/episode", "", "number of the episode at its actor");
  episode(c.weights_version, "episodes/weights_version", "", "of the policy that acted; -1: a policy without weights");
  episode(c.spec_hash, "episodes/spec_hash", "", "hash of the observation spec, as the attribute spec_hash");
  episode(c.terminal, "episodes/terminal", "0/1", "ended by NO-OP or because nothing applies any more");
  episode(c.truncated, "episodes/truncated", "0/1", "ended by the step limit; always 1 - terminal");
  episode(c.dream, "episodes/dream", "0/1", "stepped in the world model, not in the real environment");
  episode(c.initial_cost_us, "episodes/initial_cost_us", "us", "cost of the unmodified graph");
  episode(c.best_cost_us, "episodes/best_cost_us", "us", "lowest cost over the episode");
  episode(c.last_value_xfer, "episodes/last_value_xfer", "reward", "value of the last observation; 0 when terminal");
  visit(c.step_offset,
        ColumnInfo{"episodes/step_offset", Rows::episodes, true, none, "steps",
                   "steps of episode e; its observations are rows step_offset[e] + e to step_offset[e+1] + e"});
}

template <typename AnyColumns, typename Visit>
void for_each_step_column(AnyColumns& c, Visit&& visit) {
  const auto step = [&](auto& v, std::string_view name, std::string_view unit, std::string_view meaning) {
    visit(v, ColumnInfo{name, Rows::steps, false, Width::none, unit, meaning});
  };
  step(c.xfer, "steps/xfer", "", "action: index of the rule; xfers = NO-OP");
  step(c.location, "steps/location", "", "action: the rule's match, below the observation's counts[xfer]; 0 for NO-OP");
  step(c.reward, "steps/reward", "reward", "got for the action");
  step(c.log_prob_xfer, "steps/log_prob_xfer", "nat", "log-probability of the rule under the policy that acted");
  step(c.log_prob_location, "steps/log_prob_location", "nat",
       "log-probability of the location given the rule; 0 for NO-OP");
  step(c.value_xfer, "steps/value_xfer", "reward", "value of the state, as the policy saw it then");
  step(c.value_location, "steps/value_location", "reward", "value of the state and the chosen rule");
  step(c.rule, "steps/rule", "", "index into /rule_names of the applied rule; -1: none (NO-OP)");
  step(c.cost_us, "steps/cost_us", "us", "cost of the graph after the step");
  step(c.flops, "steps/flops", "flop", "of the graph after the step");
  step(c.bytes, "steps/bytes", "B", "moved by the graph after the step");
  step(c.peak_bytes, "steps/peak_bytes", "B", "peak memory of the graph after the step");
  step(c.launches, "steps/launches", "", "kernel launches of the graph after the step");
  step(c.step_us, "steps/step_us", "us", "time that the environment took for the step");
  step(c.measured_us, "steps/measured_us", "us", "measured end to end (reward R4), else 0");
}

template <typename AnyColumns, typename Visit>
void for_each_observation_column(AnyColumns& c, Visit&& visit) {
  using enum Width;
  const auto table = [&](auto& v, std::string_view name, Rows rows, Width width, std::string_view meaning) {
    visit(v, ColumnInfo{name, rows, false, width, "", meaning});
  };
  const auto offsets = [&](auto& v, std::string_view name, std::string_view unit, std::string_view meaning) {
    visit(v, ColumnInfo{name, Rows::observations, true, none, unit, meaning});
  };
  offsets(c.node_offset, "observations/node_offset", "nodes", "nodes of each observation");
  offsets(c.edge_offset, "observations/edge_offset", "edges", "edges of each observation");
  offsets(c.location_offset, "observations/location_offset", "locations",
          "locations of each observation, grouped by xfer in order");
  table(c.counts, "observations/counts", Rows::observations, xfers,
        "masks: locations 0 .. counts-1 of each xfer are legal, NO-OP always");
  table(c.globals, "observations/globals", Rows::observations, Width::globals, "global features");
  table(c.node_op, "nodes/op", Rows::nodes, none, "operator id");
  table(c.node_feat, "nodes/features", Rows::nodes, node_features, "node features");
  table(c.edge_src, "edges/src", Rows::edges, none, "producing node, counted within the observation");
  table(c.edge_dst, "edges/dst", Rows::edges, none, "reading node, counted within the observation");
  table(c.edge_feat, "edges/features", Rows::edges, edge_features, "edge features");
  table(c.loc_node, "locations/node", Rows::locations, none, "matched root node, counted within the observation");
}

// All of it, in the order of the table.
template <typename AnyColumns, typename Visit>
void for_each_column(AnyColumns& c, Visit&& visit) {
  for_each_episode_column(c, visit);
  for_each_step_column(c, visit);
  for_each_observation_column(c, visit);
}

// The table as Markdown, as README.md has it.
std::string schema_markdown();

}  // namespace rlgo::replay
