// What rlgo evaluate does and finds: episodes, a table for people, rows of a CSV file, members of a JSON document.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include <vector>

#include "actors/evaluation.h"
#include "core/report/json.h"
#include "learner/algorithm.h"
#include "learner/dream/evaluation.h"
#include "learner/dream/swaps.h"

namespace rlgo::learner {

// One way of playing.
struct Played {
  std::string mode;
  actors::EvaluationReport report;
};

// What was evaluated, and how it went.
struct Evaluation {
  std::filesystem::path run, checkpoint;
  std::string graph, agent, reward;
  uint64_t seed = 0;
  double temperature = 0;
  double initial_us = 0;
  std::vector<Played> played;  // sampled, greedy and, with a world model, the dream
  std::optional<WorldCheck> world;
  std::optional<SwapCheck> swaps;
};
// Lines of the CSV file. A dream knows no costs.
std::string csv_rows(const Evaluation& evaluation);
// Appends rows to a table; makes it where it does not exist. Throws Error where the file is another table.
void append_rows(const std::string& path, const std::string& rows);
std::string to_text(const Evaluation& evaluation);
// Members of the document "rlgo.evaluate/2".
report::Json to_json(const Evaluation& evaluation);

// How well the world model of an agent predicts sampled episodes of its controller, as many as `how` asks for. `envs`
// and `policy` play with the agent's weights. Throws Error where the agent has no world model, or an episode fails.
WorldCheck check_world(Algorithm& agent, mdp::BatchEnv& envs, actors::Policy& policy, actors::EvaluationOptions how);

// Dreams in which parts of each step are those of `envs`, from states behind `prefix` random rewrites, one for each of
// `envs`. Throws Error where the agent has no world model.
SwapCheck check_swaps(Algorithm& agent, std::unique_ptr<mdp::BatchEnv> envs, int prefix, uint64_t seed);

}  // namespace rlgo::learner
