#include "core/cost/residual.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/rng.h"

namespace rlgo::cost {
namespace {

// Deviations that are tried. The middle ones are a little likelier before anything is known, so that one or two
// examples decide nothing.
constexpr double kWeights[] = {0.03, 0.1, 0.3, 1.0};
constexpr double kNoises[] = {0.001, 0.003, 0.01, 0.03};
constexpr double kUsualWeight = 0.3, kUsualNoise = 0.004, kLogSpread = 1.5;

bool is_own(const std::string& feature) { return feature.starts_with('#'); }

double doubt(double value, double usual) {
  const double z = std::log(value / usual) / kLogSpread;
  return 0.5 * z * z;
}

// Products of features over the examples, apart for general and own ones: n x n, row-major.
struct Products {
  std::vector<double> general, own;
};

Products products(const std::vector<ResidualExample>& examples) {
  const size_t n = examples.size();
  Products out{std::vector<double>(n * n, 0.0), std::vector<double>(n * n, 0.0)};
  std::map<std::string, std::vector<std::pair<size_t, double>>> by_feature;
  for (size_t i = 0; i < n; ++i) {
    for (const auto& [name, x] : examples[i].features) by_feature[name].emplace_back(i, x);
  }
  for (const auto& [name, column] : by_feature) {
    auto& into = is_own(name) ? out.own : out.general;
    for (const auto& [i, a] : column) {
      for (const auto& [j, b] : column) into[i * n + j] += a * b;
    }
  }
  return out;
}

// Lower Cholesky factor of a positive definite matrix (its noise on the diagonal makes it one).
std::vector<double> cholesky(std::vector<double> a, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-18)) : sum / a[j * n + j];
    }
    for (size_t j = i + 1; j < n; ++j) a[i * n + j] = 0;
  }
  return a;
}

// factor^-1 b.
std::vector<double> forward(const std::vector<double>& factor, std::vector<double> b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= factor[i * n + k] * b[k];
    b[i] /= factor[i * n + i];
  }
  return b;
}

// (factor factor')^-1 b.
std::vector<double> solve(const std::vector<double>& factor, std::vector<double> b) {
  b = forward(factor, std::move(b));
  const size_t n = b.size();
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= factor[k * n + i] * b[k];
    b[i] /= factor[i * n + i];
  }
  return b;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double normal_of(const std::string& feature, uint64_t seed) { return Rng({seed, hash_string(feature)}).normal(); }

}  // namespace

double Residual::Weights::operator()(const std::string& feature) const {
  const auto at = learned_.find(feature);
  const double learned = at == learned_.end() ? 0.0 : at->second;
  const double spread = is_own(feature) ? own_ : general_;
  return spread > 0 ? learned + spread * normal_of(feature, seed_) : learned;
}

Residual::Residual(std::vector<ResidualExample> examples)
    : examples_(std::move(examples)), general_(kUsualWeight), own_(kUsualWeight), noise_(kUsualNoise) {
  const size_t n = examples_.size();
  std::vector<double> values;
  for (const auto& example : examples_) {
    values.push_back(example.value);
    bool finite = std::isfinite(example.value);
    for (const auto& [name, x] : example.features) finite &= std::isfinite(x);
    if (!finite) fail("learned cost: an example has a number that is not finite");
  }
  if (n == 0) return;
  const Products parts = products(examples_);
  double best = std::numeric_limits<double>::infinity();
  for (const double general : kWeights) {
    for (const double own : kWeights) {
      for (const double noise : kNoises) {
        std::vector<double> a(n * n);
        for (size_t k = 0; k < a.size(); ++k)
          a[k] = general * general * parts.general[k] + own * own * parts.own[k] + (k % (n + 1) == 0) * noise * noise;
        const auto factor = cholesky(std::move(a), n);
        const auto solved = solve(factor, values);
        // Minus the logarithm of how likely the values are, up to a constant.
        double unlikely = 0.5 * dot(values, solved) + doubt(general, kUsualWeight) + doubt(own, kUsualWeight) +
                          doubt(noise, kUsualNoise);
        for (size_t i = 0; i < n; ++i) unlikely += std::log(factor[i * n + i]);
        if (unlikely >= best) continue;
        best = unlikely;
        general_ = general, own_ = own, noise_ = noise;
        factor_ = factor, solved_ = solved;
      }
    }
  }
}

double Residual::variance(const std::string& feature) const {
  return is_own(feature) ? own_ * own_ : general_ * general_;
}

double Residual::covariance(const Features& a, const Features& b) const {
  double sum = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->first < j->first) {
      ++i;
    } else if (j->first < i->first) {
      ++j;
    } else {
      sum += variance(i->first) * i->second * j->second;
      ++i, ++j;
    }
  }
  return sum;
}

Residual::Prediction Residual::predict(const Features& features) const {
  std::vector<double> with_examples;
  for (const auto& example : examples_) with_examples.push_back(covariance(features, example.features));
  const auto explained = forward(factor_, with_examples);
  const double left = covariance(features, features) - dot(explained, explained);
  return {dot(with_examples, solved_), std::sqrt(std::max(left, 0.0))};
}

std::map<std::string, double> Residual::pull_back(const std::vector<double>& by_example) const {
  std::map<std::string, double> weights;
  for (size_t i = 0; i < examples_.size(); ++i) {
    for (const auto& [name, x] : examples_[i].features) weights[name] += variance(name) * x * by_example[i];
  }
  return weights;
}

Residual::Weights Residual::mean() const {
  Weights out;
  out.learned_ = pull_back(solved_);
  return out;
}

// Weights drawn without knowledge, moved by what the examples show of the difference (Matheron's rule: Wilson et al.
// 2020): their distribution is exactly that of the weights given the examples.
Residual::Weights Residual::draw(uint64_t seed) const {
  Weights out;
  out.general_ = general_;
  out.own_ = own_;
  out.seed_ = seed;
  std::vector<double> missed;
  Rng noise({seed, examples_.size()});
  for (const auto& example : examples_) {
    double drawn = noise_ * noise.normal();
    for (const auto& [name, x] : example.features) drawn += out(name) * x;
    missed.push_back(example.value - drawn);
  }
  out.learned_ = pull_back(solve(factor_, missed));
  return out;
}

double Residual::left_out_error(std::span<const size_t> which) const {
  if (which.empty()) return 0;
  double sum = 0;
  const size_t n = examples_.size();
  for (const size_t i : which) {
    // The prediction of one example from the others is off by [A^-1 v]_i / [A^-1]_ii.
    std::vector<double> unit(n, 0.0);
    unit[i] = 1;
    const double off = solved_[i] / solve(factor_, unit)[i];
    sum += off * off;
  }
  return std::sqrt(sum / static_cast<double>(which.size()));
}

}  // namespace rlgo::cost
