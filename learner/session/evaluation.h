// What rlgo evaluate found: a table for people, rows of a CSV file, members of a JSON document.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "actors/evaluation.h"
#include "core/report/json.h"

namespace rlgo::learner {

// One way of playing.
struct Played {
  std::string mode;
  actors::EvaluationReport report;
};

// The run that was evaluated, as its rows name it.
struct EvaluatedRun {
  std::string name, agent;
  uint64_t seed = 0;
  double temperature = 0;
};
// A line of the CSV file. A dream knows no costs.
std::string csv_row(const EvaluatedRun& run, const Played& played);
// Appends rows to a table; makes it where it does not exist. Throws Error where the file is another table.
void append_rows(const std::string& path, const std::string& rows);
std::string to_text(const Played& played, double initial_us);
// A member of "played" of the document "rlgo.evaluate/1".
report::Json to_json(const Played& played);

}  // namespace rlgo::learner
