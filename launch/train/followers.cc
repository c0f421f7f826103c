#include "launch/train/followers.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/comm/device_group.h"
#include "core/exec/device_tools.h"
#include "launch/commands/command.h"
#include "launch/train/algorithm_factory.h"
#include "launch/train/roles.h"
#include "learner/session/actor_rank.h"

namespace rlgo::launch {
namespace {

int follow_to_the_end(RunConfig config, comm::Mailbox& mailbox) {
  const auto options = learners_options(config);
  learner::send_place(options, mailbox);
  const auto message =
      learner::wait_for_start(mailbox, comm::Tag::learner, learner::kStartSilence_s, [] { return false; });
  if (!message) return 0;
  const auto beginning = learner::decode_beginning(message->payload);
  const auto claim = beginning.own ? exec::claim(beginning.device) : nullptr;
  if (config.dream.encoder == learner::EncoderSource::ppo)
    config.dream.encoder = learner::EncoderSource::random;  // its weights come from the leader, like all others
  tune_learner(config, beginning.device);
  learner::follow_leader(options, mailbox, beginning,
                         make_algorithm({config, beginning.spec, beginning.device, beginning.initial, {}}));
  return 0;
}

}  // namespace

learner::LearnersOptions learners_options(const RunConfig& config) {
  return {config.loop.learners, config.device, config.loop.actor_timeout_s};
}

void make_reproducible(const RunConfig& config) {
  if (!config.loop.reproducible) return;
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  ::setenv("NCCL_ALGO", "Ring", 0);  // trees and switches (NVLS) add in an order of their own
}

void tune_learner(const RunConfig& config, const exec::Device& device) { exec::tune(device, config.loop.reproducible); }

int as_follower(comm::Mailbox& mailbox, int learners, const std::function<int()>& work) {
  try {
    return work();
  } catch (const comm::NoAnswer& e) {  // the first learner notices a silent rank too, and decides
    std::fprintf(stderr, "rlgo: rank %d: error: %s\n", mailbox.rank(), e.what());
    return kRestartStatus;
  } catch (const std::exception& e) {  // LibTorch's errors are not rlgo's
    std::vector<int> ranks(static_cast<size_t>(learners));
    std::iota(ranks.begin(), ranks.end(), 0);
    comm::announce_stop(mailbox, ranks, e.what());
    throw;
  }
}

int run_follower(const RunConfig& config, comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  return as_follower(mailbox, config.loop.learners, [&] { return follow_to_the_end(config, mailbox); });
}

}  // namespace rlgo::launch
