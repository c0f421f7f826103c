#include "tests/mpi/faults.h"

#include <csignal>
#include <cstdio>
#include <thread>

#include "actors/actor_loop.h"
#include "learner/loop.h"
#include "tests/support/toy_env.h"

namespace rlgo::test {
namespace {

int learn(comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  learner::NoAlgorithm algorithm;
  learner::LoopOptions options;
  options.epochs = 1000000;
  options.actor_timeout_s = 2.5;
  options.drain_s = 5;
  int epochs_after_loss = -1;
  learner::LoopHooks hooks;
  hooks.say = [&](const std::string& line) {
    std::printf("%s\n", line.c_str());
    if (line.find("is lost") != std::string::npos) epochs_after_loss = 0;
  };
  hooks.on_epoch = [&](const auto&, const auto&) { epochs_after_loss += epochs_after_loss >= 0 ? 1 : 0; };
  options.should_stop = [&] { return epochs_after_loss >= 3; };
  learner::Loop loop(mailbox, algorithm, options, hooks);
  const auto result = loop.run();
  std::printf("learner: %s, goodbyes %s\n", name(result.reason).c_str(),
              result.all_said_goodbye ? "complete" : "missing");
  return result.reason == learner::StopReason::interrupted && result.all_said_goodbye ? 0 : 1;
}

int act(comm::Comm& comm, const std::string& fault) {
  std::vector<std::unique_ptr<mdp::Env>> envs;
  envs.push_back(std::make_unique<PathToy>(9, 10));
  const auto batch = mdp::make_batch(std::move(envs));
  actors::RandomPolicy policy;
  comm::Mailbox mailbox(comm);
  actors::ActorLoop actor(mailbox, *batch, policy, {});
  const bool last = comm.rank() == comm.size() - 1;
  actor.run([&] {
    if (!last || actor.steps_sent() < 100) return false;
    if (fault == "killed") std::raise(SIGKILL);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  return 0;
}

}  // namespace

int play_fault(comm::Comm& comm, const std::string& fault) {
  const int status = comm.rank() == 0 ? learn(comm) : act(comm, fault);
  const bool all = comm.close(2);
  if (comm.rank() == 0) std::printf("%s closed\n", all ? "all" : "not all");
  return all ? 1 : status;
}

}  // namespace rlgo::test
