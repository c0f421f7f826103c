// What processes took, by the size of the model that they worked on: rlgo bench growth.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rlgo::measure {

// One process: what it took.
struct GrowthRow {
  std::string family, part;
  int64_t operators = 0;
  double seconds = 0, cpu_s = 0, peak_mib = 0;
  int status = 0;  // exit status; -1: it was ended
};

// Runs this program with these words in a process of its own and fills in what that took. It is ended after
// `most_seconds`, or where `stop` reports so.
void run_child(const std::vector<std::string>& words, double most_seconds, const std::function<bool()>& stop,
               GrowthRow& row);
// A heading and a line for each row.
std::string csv_of(const std::vector<GrowthRow>& rows);
// A line for each family and part: the exponent p of time ~ operators^p between the two largest sizes.
std::string exponents_of(const std::vector<GrowthRow>& rows);

}  // namespace rlgo::measure
