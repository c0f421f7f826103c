#include "core/cost/least_squares.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/LevenbergMarquardt>

#include "core/base/error.h"

namespace rlgo::cost {
namespace {

constexpr double kStep = 1e-4;
constexpr double kLeastEigenvalue = 1e-12;  // of a matrix of correlations: below, two numbers are one
constexpr int kMostCalls = 400;

// What Eigen minimises the squares of: their sum is twice Huber's loss.
struct Functor : Eigen::DenseFunctor<double> {
  Functor(const Residuals& residuals_of, double huber_at, int inputs, int values)
      : DenseFunctor<double>(inputs, values), residuals(residuals_of), huber(huber_at) {}

  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
    const auto found = residuals({x.data(), static_cast<size_t>(x.size())});
    for (size_t i = 0; i < found.size(); ++i) {
      if (!std::isfinite(found[i])) fail("least squares: residual {} is {}", i, found[i]);
      out[static_cast<Eigen::Index>(i)] = bent(found[i], huber);
    }
    return 0;
  }
  int df(const Eigen::VectorXd& x, Eigen::MatrixXd& slopes) const {
    Eigen::VectorXd at = x, above(values()), below(values());
    for (Eigen::Index k = 0; k < x.size(); ++k) {
      at[k] = x[k] + kStep;
      (*this)(at, above);
      at[k] = x[k] - kStep;
      (*this)(at, below);
      at[k] = x[k];
      slopes.col(k) = (above - below) / (2 * kStep);
    }
    return 0;
  }

  const Residuals& residuals;
  double huber;
};

// By the inverse of the curvature, which is taken for columns of length 1: numbers may be of any scale.
std::vector<double> deviations(const Functor& functor, const Eigen::VectorXd& x) {
  Eigen::VectorXd left(functor.values());
  Eigen::MatrixXd slopes(functor.values(), functor.inputs());
  functor(x, left);
  functor.df(x, slopes);
  const Eigen::VectorXd lengths = slopes.colwise().norm();
  for (Eigen::Index k = 0; k < lengths.size(); ++k) {
    if (lengths[k] > 0) slopes.col(k) /= lengths[k];
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(slopes.transpose() * slopes);
  const Eigen::VectorXd inverse = solver.eigenvalues().cwiseMax(kLeastEigenvalue).cwiseInverse();
  const Eigen::MatrixXd squares = solver.eigenvectors().cwiseAbs2();
  const double variance =
      left.squaredNorm() / static_cast<double>(std::max<Eigen::Index>(1, left.size() - lengths.size()));
  std::vector<double> out;
  for (Eigen::Index k = 0; k < lengths.size(); ++k) {
    out.push_back(lengths[k] > 0 ? std::sqrt(variance * squares.row(k).dot(inverse)) / lengths[k]
                                 : std::numeric_limits<double>::infinity());
  }
  return out;
}

}  // namespace

double bent(double residual, double huber) {
  const double size = std::abs(residual);
  return std::copysign(size <= huber ? size : std::sqrt(2 * huber * size - huber * huber), residual);
}

LeastSquares least_squares(const Residuals& residuals, std::vector<double> start, double huber) {
  const size_t count = residuals(start).size();
  if (count < start.size()) fail("least squares: {} residuals do not determine {} numbers", count, start.size());
  if (start.empty()) return {};
  Functor functor(residuals, huber, static_cast<int>(start.size()), static_cast<int>(count));
  Eigen::VectorXd x = Eigen::Map<Eigen::VectorXd>(start.data(), static_cast<Eigen::Index>(start.size()));
  Eigen::LevenbergMarquardt<Functor> solver(functor);
  solver.setMaxfev(kMostCalls);
  solver.setFtol(1e-9);
  solver.setXtol(1e-9);
  solver.minimize(x);
  return {{x.begin(), x.end()}, deviations(functor, x)};
}

}  // namespace rlgo::cost
