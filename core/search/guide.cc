#include "core/search/guide.h"

#include <algorithm>

namespace rlgo::search {

void Guide::begin(const Walk& walk, const Position& at) {
  made_ = 0;
  ask(walk, at);
}

void Guide::moved(const Walk& walk, const Position& at) {
  if (++made_ <= moves_) ask(walk, at);
}

void Guide::ask(const Walk& walk, const Position& at) {
  if ((asked_ && stamp_ == walk.stamp()) || walk.places().empty()) return;
  asked_ = true;
  stamp_ = walk.stamp();
  const auto& learned = prior_->rank(walk, at).learned;
  const auto top = static_cast<double>(*std::ranges::max_element(learned));
  of_match_.clear();
  kept_.clear();
  std::vector<double> sums(static_cast<size_t>(walk.matches().rules().size()), 0.0), counts(sums.size(), 0.0);
  double sum = 0;
  for (size_t k = 0; k < learned.size(); ++k) {
    const Place& place = walk.places()[k];
    const double logit = static_cast<double>(learned[k]) - top;
    const auto rule = static_cast<size_t>(place.step.rule);
    sums[rule] += logit;
    counts[rule] += 1;
    sum += logit;
    if (!place.move) continue;
    of_match_[place.move->match.get()] = logit;
    kept_.push_back(place.move);
  }
  mean_ = sum / static_cast<double>(learned.size());
  of_rule_.assign(sums.size(), mean_);
  for (size_t rule = 0; rule < sums.size(); ++rule) {
    if (counts[rule] > 0) of_rule_[rule] = sums[rule] / counts[rule];
  }
}

double Guide::logit(const Place& place) const {
  const auto found = place.move ? of_match_.find(place.move->match.get()) : of_match_.end();
  return found != of_match_.end() ? found->second : of_rule_[static_cast<size_t>(place.step.rule)];
}

}  // namespace rlgo::search
