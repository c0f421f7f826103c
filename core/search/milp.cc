#include "core/search/milp.h"

#include <coin/Cbc_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/error.h"

namespace rlgo::search {
namespace {

// Columns of the constraint matrix, as CBC takes them.
struct Matrix {
  std::vector<CoinBigIndex> start;
  std::vector<int> index;
  std::vector<double> value;
};

Matrix by_column(const BinaryProgram& program) {
  std::vector<std::vector<std::pair<int, double>>> columns(program.costs.size());
  for (size_t r = 0; r < program.rows.size(); ++r) {
    for (const auto& term : program.rows[r].terms)
      columns[static_cast<size_t>(term.column)].emplace_back(static_cast<int>(r), term.factor);
  }
  Matrix matrix;
  matrix.start.push_back(0);
  for (const auto& column : columns) {
    for (const auto& [row, value] : column) {
      matrix.index.push_back(row);
      matrix.value.push_back(value);
    }
    matrix.start.push_back(static_cast<CoinBigIndex>(matrix.index.size()));
  }
  return matrix;
}

}  // namespace

std::optional<BinarySolution> minimise(const BinaryProgram& program, double seconds) {
  const auto columns = static_cast<int>(program.costs.size()), rows = static_cast<int>(program.rows.size());
  if (columns == 0) return BinarySolution{{}, 0, true};
  const Matrix matrix = by_column(program);
  const std::vector<double> zero(program.costs.size(), 0.0), one(program.costs.size(), 1.0);
  std::vector<double> low, high(program.rows.size(), std::numeric_limits<double>::max());
  for (const auto& row : program.rows) low.push_back(row.low);

  const std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> model(Cbc_newModel(), &Cbc_deleteModel);
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setParameter(model.get(), "slogLevel", "0");
  Cbc_setParameter(model.get(), "timeMode", "elapsed");
  Cbc_setParameter(model.get(), "seconds", fmt::format("{}", std::max(0.1, seconds)).c_str());
  Cbc_setParameter(model.get(), "ratioGap", "0");
  Cbc_setParameter(model.get(), "allowableGap", "1e-7");
  Cbc_loadProblem(model.get(), columns, rows, matrix.start.data(), matrix.index.data(), matrix.value.data(),
                  zero.data(), one.data(), program.costs.data(), low.data(), high.data());
  std::vector<int> numbers;
  const std::vector<double> start(program.start.begin(), program.start.end());
  for (int k = 0; k < columns; ++k) {
    Cbc_setInteger(model.get(), k);
    numbers.push_back(k);
  }
  Cbc_setMIPStartI(model.get(), columns, numbers.data(), start.data());
  Cbc_solve(model.get());

  const double* best = Cbc_bestSolution(model.get());
  BinarySolution found;
  found.optimal = Cbc_isProvenOptimal(model.get()) != 0;
  if (best == nullptr && found.optimal) best = Cbc_getColSolution(model.get());
  if (best == nullptr) return std::nullopt;
  for (int k = 0; k < columns; ++k) found.values.push_back(best[k] > 0.5 ? 1 : 0);
  found.bound = found.optimal ? Cbc_getObjValue(model.get()) : Cbc_getBestPossibleObjValue(model.get());
  if (!std::isfinite(found.bound) || found.bound < 0) found.bound = 0;
  return found;
}

}  // namespace rlgo::search
