#include "tests/mpi/faults.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>
#include <thread>

#include "actors/actor_loop.h"
#include "learner/loop.h"
#include "tests/support/toy_env.h"

namespace rlgo::test {
namespace {

// On the last rank, and after 100 steps there, something happens; everywhere else this is a PathToy.
class FaultyEnv : public PathToy {
 public:
  FaultyEnv(std::string fault, bool last) : PathToy(9, 10), fault_(std::move(fault)), last_(last) {}
  mdp::StepResult step(mdp::Action action) override {
    auto result = PathToy::step(action);
    ++steps_;
    if (!last_ || steps_ < 100) return result;
    if (fault_ == "hangs") std::this_thread::sleep_for(std::chrono::hours(1));
    if (steps_ % 7 != 0) return result;
    if (fault_ == "throws") fail("boom at step {}", steps_);
    if (fault_ == "nan" && steps_ % 2 == 0) result.reward = std::nanf("");
    if (fault_ == "nan" && steps_ % 2 == 1) result.observation.globals[0] = -INFINITY;
    return result;
  }

 private:
  std::string fault_;
  bool last_;
  int steps_ = 0;
};

struct Seen {
  std::map<int, int64_t> episodes;  // finished, by rank
  int lines = 0;                    // that report the fault
  int epochs_after = -1;            // epochs since the first such line
  bool finite = true;
};

void look_at(const mdp::Trajectory& trajectory, Seen& seen) {
  ++seen.episodes[trajectory.rank];
  for (const auto& step : trajectory.steps)
    seen.finite = seen.finite && std::isfinite(step.reward) && std::isfinite(step.observation.globals[0]);
}

int learn(comm::Comm& comm, const std::string& fault) {
  comm::Mailbox mailbox(comm);
  learner::NoAlgorithm algorithm;
  const bool episodes_alone = fault == "throws" || fault == "nan";
  const std::string sign = episodes_alone ? " lost episode " : " is lost";
  learner::LoopOptions options;
  options.epochs = 1000000;
  options.actor_timeout_s = episodes_alone ? 60 : 2.5;
  options.drain_s = 5;
  Seen seen;
  learner::LoopHooks hooks;
  hooks.log_line = [&](const std::string& line) {
    if (seen.lines < 3) std::printf("%s\n", line.c_str());
    if (line.find(sign) == std::string::npos) return;
    ++seen.lines;
    seen.epochs_after = std::max(seen.epochs_after, 0);
  };
  hooks.on_trajectory = [&](const learner::Episode& episode, bool) { look_at(mdp::whole(*episode), seen); };
  hooks.on_epoch = [&](const auto&, const auto&) { seen.epochs_after += seen.epochs_after >= 0 ? 1 : 0; };
  options.should_stop = [&] { return seen.epochs_after >= 3 && seen.lines >= (episodes_alone ? 10 : 1); };
  learner::Loop loop(mailbox, algorithm, options, hooks);
  const auto result = loop.run();
  const auto last = seen.episodes[comm.size() - 1];
  std::printf("learner: %s, goodbyes %s, %lld episodes of the last rank kept, %lld lost, numbers %s\n",
              name(result.reason).c_str(), result.all_sent_goodbye ? "complete" : "missing",
              static_cast<long long>(last), static_cast<long long>(result.state.lost),
              seen.finite ? "finite" : "not finite");
  const bool as_expected = result.any_lost != episodes_alone && (result.state.lost >= 10) == episodes_alone;
  const bool clean = result.reason == learner::StopReason::interrupted && result.all_sent_goodbye;
  return as_expected && clean && last > 5 && seen.finite ? 0 : 1;
}

void act(comm::Comm& comm, const std::string& fault) {
  const bool last = comm.rank() == comm.size() - 1;
  std::vector<std::unique_ptr<mdp::Env>> envs;
  envs.push_back(std::make_unique<FaultyEnv>(fault, last));
  const auto batch = mdp::make_batch(std::move(envs));
  actors::RandomPolicy policy;
  comm::Mailbox mailbox(comm);
  actors::ActorLoop actor(mailbox, *batch, policy, {});
  actor.run([&] {
    if (!last || actor.steps_sent() < 100) return false;
    if (fault == "killed") std::raise(SIGKILL);
    while (fault == "hung") std::this_thread::sleep_for(std::chrono::seconds(1));
    return false;
  });
}

}  // namespace

int play_fault(comm::Comm& comm, const std::string& fault) {
  int status = 0;
  if (comm.rank() == 0) {
    status = learn(comm, fault);
  } else {
    act(comm, fault);
  }
  const bool all = comm.close(fault == "throws" || fault == "nan" ? 30 : 2);
  if (comm.rank() == 0) std::printf("%s closed\n", all ? "all" : "not all");
  return all == (fault == "throws" || fault == "nan") ? status : 1;
}

}  // namespace rlgo::test
