// The rollout store's table of datasets: the one place that states what a part file holds. Writer, reader, checks and
// the table in docs/store.md all follow it. Ragged arrays are data + offsets: rows offset[i] .. offset[i+1] - 1 belong
// to i.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/mdp/mdp.h"
#include "replay/h5.h"

namespace rlgo::replay {

constexpr std::string_view kFormat = "rlgo-rollouts";
// Raised by any change of a dataset's meaning. This program writes kVersion, reads kOldest to kVersion and refuses
// others.
constexpr int64_t kVersion = 5, kOldest = 2;
constexpr std::string_view kCoding = "difference";  // how observations are stored: core/codec/observation_code.h

// What all episodes of a part share; attributes of its root group.
struct StoreHeader {
  mdp::ObservationSpec spec;  // its names go to the dataset /rule_names
  uint64_t seed = 0;          // of the run
  std::string graph;          // name or path of the graph that the run optimises
  std::string git_revision;   // of rlgo
  std::string rule_set_hash;  // identity of the rules behind the rules
  std::string reward;         // name of the reward
  bool operator==(const StoreHeader&) const = default;
};

void write_header(h5::Writer& file, const StoreHeader& header);  // as attributes of the file
// Throws Error where the file is of another format or version, or its spec does not match its hash.
StoreHeader read_header(const h5::Reader& file);

// What the rows of a dataset are. P episodes, S steps, O = S + P observations, B bytes of their code, R rewrites that
// episodes began with.
enum class Rows : uint8_t { episodes, steps, observations, code, starts };
constexpr size_t kKindsOfRows = 5;

struct ColumnInfo {
  std::string_view name;
  Rows rows;
  bool offsets;  // one row more than `rows` has: offsets into another dimension
  std::string_view unit;
  std::string_view meaning;
  int64_t since = kOldest;  // version of the format; where older parts are read, their rows are as Columns states
};

// The datasets in memory, for any run of consecutive episodes; offsets start at 0.
struct Columns {
  std::vector<uint64_t> seed, spec_hash;
  std::vector<int32_t> rank;
  std::vector<int64_t> episode, weights_version, step_offset = {0};
  std::vector<uint8_t> terminal, truncated, dream;
  std::vector<double> initial_cost_us, best_cost_us;
  std::vector<float> last_value_rule;
  // Since version 4; before: all of graph 0, from its unmodified graph.
  std::vector<int32_t> graph, start_rule, start_location;
  std::vector<double> start_cost_us;
  std::vector<int64_t> start_offset = {0};

  std::vector<int32_t> rule, location, applied_rule, place;  // place: since version 4; before: location
  std::vector<float> reward, log_prob_rule, log_prob_location, value_rule, value_location;
  std::vector<double> cost_us, flops, bytes, peak_bytes, launches, step_us, measured_us;
  std::vector<double> measured_ratio, measured_error;  // since version 5, as is timing; before: 0
  std::vector<uint8_t> timing;

  std::vector<int32_t> nodes, edges, locations;
  std::vector<int64_t> base, code_offset = {0};
  std::vector<uint8_t> code;

  uint64_t size_bytes() const;  // in memory
};

// THE table, in three pieces. Each calls visit(vector, ColumnInfo) for its datasets.
template <typename AnyColumns, typename Visit>
void for_each_episode_column(AnyColumns& c, Visit&& visit) {
  const auto episode = [&](auto& v, std::string_view name, std::string_view unit, std::string_view meaning) {
    visit(v, ColumnInfo{name, Rows::episodes, false, unit, meaning});
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
  episode(c.last_value_rule, "episodes/last_value_xfer", "reward", "value of the last observation; 0 when terminal");
  visit(c.step_offset,
        ColumnInfo{"episodes/step_offset", Rows::episodes, true, "steps",
                   "steps of episode e; its observations are rows step_offset[e] + e to step_offset[e+1] + e"});
  visit(c.graph, ColumnInfo{"episodes/graph", Rows::episodes, false, "",
                            "index of the graph among those of the attribute graph, which commas separate", 4});
  visit(c.start_offset,
        ColumnInfo{"episodes/start_offset", Rows::episodes, true, "rewrites", "those that episode e began with", 4});
}

// The datasets of the rewrites that episodes began with.
template <typename AnyColumns, typename Visit>
void for_each_start_column(AnyColumns& c, Visit&& visit) {
  const auto start = [&](auto& v, std::string_view name, std::string_view unit, std::string_view meaning) {
    visit(v, ColumnInfo{name, Rows::starts, false, unit, meaning, 4});
  };
  start(c.start_rule, "starts/xfer", "", "rule of a rewrite that an episode began with");
  start(c.start_location, "starts/location", "", "the rule's match, among all of the graph");
  start(c.start_cost_us, "starts/cost_us", "us", "cost of the graph after it");
}

template <typename AnyColumns, typename Visit>  // calls visit(column, ColumnInfo)
void for_each_step_column(AnyColumns& c, Visit&& visit) {
  const auto step = [&](auto& v, std::string_view name, std::string_view unit, std::string_view meaning) {
    visit(v, ColumnInfo{name, Rows::steps, false, unit, meaning});
  };
  step(c.rule, "steps/xfer", "", "action: index of the rule; the number of rules is NO-OP");
  step(c.location, "steps/location", "", "action: the rule's match, below the observation's counts[rule]; 0 for NO-OP");
  step(c.reward, "steps/reward", "reward", "got for the action");
  step(c.log_prob_rule, "steps/log_prob_xfer", "nat", "log-probability of the rule under the policy that acted");
  step(c.log_prob_location, "steps/log_prob_location", "nat",
       "log-probability of the location given the rule; 0 for NO-OP");
  step(c.value_rule, "steps/value_xfer", "reward", "value of the state, as the policy saw it then");
  step(c.value_location, "steps/value_location", "reward", "value of the state and the chosen rule");
  step(c.applied_rule, "steps/rule", "", "index into /rule_names of the applied rule; -1: none (NO-OP)");
  visit(c.place, ColumnInfo{"steps/place", Rows::steps, false, "",
                            "the rule's match among all of the graph; location is among those that were offered", 4});
  step(c.cost_us, "steps/cost_us", "us", "cost of the graph after the step");
  step(c.flops, "steps/flops", "flop", "of the graph after the step");
  step(c.bytes, "steps/bytes", "B", "moved by the graph after the step");
  step(c.peak_bytes, "steps/peak_bytes", "B", "peak memory of the graph after the step");
  step(c.launches, "steps/launches", "", "kernel launches of the graph after the step");
  step(c.step_us, "steps/step_us", "us", "time that the environment took for the step");
  step(c.measured_us, "steps/measured_us", "us", "measured end to end (rewards R4 and latency), else 0");
  const auto timed = [&](auto& v, std::string_view name, std::string_view unit, std::string_view meaning) {
    visit(v, ColumnInfo{name, Rows::steps, false, unit, meaning, 5});
  };
  timed(c.measured_ratio, "steps/measured_ratio", "", "its ratio to the unmodified graph's, timed in the same rounds");
  timed(c.measured_error, "steps/measured_error", "", "half-width of the 95 % interval of measured_ratio");
  timed(c.timing, "steps/timing", "",
        "0: not timed; 1: shown to differ from the step before (R4: timed); 2: within noise; 3: the timing failed");
}

template <typename AnyColumns, typename Visit>  // likewise
void for_each_observation_column(AnyColumns& c, Visit&& visit) {
  const auto observation = [&](auto& v, std::string_view name, bool offsets, std::string_view unit,
                               std::string_view meaning) {
    visit(v, ColumnInfo{name, Rows::observations, offsets, unit, meaning});
  };
  observation(c.nodes, "observations/nodes", false, "", "nodes of the observation");
  observation(c.edges, "observations/edges", false, "", "its edges");
  observation(c.locations, "observations/locations", false, "",
              "its legal locations, of all rules; NO-OP is always legal too");
  observation(c.base, "observations/base", false, "",
              "row of the observation that it is coded against, always an earlier one; -1: none");
  observation(c.code_offset, "observations/code_offset", true, "B", "bytes of each observation's code");
  visit(c.code, ColumnInfo{"observations/code", Rows::code, false, "",
                           "codes of the observations, one after the other; docs/store.md"});
}

// All of it, in the order of the table.
template <typename AnyColumns, typename Visit>
void for_each_column(AnyColumns& c, Visit&& visit) {
  for_each_episode_column(c, visit);
  for_each_start_column(c, visit);
  for_each_step_column(c, visit);
  for_each_observation_column(c, visit);
}

// The table as Markdown, as docs/store.md has it.
std::string schema_markdown();

}  // namespace rlgo::replay
