// Runtimes for tests that have no clock: they run nothing, and what they answer is overridden or drawn.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/cost/runtime.h"

namespace rlgo::optimise {

class FakeRuntime : public cost::Runtime {
 public:
  explicit FakeRuntime(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::string device() const override { return "paper"; }
  int threads() const override { return 1; }
  bool reads_files() const override { return true; }
  bool answers_outputs() const override { return false; }
  void set_input_shapes(cost::InputShapes) override {}
  void set_input_values(cost::InputValues) override {}
  cost::MeasuredCosts measure() override { return {}; }
  cost::Comparison compare(std::span<const cost::RunnableModel>, const cost::CompareOptions&) override { return {}; }
  std::vector<cost::Outputs> outputs(std::span<const cost::RunnableModel>, int) override { return {}; }

 private:
  std::string name_;
};

// Operators take what a formula states; whole models are not asked for.
class FormulaRuntime : public FakeRuntime {
 public:
  explicit FormulaRuntime(const cost::AnalyticOptions& truth) : FakeRuntime("formula 1.0"), truth_(truth) {}
  bool reads_files() const override { return false; }
  cost::MeasuredCosts measure() override {
    const auto prices = std::make_shared<cost::AnalyticCost>(truth_);
    cost::MeasuredCosts out;
    out.table = std::make_shared<cost::TableCost>(cost::TableOrigin{"formula", "paper", 1},
                                                  [prices](const graph::Graph& g, graph::NodeId id) {
                                                    return cost::Measured{prices->op_us(g, id), 0, 1};
                                                  });
    out.model = out.table;
    return out;
  }

 private:
  cost::AnalyticOptions truth_;
};

inline double normal(Rng& rng) {
  const double u = (static_cast<double>(rng.below(1u << 30)) + 0.5) / (1u << 30);
  const double v = (static_cast<double>(rng.below(1u << 30)) + 0.5) / (1u << 30);
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

// Of two models the second takes `ratio` of the first one's time, times what each process draws once: exp of a normal
// number times `spread`. Rounds differ by 2 % more.
class DrawnRuntime : public FakeRuntime {
 public:
  DrawnRuntime(double ratio, double spread, uint64_t seed)
      : FakeRuntime("drawn"), ratio_(ratio), spread_(spread), rng_({seed, 46}) {}
  bool restart() override {
    fresh_ = true;
    drawn_ = spread_ * normal(rng_);
    return true;
  }
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions& options) override {
    cost::Comparison out;
    out.models.resize(models.size());
    out.models[0].median_us = 100;
    out.quotients.resize(models.size());
    // The k-th process needs k ms to load its first model.
    if (fresh_)
      out.models.at(static_cast<size_t>(std::max(0, options.first))).loading = {0.001 * ++processes_, 1 << 20};
    fresh_ = false;
    for (int round = 0; round < options.repeats; ++round) {
      out.quotients[0].push_back(1);
      out.quotients[1].push_back(ratio_ * std::exp(drawn_ + 0.02 * normal(rng_)));
    }
    return out;
  }

 private:
  double ratio_, spread_, drawn_ = 0;
  bool fresh_ = false;
  int processes_ = 0;
  Rng rng_;
};

}  // namespace rlgo::optimise
