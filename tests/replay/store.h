// Made-up episodes for the tests of the rollout store.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/mdp/mdp.h"
#include "replay/schema.h"

namespace rlgo::replay {

// A fresh folder for a test, removed at its end.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rlgo-replay-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  operator const std::filesystem::path&() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline mdp::ObservationSpec make_spec(int rules = 3, int node_features = 4, int edge_features = 2,
                                      int global_features = 3) {
  mdp::ObservationSpec spec;
  spec.ops = 10;
  spec.node_features = node_features;
  spec.edge_features = edge_features;
  spec.global_features = global_features;
  spec.rules = rules;
  spec.max_locations = 5;
  for (int i = 0; i < rules; ++i) spec.rule_names.push_back("rule-" + std::to_string(i));
  return spec;
}

inline StoreHeader make_header(mdp::ObservationSpec spec = make_spec()) {
  return {std::move(spec), 7, "toy", "abc123", "00ff", "step"};
}

inline mdp::Observation make_observation(const mdp::ObservationSpec& spec, int nodes, Rng& rng) {
  const auto floats = [&](size_t count) {
    std::vector<float> values(count);
    for (auto& value : values) value = static_cast<float>(rng.uniform());
    return values;
  };
  mdp::Observation o;
  for (int i = 0; i < nodes; ++i) {
    o.node_op.push_back(static_cast<int32_t>(rng.below(static_cast<uint64_t>(spec.ops))));
    if (i == 0) continue;
    o.edge_src.push_back(i - 1);
    o.edge_dst.push_back(i);
  }
  o.node_feat = floats(o.node_op.size() * static_cast<size_t>(spec.node_features));
  o.edge_feat = floats(o.edge_src.size() * static_cast<size_t>(spec.edge_features));
  o.globals = floats(static_cast<size_t>(spec.global_features));
  for (int x = 0; x < spec.rules; ++x) {
    o.counts.push_back(static_cast<int32_t>(rng.below(3)));
    for (int l = 0; l < o.counts.back(); ++l)
      o.loc_node.push_back(static_cast<int32_t>(rng.below(static_cast<uint64_t>(nodes))));
  }
  return o;
}

// An episode of `steps` steps, terminal (by NO-OP) when its number is even; the graph changes its size at each step.
inline mdp::Trajectory make_trajectory(const mdp::ObservationSpec& spec, int64_t episode, int steps = 4,
                                       int nodes = 6) {
  Rng rng({99, static_cast<uint64_t>(episode)});
  mdp::Trajectory t;
  t.seed = 7;
  t.rank = static_cast<int32_t>(1 + episode % 3);
  t.episode = episode;
  t.weights_version = episode / 2 - 1;
  t.spec_hash = spec.hash();
  t.terminal = episode % 2 == 0;
  t.initial_cost_us = 100;
  t.best_cost_us = 100 - static_cast<double>(episode);
  t.beginning.graph = static_cast<int32_t>(episode % 2);
  for (int i = 0; i < episode % 3; ++i) {
    t.beginning.rewrites.push_back({i, static_cast<int32_t>(episode)});
    t.beginning.cost_us.push_back(99.5 - i);
  }
  for (int i = 0; i < steps; ++i) {
    const bool no_op = t.terminal && i + 1 == steps;
    mdp::Step s;
    s.observation = make_observation(spec, nodes + i, rng);
    s.action = no_op ? mdp::Action{spec.rules, 0}
                     : mdp::Action{static_cast<int32_t>(rng.below(static_cast<uint64_t>(spec.rules))), i};
    s.reward = static_cast<float>(episode) + 0.25f * static_cast<float>(i);
    s.log_prob_rule = -static_cast<float>(rng.uniform());
    s.log_prob_location = no_op ? 0 : -static_cast<float>(rng.uniform());
    s.value_rule = static_cast<float>(i) + 0.5f;
    s.value_location = static_cast<float>(rng.normal());
    s.info = {no_op ? "" : spec.rule_names[static_cast<size_t>(s.action.rule)],
              100.0 - i,
              1e9 + i,
              2e6,
              3e5,
              12,
              rng.uniform() * 50,
              80.0 + i,
              0.8,
              0.0625 * i,
              no_op ? mdp::WholeTimed::no : mdp::WholeTimed::within_noise,
              s.action.location + 2};
    t.steps.push_back(std::move(s));
  }
  t.last = make_observation(spec, nodes + steps, rng);
  t.last_value_rule = t.terminal ? 0.0f : 1.5f;
  return t;
}

inline std::vector<std::string> file_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace rlgo::replay
