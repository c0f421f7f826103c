#include "core/optimise/acquisition.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace rlgo::optimise {
namespace {

std::vector<cost::ResidualExample> last(std::vector<cost::ResidualExample> known, size_t most) {
  if (known.size() > most) known.erase(known.begin(), known.end() - static_cast<std::ptrdiff_t>(most));
  return known;
}

}  // namespace

Acquisition::Acquisition(std::vector<cost::ResidualExample> known, size_t most_fitted)
    : examples_(last(std::move(known), std::min(kMostKnown, most_fitted))),
      known_(examples_.size()),
      most_fitted_(most_fitted),
      residual_(examples_) {}

size_t Acquisition::offer(double sum, cost::Features features) {
  const auto residual = residual_.predict(features);
  graphs_.push_back({sum, std::move(features), residual});
  return graphs_.size() - 1;
}

std::optional<size_t> Acquisition::next() const {
  const double worth = (examples_.size() < kFewest ? 1.0 : incumbent_) * (1 - kLeastGain);
  const auto rank = [&](size_t k) { return timed_.empty() ? predicted(k) : bound(k); };
  std::optional<size_t> lowest;
  for (size_t k = 0; k < graphs_.size(); ++k) {
    if (graphs_[k].waits() && bound(k) < worth && (!lowest || rank(k) < rank(*lowest))) lowest = k;
  }
  return lowest;
}

std::optional<size_t> Acquisition::first() const {
  const auto at = std::ranges::find_if(graphs_, &Offered::waits);
  return at == graphs_.end() ? std::nullopt : std::optional(static_cast<size_t>(at - graphs_.begin()));
}

void Acquisition::timed(size_t graph, double ratio) {
  graphs_[graph].ratio = ratio;
  timed_.push_back(graph);
  examples_.push_back({graphs_[graph].features, ratio - graphs_[graph].sum});
  if (examples_.size() > most_fitted_) {
    examples_.erase(examples_.begin());
    known_ -= std::min<size_t>(known_, 1);
  }
  if (ratio < best_ratio_) {
    best_ratio_ = ratio;
    best_at_ = timed_.size();
  }
  residual_ = cost::Residual(examples_);
  for (Offered& offered : graphs_) offered.residual = residual_.predict(offered.features);
  incumbent_ = 1;
  for (const size_t k : timed_) incumbent_ = std::min(incumbent_, predicted(k));
}

double Acquisition::predicted(size_t graph) const { return graphs_[graph].sum + graphs_[graph].residual.mean; }

double Acquisition::deviation(size_t graph) const { return graphs_[graph].residual.deviation; }

std::vector<size_t> Acquisition::by_time() const {
  std::vector<size_t> order = timed_;
  std::ranges::stable_sort(order, {}, [&](size_t k) { return graphs_[k].ratio; });
  return order;
}

double Acquisition::sum_error() const {
  if (timed_.size() < kFewest) return 0;
  double squares = 0;
  for (const size_t k : timed_) squares += std::pow(graphs_[k].ratio - graphs_[k].sum, 2);
  return std::sqrt(squares / static_cast<double>(timed_.size()));
}

double Acquisition::residual_error() const {
  if (timed_.size() < kFewest) return 0;
  std::vector<size_t> mine(examples_.size() - known_);
  std::iota(mine.begin(), mine.end(), known_);
  return residual_.left_out_error(mine);
}

}  // namespace rlgo::optimise
