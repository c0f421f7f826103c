// Which graph to time next, and when to stop: the one whose optimistic bound promises most.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/cost/residual.h"

namespace rlgo::optimise {

// Graphs that may be timed whole are offered with their sum of prices and their features. What a graph will take, in
// fractions of the unmodified one's time, is predicted as its sum plus a learned residual; after each time that comes
// in the residual is fitted again.
class Acquisition {
 public:
  // `known`: graphs of earlier calls, of this model and of others; at most kMostKnown of them, the last ones, count.
  // `most_fitted`: graphs, known ones included, that the residual is fitted to, the latest; a fit takes their cube.
  explicit Acquisition(std::vector<cost::ResidualExample> known = {}, size_t most_fitted = kMostFitted);

  static constexpr double kOptimism = 1.645;   // deviations: one in twenty graphs is faster than its bound
  static constexpr double kLeastGain = 0.003;  // of the best time: what promises less is not worth a measurement
  static constexpr size_t kMostKnown = 96, kMostFitted = 192;
  // Graphs timed, known ones included, before which what is known is a guess: until then whatever may be faster than
  // the unmodified graph is worth a measurement, and errors show nothing.
  static constexpr size_t kFewest = 3;

  // `sum`: of prices, in fractions of the unmodified graph's. Returns the graph's number.
  size_t offer(double sum, cost::Features features);
  // The graph that is yet to be timed whose bound is lowest; nothing where none promises a gain over incumbent(). The
  // first is the one that is predicted to be the fastest: bounds that rest on no time are wide, and widest for the
  // strangest graphs.
  std::optional<size_t> next() const;
  // The graph that is yet to be timed and was offered first, whatever it promises.
  std::optional<size_t> first() const;
  // `ratio`: the graph's time to the unmodified one's, > 0.
  void timed(size_t graph, double ratio);
  // It is being timed: next() and first() are about others.
  void hold(size_t graph) { graphs_[graph].held = true; }
  // It cannot be timed; never asked for again.
  void failed(size_t graph) { graphs_[graph].failed = true; }

  // The time it took, as given to timed(); 0: not timed.
  double ratio(size_t graph) const { return graphs_[graph].ratio; }
  double predicted(size_t graph) const;
  double deviation(size_t graph) const;
  double bound(size_t graph) const { return predicted(graph) - kOptimism * deviation(graph); }
  // Below 1 and the lowest that was timed; 1 where nothing was.
  double best_ratio() const { return best_ratio_; }
  // What the fastest graph takes as far as is known, at most 1. One lucky measurement among many moves it less than
  // best_ratio(): it is the lowest of what the fitted cost states of graphs that were timed.
  double incumbent() const { return incumbent_; }
  // Graphs by the times they took, the fastest first.
  std::vector<size_t> by_time() const;
  size_t timed_count() const { return timed_.size(); }
  // How many had been timed when the fastest was, itself included; 0: none is below 1.
  size_t best_at() const { return best_at_; }

  // Root mean squares over the graphs that were timed, in shares: of time - sum, and of time - predicted, each
  // predicted from all others that the residual is fitted to. 0 before the third one.
  double sum_error() const;
  double residual_error() const;
  const cost::Residual& residual() const { return residual_; }

 private:
  struct Offered {
    double sum = 0;
    cost::Features features;
    cost::Residual::Prediction residual;
    double ratio = 0;  // 0: not timed
    bool failed = false, held = false;
    bool waits() const { return ratio == 0 && !failed && !held; }
  };
  std::vector<cost::ResidualExample> examples_;  // known ones, then those of timed_; the latest
  size_t known_;                                 // of examples_
  size_t most_fitted_;
  std::vector<Offered> graphs_;
  std::vector<size_t> timed_;
  double best_ratio_ = 1, incumbent_ = 1;
  size_t best_at_ = 0;
  cost::Residual residual_;
};

}  // namespace rlgo::optimise
