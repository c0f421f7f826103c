#include "learner/distributed/routes.h"

#include <algorithm>

namespace rlgo::learner {

std::vector<int> Routes::behind(int aggregator) const {
  std::vector<int> ranks;
  if (aggregator == 0) return ranks;
  for (size_t rank = 0; rank < now_.size(); ++rank) {
    if (now_[rank] == aggregator && static_cast<int>(rank) != aggregator) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::vector<int> Routes::close(int aggregator) {
  auto ranks = behind(aggregator);
  if (aggregator != 0) std::replace(now_.begin(), now_.end(), aggregator, 0);
  return ranks;
}

}  // namespace rlgo::learner
