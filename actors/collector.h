// Plays episodes: the same loop for real environments and for dreams.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/policy.h"
#include "core/codec/coded.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

// An episode that an exception ended. (seed, rank, episode) run it again.
struct LostEpisode {
  uint64_t seed = 0;
  int32_t rank = 0;
  int64_t episode = 0;
  std::string what;
};

// Takes what a collector makes: episodes with whole observations, or ones whose observations were coded as they came,
// so that never more than two of an episode are held.
class AnySink {
 public:
  virtual ~AnySink() = default;
  virtual void on_lost(const LostEpisode& episode) = 0;  // an episode that an exception ended
};
class Sink : public AnySink {  // gets finished episodes, in full
 public:
  virtual void on_trajectory(mdp::Trajectory trajectory) = 0;  // a finished episode
};
class CodedSink : public AnySink {  // gets them coded
 public:
  virtual void on_trajectory(mdp::CodedTrajectory trajectory) = 0;
};

// A BatchEnv that begins several episodes by one call at less cost.
class BeginsTogether {
 public:
  virtual ~BeginsTogether() = default;
  // Each as BatchEnv::reset() would.
  virtual std::vector<mdp::Observation> reset_together(const std::vector<int>& indices,
                                                       const std::vector<uint64_t>& keys) = 0;
};

struct CollectorOptions {
  uint64_t seed = 0;
  int32_t rank = 0;
  int64_t first_episode = 0;  // episodes are numbered from here
  bool dream = false;
  // One call to BatchEnv::step for all running environments, and one for all that begin where they can
  // (BeginsTogether): fast for a dream, but an exception then costs all of their episodes. Otherwise each is stepped
  // alone, and an exception costs one.
  bool step_together = false;
  int max_lost_in_a_row = 20;  // more are an Error: the environment does not work at all
};

struct CollectorStats {
  int64_t episodes = 0;  // finished
  int64_t steps = 0;     // taken, those of lost and running episodes included
  int64_t lost = 0;
  double env_s = 0;     // inside the environments
  double policy_s = 0;  // inside the policy
  double steps_per_s() const { return env_s + policy_s > 0 ? static_cast<double>(steps) / (env_s + policy_s) : 0; }
};

// Names an episode to its environment, mixed from all three.
uint64_t episode_key(uint64_t seed, int32_t rank, int64_t episode);

class Collector {  // plays episodes side by side
 public:
  // All three must outlive it.
  Collector(mdp::BatchEnv& envs, Policy& policy, Sink& sink, CollectorOptions options);
  Collector(mdp::BatchEnv& envs, Policy& policy, CodedSink& sink, CollectorOptions options);

  // Starts an episode on each idle environment for which may_start() returns true, then takes one step in all running
  // ones. Finished episodes go to the sink. Returns the number of steps; 0 where nothing runs and nothing may start.
  int round(const std::function<bool()>& may_start);

  int running() const;  // episodes in work
  // Steps of the running episodes with numbers from `first_episode` on, each counted as at_least where it has fewer.
  int64_t running_steps(int64_t first_episode = 0, int64_t at_least = 0) const;
  // Number of the next episode.
  int64_t next_episode() const { return next_episode_; }
  void set_next_episode(int64_t episode) { next_episode_ = episode; }
  // Forgets the running episodes.
  void abandon();
  const CollectorStats& stats() const { return stats_; }

 private:
  // An episode in the making. The weights version is the oldest that acted in it: the policy may be loaded again while
  // several episodes run.
  struct Running {
    mdp::Trajectory trajectory;    // where observations are coded: without them
    mdp::ObservationCodes coded;   // up to `observation`; where they are not coded: none
    mdp::Observation observation;  // before the next step
    Rng rng{0};
  };

  Collector(mdp::BatchEnv& envs, Policy& policy, AnySink& losses, Sink* sink, CodedSink* coded,
            CollectorOptions options);
  void open(int index);
  void start(int index);
  void start_together(const std::function<bool()>& may_start);
  void begin(int index, mdp::Observation observation);
  std::vector<Decision> decide(const std::vector<int>& indices);
  void step(const std::vector<int>& indices, const std::vector<Decision>& decisions);
  // Whether the episode has ended, and how.
  enum class End : uint8_t { none, terminal, truncated };
  End finish_step(int index, const Decision& decision, mdp::StepResult result);
  void finish(const std::vector<std::pair<int, End>>& ended);
  void see(int index, mdp::Observation* before, mdp::Observation now, const mdp::Changes* reported);
  void finish(int index, bool terminal, float last_value);
  void lose(int index, const std::string& what);
  // Nonsense of an environment must not reach the learner. Throws Error.
  void check_seen(const mdp::Observation& observation, double cost_us) const;

  mdp::BatchEnv& envs_;
  BeginsTogether* together_;  // envs_ too, where it can and may
  Policy& policy_;
  AnySink& losses_;
  Sink* sink_;        // either
  CodedSink* coded_;  // or
  CollectorOptions options_;
  uint64_t spec_hash_;
  int64_t next_episode_;
  int lost_in_a_row_ = 0;
  std::vector<std::optional<Running>> slots_;
  std::vector<mdp::ObservationEncoder> encoders_;  // of each slot
  CollectorStats stats_;
};

}  // namespace rlgo::actors
