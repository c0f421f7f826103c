#include "core/search/heat_bath.h"

#include <algorithm>
#include <cmath>

namespace rlgo::search {
namespace {

// Draws at one move before there is none: all that were drawn led to graphs that were entered.
constexpr int kDraws = 8;

}  // namespace

void HeatBath::open(const Walk& walk, const rules::Match& match, size_t size) {
  window_.open(walk.graph(), match, size);
}

void HeatBath::begin(const Walk& walk) {
  seen_.clear();
  seen_.insert(walk.hash());
}

bool HeatBath::contains(const Walk& walk, size_t place) const {
  const auto& move = walk.places()[place].move;
  return move && window_.contains(walk.graph(), *move->match);
}

std::optional<size_t> HeatBath::draw(const Walk& walk, double temperature_us, double most, Rng& rng) {
  candidates_.clear();
  weights_.clear();
  double total = 0;
  const auto places = walk.places();
  for (size_t k = 0; k < places.size(); ++k) {
    if (!contains(walk, k)) continue;
    const double weight = std::min(std::exp(-places[k].move->delta_us / temperature_us), most);
    if (weight < 1e-30) continue;
    candidates_.push_back(k);
    weights_.push_back(weight);
    total += weight;
  }
  for (int draw = 0; draw < kDraws && !candidates_.empty(); ++draw) {
    double left = rng.uniform() * total;
    size_t at = 0;
    while (at + 1 < weights_.size() && (left -= weights_[at]) >= 0) ++at;
    const size_t drawn = candidates_[at];
    if (seen_.insert(walk.hash() + places[drawn].move->delta_hash).second) return drawn;
    total -= weights_[at];
    candidates_.erase(candidates_.begin() + static_cast<ptrdiff_t>(at));
    weights_.erase(weights_.begin() + static_cast<ptrdiff_t>(at));
  }
  return std::nullopt;
}

std::optional<size_t> HeatBath::steepest(const Walk& walk, double tolerance_us) const {
  return search::steepest(walk.places(), tolerance_us, [&](size_t k) { return contains(walk, k); });
}

double log_uniform(Rng& rng, double low, double high) { return low * std::pow(high / low, rng.uniform()); }

}  // namespace rlgo::search
