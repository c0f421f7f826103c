// Which actors there are, and which of them live.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "actors/inference_options.h"
#include "core/base/stopwatch.h"
#include "core/comm/protocol.h"

namespace rlgo::learner {

class ActorRegistry {
 public:
  enum class State : uint8_t {
    expected,  // has not sent hello yet
    alive,
    lost,  // silent for too long
    gone,  // sent goodbye
  };
  struct Actor {
    State state = State::expected;
    comm::Hello hello;
    comm::Heartbeat beat;
    Stopwatch since_heard;
  };

  // Ranks first .. ranks-1. `inference`: see actors::choose_inference_ranks; empty: all play.
  explicit ActorRegistry(int ranks, int first = 1, std::vector<int> inference = {})
      : first_(static_cast<size_t>(first)), actors_(static_cast<size_t>(ranks)), inference_(std::move(inference)) {}

  // A sign of life. Returns what the actor was before: `expected` where it is new, `lost` where it comes back.
  State heard(int rank);
  void sent_hello(int rank, comm::Hello hello) { at(rank).hello = std::move(hello); }
  void beat(int rank, const comm::Heartbeat& beat);
  void sent_goodbye(int rank) { at(rank).state = State::gone; }
  // Actors that are silent for longer than this become lost; returns those. One that has not sent hello yet has
  // kStartTimes as long: its process starts, and reads the model, on a machine where all do so at once. `longer_s`:
  // what is added for a rank; empty: nothing.
  static constexpr double kStartTimes = 5;
  std::vector<int> lose_silent(double timeout_s, const std::function<double(int)>& longer_s = {});
  // Its silence counts from now on: it could not be heard.
  void excuse(int rank) { at(rank).since_heard.restart(); }

  std::vector<int> living() const { return in(State::alive); }
  // Those among `ranks` that step real environments, that dream, or that decide for others and play nothing.
  std::vector<int> real_ones(const std::vector<int>& ranks) const;
  std::vector<int> dreamers(const std::vector<int>& ranks) const;
  std::vector<int> inference_ranks(const std::vector<int>& ranks) const;
  // Of all ranks, lost ones included.
  comm::InferenceCounts inference_counts() const;
  // Living or expected actors on real environments; one that has not sent hello yet counts as such.
  int hoped_for() const;
  // Whether every living actor on a real environment has reported that it used up this permission. One that was silent
  // for longer than `quiet_s` is not waited for (it may hang). False where no other is left.
  bool all_exhausted(int64_t version, int64_t quota_steps, double quiet_s) const;
  const Actor& actor(int rank) const { return actors_.at(static_cast<size_t>(rank)); }
  bool any_gone() const { return !in(State::gone).empty(); }
  bool any_expected() const { return !in(State::expected).empty(); }
  bool any_lost() const { return !in(State::lost).empty(); }

 private:
  Actor& at(int rank) { return actors_.at(static_cast<size_t>(rank)); }
  std::vector<int> in(State state) const;
  bool infers(size_t rank) const { return actors::infers(inference_, static_cast<int>(rank)); }
  size_t first_;
  std::vector<Actor> actors_;  // by rank; those below first_, the learners, are not used
  std::vector<int> inference_;
};

}  // namespace rlgo::learner
