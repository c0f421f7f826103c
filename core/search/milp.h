// Integer programs of the kind that extraction needs, solved by COIN-OR's CBC.
#pragma once

#include <optional>
#include <vector>

namespace rlgo::search {

// Minimises the sum of costs[k] x[k] over x[k] in {0, 1}, where in every row the sum of factor x[column] is at least
// `low`.
struct BinaryProgram {
  struct Term {  // factor * column
    int column = 0;
    double factor = 1;
  };
  struct Row {  // sum of terms >= low
    std::vector<Term> terms;
    double low = 0;
  };
  std::vector<double> costs;  // >= 0
  std::vector<Row> rows;
  std::vector<int> start;  // a solution to begin with
  // A further column; its number.
  int add(double cost, bool starts_at_one) {
    costs.push_back(cost);
    start.push_back(starts_at_one ? 1 : 0);
    return static_cast<int>(costs.size()) - 1;
  }
};

struct BinarySolution {
  std::vector<int> values;
  double bound = 0;  // no solution costs less
  bool optimal = false;
};

// The best solution found within about `seconds`. Nothing where none was found.
std::optional<BinarySolution> minimise(const BinaryProgram& program, double seconds);

}  // namespace rlgo::search
