// By whose way messages go between rank 0 and the actors: an actor's aggregator (distributed/aggregator.h) or none.
#pragma once

#include <utility>
#include <vector>

namespace rlgo::learner {

class Routes {
 public:
  // `via`: [ranks] choose_aggregators(); empty: every actor speaks for itself.
  explicit Routes(std::vector<int> via = {}) : first_(std::move(via)), now_(first_) {}

  // The rank that messages to and from this one go through today, perhaps itself; 0: none.
  int via(int rank) const { return now_.empty() ? 0 : now_.at(static_cast<size_t>(rank)); }
  // Whether this aggregator passes on what the rank sends, or did so: what it still had comes late.
  bool may_speak_for(int aggregator, int rank) const {
    return aggregator != 0 && !first_.empty() && first_.at(static_cast<size_t>(rank)) == aggregator;
  }
  // Those whose messages go through this rank today, without itself.
  std::vector<int> behind(int aggregator) const;
  // The same; from now on they, and it, speak for themselves.
  std::vector<int> close(int aggregator);

 private:
  std::vector<int> first_, now_;
};

}  // namespace rlgo::learner
