#include "learner/distributed/actor_registry.h"

#include <algorithm>
#include <iterator>

namespace rlgo::learner {

ActorRegistry::State ActorRegistry::heard(int rank) {
  Actor& actor = at(rank);
  actor.since_heard.restart();
  const State before = actor.state;
  if (before != State::gone) actor.state = State::alive;
  return before;
}

void ActorRegistry::beat(int rank, const comm::Heartbeat& beat) {
  const auto inference = at(rank).beat.inference;
  at(rank).beat = beat;
  if (beat.version < 0) at(rank).beat.inference = inference;  // a sign of life alone
}

std::vector<int> ActorRegistry::lose_silent(double timeout_s, const std::function<double(int)>& longer_s) {
  std::vector<int> lost;
  for (size_t rank = first_; rank < actors_.size(); ++rank) {
    Actor& actor = actors_[rank];
    if (actor.state != State::alive && actor.state != State::expected) continue;
    const int number = static_cast<int>(rank);
    const double most_s = actor.state == State::expected ? kStartTimes * timeout_s : timeout_s;
    if (actor.since_heard.seconds() <= most_s + (longer_s ? longer_s(number) : 0)) continue;
    actor.state = State::lost;
    lost.push_back(number);
  }
  return lost;
}

bool ActorRegistry::all_exhausted(int64_t version, int64_t quota_steps, double quiet_s) const {
  bool any = false;
  for (size_t rank = first_; rank < actors_.size(); ++rank) {
    const Actor& one = actors_[rank];
    if (one.state != State::alive || one.hello.dream || infers(rank) || one.since_heard.seconds() > quiet_s) continue;
    const comm::Heartbeat& beat = one.beat;
    if (beat.version != version || beat.quota_steps != quota_steps || beat.quota_left > 0) return false;
    any = true;
  }
  return any;
}

int ActorRegistry::hoped_for() const {
  int count = 0;
  for (size_t rank = first_; rank < actors_.size(); ++rank) {
    const Actor& one = actors_[rank];
    if (infers(rank)) continue;
    if (one.state == State::expected || (one.state == State::alive && !one.hello.dream)) ++count;
  }
  return count;
}

std::vector<int> ActorRegistry::real_ones(const std::vector<int>& ranks) const {
  std::vector<int> result;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(result),
               [this](int rank) { return !actor(rank).hello.dream && !infers(static_cast<size_t>(rank)); });
  return result;
}

std::vector<int> ActorRegistry::inference_ranks(const std::vector<int>& ranks) const {
  std::vector<int> result;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(result),
               [this](int rank) { return infers(static_cast<size_t>(rank)); });
  return result;
}

comm::InferenceCounts ActorRegistry::inference_counts() const {
  comm::InferenceCounts sum;
  for (const Actor& one : actors_) sum += one.beat.inference;
  return sum;
}

std::vector<int> ActorRegistry::dreamers(const std::vector<int>& ranks) const {
  std::vector<int> result;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(result),
               [this](int rank) { return actor(rank).hello.dream; });
  return result;
}

std::vector<int> ActorRegistry::in(State state) const {
  std::vector<int> ranks;
  for (size_t rank = first_; rank < actors_.size(); ++rank) {
    if (actors_[rank].state == state) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace rlgo::learner
