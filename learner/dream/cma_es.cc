#include "learner/dream/cma_es.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace rlgo::learner {
namespace {

// The strategy's constants for n dimensions (Hansen 2016, "The CMA evolution strategy: a tutorial", table 1); rates of
// the covariance as the separable form has them.
struct Constants {
  Constants(size_t dimensions, size_t population) {
    const auto n = static_cast<double>(dimensions);
    double squares = 0;
    for (size_t i = 0; i < population / 2; ++i) {
      weight.push_back(std::log(static_cast<double>(population + 1) / 2) - std::log(static_cast<double>(i + 1)));
    }
    const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
    for (double& w : weight) squares += (w /= sum) * w;
    mass = 1 / squares;
    sigma_rate = (mass + 2) / (n + mass + 5);
    damping = 1 + 2 * std::max(0.0, std::sqrt((mass - 1) / (n + 1)) - 1) + sigma_rate;
    path_rate = (4 + mass / n) / (n + 4 + 2 * mass / n);
    const double faster = (n + 2) / 3;
    rank_one = std::min(1.0, faster * 2 / ((n + 1.3) * (n + 1.3) + mass));
    rank_many = std::min(1 - rank_one, faster * 2 * (mass - 2 + 1 / mass) / ((n + 2) * (n + 2) + mass));
    length = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  }
  std::vector<double> weight;  // of the better half, best first
  double mass, sigma_rate, damping, path_rate, rank_one, rank_many;
  double length;  // expected, of a standard normal vector
};

std::vector<double> draw(size_t dimensions, uint64_t seed, size_t k) {
  Rng rng({seed, k, 0xC3A});
  std::vector<double> z(dimensions);
  for (double& x : z) x = rng.normal();
  return z;
}

}  // namespace

SeparableCma::SeparableCma(size_t dimensions, double sigma)
    : population_(4 + static_cast<size_t>(3 * std::log(static_cast<double>(dimensions)))),
      sigma_(sigma),
      variance_(dimensions, 1),
      path_(dimensions),
      sigma_path_(dimensions) {}

std::vector<float> SeparableCma::candidate(std::span<const float> mean, uint64_t seed, size_t k) const {
  const auto z = draw(mean.size(), seed, k);
  std::vector<float> x(mean.begin(), mean.end());
  for (size_t i = 0; i < x.size(); ++i) x[i] += static_cast<float>(sigma_ * std::sqrt(variance_[i]) * z[i]);
  return x;
}

void SeparableCma::update(std::vector<float>& mean, uint64_t seed, std::span<const double> worth) {
  RLGO_CHECK_EQ(worth.size(), population_);
  const size_t n = variance_.size();
  const Constants c(n, population_);
  std::vector<size_t> order(population_);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return worth[a] > worth[b]; });
  std::vector<double> step(n), spread(n);  // weighted means of z and of its squares
  for (size_t i = 0; i < c.weight.size(); ++i) {
    const auto z = draw(n, seed, order[i]);
    for (size_t d = 0; d < n; ++d) {
      step[d] += c.weight[i] * z[d];
      spread[d] += c.weight[i] * z[d] * z[d];
    }
  }
  double square = 0;
  for (size_t d = 0; d < n; ++d) {
    sigma_path_[d] =
        (1 - c.sigma_rate) * sigma_path_[d] + std::sqrt(c.sigma_rate * (2 - c.sigma_rate) * c.mass) * step[d];
    square += sigma_path_[d] * sigma_path_[d];
  }
  ++generation_;
  const double settled = std::sqrt(1 - std::pow(1 - c.sigma_rate, 2.0 * static_cast<double>(generation_)));
  const bool moves = std::sqrt(square) / settled < (1.4 + 2 / (static_cast<double>(n) + 1)) * c.length;
  const double kept = c.path_rate * (2 - c.path_rate);
  for (size_t d = 0; d < n; ++d) {
    const double deviation = std::sqrt(variance_[d]);
    mean[d] += static_cast<float>(sigma_ * deviation * step[d]);
    path_[d] = (1 - c.path_rate) * path_[d] + (moves ? std::sqrt(kept * c.mass) * deviation * step[d] : 0);
    const double one = path_[d] * path_[d] + (moves ? 0 : kept * variance_[d]);
    variance_[d] *= 1 - c.rank_one - c.rank_many + c.rank_many * spread[d];
    variance_[d] += c.rank_one * one;
  }
  sigma_ *= std::exp(c.sigma_rate / c.damping * (std::sqrt(square) / c.length - 1));
}

void SeparableCma::store(Checkpoint& c) const {
  c.counters["cma/generation"] = generation_;
  c.numbers["cma/sigma"] = sigma_;
  for (const auto& [name, values] :
       {std::pair("cma/variance", &variance_), {"cma/path", &path_}, {"cma/sigma_path", &sigma_path_}}) {
    const auto* bytes = reinterpret_cast<const char*>(values->data());
    c.tensors[name] = {"float64", {std::ssize(*values)}, std::string(bytes, values->size() * sizeof(double))};
  }
}

void SeparableCma::restore(const Checkpoint& c) {
  const auto generation = c.counters.find("cma/generation");
  if (generation == c.counters.end()) fail("the checkpoint has no state of CMA-ES (--dream.controller)");
  generation_ = generation->second;
  sigma_ = c.numbers.at("cma/sigma");
  for (const auto& [name, values] :
       {std::pair("cma/variance", &variance_), {"cma/path", &path_}, {"cma/sigma_path", &sigma_path_}}) {
    const auto& bytes = c.tensors.at(name).bytes;
    if (bytes.size() != values->size() * sizeof(double)) fail("the checkpoint's '{}' has another size", name);
    std::memcpy(values->data(), bytes.data(), bytes.size());
  }
}

}  // namespace rlgo::learner
