#include "launch/train/followers.h"

#include <cstdio>
#include <cstdlib>

#include "core/exec/device_tools.h"
#include "launch/train/algorithm_factory.h"
#include "launch/train/roles.h"

namespace rlgo::launch {
namespace {

int follow_to_the_end(RunConfig config, comm::Mailbox& mailbox) {
  const auto options = learners_options(config);
  learner::tell_place(options, mailbox);
  const auto message = wait_for_start(mailbox, comm::Tag::learner, kStartSilence_s, [] { return false; });
  if (!message) return 0;
  const auto beginning = learner::decode_beginning(message->payload);
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

void tune_learner(const RunConfig& config, const exec::Device& device) {
  if (config.loop.reproducible) ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  exec::tune(device, config.loop.reproducible);
}

int as_follower(comm::Mailbox& mailbox, int learners, const std::function<int()>& work) {
  try {
    return work();
  } catch (const comm::NoAnswer& e) {  // whoever is silent, the first learner notices too, and decides
    std::fprintf(stderr, "rlgo: rank %d: error: %s\n", mailbox.rank(), e.what());
    return kRestartStatus;
  } catch (const std::exception& e) {  // LibTorch's errors are not rlgo's
    for (int rank = 0; rank < learners; ++rank) {
      if (rank != mailbox.rank()) mailbox.send(rank, comm::Tag::stop, e.what());
    }
    mailbox.flush(2.0);
    throw;
  }
}

int run_follower(const RunConfig& config, comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  return as_follower(mailbox, config.loop.learners, [&] { return follow_to_the_end(config, mailbox); });
}

}  // namespace rlgo::launch
