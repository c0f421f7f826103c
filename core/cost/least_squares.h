// Nonlinear least squares that a few wild measurements do not lead astray.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace rlgo::cost {

// Of the numbers x, as many residuals at every call.
using Residuals = std::function<std::vector<double>(std::span<const double> x)>;

// The number whose square is twice Huber's loss (1964) of the residual: itself up to `huber` > 0, less beyond.
double bent(double residual, double huber);

struct LeastSquares {
  std::vector<double> x;
  // Standard error of each number: from the residuals' slopes at x, all other numbers free. Infinite where no residual
  // depends on it.
  std::vector<double> deviation;
};

// The x nearest to `start` at which the sum of Huber's loss (1964) of the residuals is least: squares up to `huber` >
// 0, linear beyond (half of the squares of bent residuals). Levenberg-Marquardt as MINPACK has it (More 1978), with
// slopes by central differences of 1e-4: x is to have magnitudes around 1. Throws Error where there are fewer residuals
// than numbers, or one is not finite.
LeastSquares least_squares(const Residuals& residuals, std::vector<double> start, double huber);

}  // namespace rlgo::cost
