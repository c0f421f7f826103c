// Separable CMA-ES (Ros and Hansen 2008, "A simple modification in CMA-ES achieving linear time and space complexity"):
// what evolves the linear controller of World Models (Ha and Schmidhuber 2018), which has too many weights for a full
// covariance matrix.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "learner/checkpoint.h"

namespace rlgo::learner {

class SeparableCma {
 public:
  SeparableCma(size_t dimensions, double sigma);
  size_t population() const { return population_; }
  double sigma() const { return sigma_; }
  // Candidate k of a generation around `mean`; its seed and k name the draws.
  std::vector<float> candidate(std::span<const float> mean, uint64_t seed, size_t k) const;
  // Moves `mean` by what each candidate of this seed is worth (more is better), and adapts.
  void update(std::vector<float>& mean, uint64_t seed, std::span<const double> worth);

  void store(Checkpoint& checkpoint) const;    // all but the mean
  void restore(const Checkpoint& checkpoint);  // throws Error where it is not of these dimensions

 private:
  size_t population_;
  double sigma_;
  int64_t generation_ = 0;
  std::vector<double> variance_, path_, sigma_path_;
};

}  // namespace rlgo::learner
