// What a sum of prices misses of the time of whole graphs, learned from few of them: Bayesian linear regression on
// named features. With 10 to 100 measurements of a few percent each, a linear model whose uncertainty is exact is what
// the data can bear (LinUCB: Li et al. 2010; evidence: MacKay 1992).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rlgo::cost {

// Sparse, by name. Names that begin with '#' are `own` features: they name one thing exactly (the signature of a
// group), and add nothing where that thing does not occur. All others are `general`.
using Features = std::map<std::string, double>;

struct ResidualExample {
  Features features;
  double value = 0;  // finite
};

// value = sum of weight x feature + noise; weights are normal around 0 with one deviation for general features and
// another one for own ones. Both, and the noise, are those of a small grid that make the examples likeliest.
class Residual {
 public:
  struct Prediction {
    double mean = 0;
    double deviation = 0;  // of the mean, noise left out, >= 0
  };
  // A set of weights: the likeliest, or one that is drawn. Holds after the Residual is gone.
  class Weights {
   public:
    double operator()(const std::string& feature) const;

   private:
    friend class Residual;
    std::map<std::string, double> learned_;
    double general_ = 0, own_ = 0;  // deviations of what is drawn; 0: nothing is drawn
    uint64_t seed_ = 0;
  };

  // Without examples: every prediction is 0, as uncertain as the weights.
  Residual() : Residual(std::vector<ResidualExample>{}) {}
  // Time grows with the cube of the examples. Throws Error where a number is not finite.
  explicit Residual(std::vector<ResidualExample> examples);

  // Of a value, noise left out.
  Prediction predict(const Features& features) const;
  // The likeliest weights.
  Weights mean() const;
  // Weights from what is known of them (Thompson 1933); equal for equal seeds. What is drawn for a feature that no
  // example has depends on its name and the seed alone.
  Weights draw(uint64_t seed) const;
  // Root of the mean square of value - prediction over examples `which`, each predicted from all others. 0 for none.
  double left_out_error(std::span<const size_t> which) const;
  double noise() const { return noise_; }

 private:
  double variance(const std::string& feature) const;
  double covariance(const Features& a, const Features& b) const;
  std::map<std::string, double> pull_back(const std::vector<double>& by_example) const;

  std::vector<ResidualExample> examples_;
  double general_ = 0, own_ = 0, noise_ = 0;  // deviations
  std::vector<double> factor_;                // lower Cholesky factor of the examples' covariance, row-major
  std::vector<double> solved_;                // covariance^-1 values
};

}  // namespace rlgo::cost
