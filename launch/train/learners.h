// Several learners of one run find each other: who has which GPU, how gradients are summed, and what state all begin
// with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/mailbox.h"
#include "core/exec/device.h"
#include "core/mdp/mdp.h"
#include "launch/config.h"
#include "launch/train/algorithm_factory.h"
#include "learner/distributed/followers.h"

namespace rlgo::launch {

// Where a learner runs and what it could use there.
struct LearnerPlace {
  std::string host;
  std::vector<std::string> gpus;  // addresses of those that --device permits; empty: the CPU
  bool nccl = false;              // this build has it, and it loads
};
LearnerPlace learner_place(const RunConfig& config);

// Who takes which device, by place, and whether gradients go by NCCL. All take GPUs or none does: all must come to the
// same weights. `why_not`: why NCCL is not used.
struct LearnerDevices {
  std::vector<exec::Device> devices;
  bool nccl = false;
  std::string why_not;
};
LearnerDevices choose_devices(const std::vector<LearnerPlace>& places);

// See exec::tune; deterministic where the run is to be reproducible.
void tune_learner(const RunConfig& config, const exec::Device& device);

// Rank 0 waits for all other learners; throws Error where one ends before.
LearnerDevices meet_learners(const RunConfig& config, comm::Mailbox& mailbox);
// Rank 0: sends each of them what it needs (spec, first observation, the algorithm's whole state), joins them. Returns
// the algorithm for the loop.
std::shared_ptr<learner::LeaderAlgorithm> lead_learners(const RunConfig& config, comm::Mailbox& mailbox,
                                                        const LearnerDevices& devices, const mdp::ObservationSpec& spec,
                                                        const mdp::Observation& initial,
                                                        std::shared_ptr<learner::Algorithm> algorithm);
// How the learners are joined, for people: "2 learners: ring of 2 ranks on the CPU, through MPI (4 ranks)".
std::string describe(const learner::LearnerGroup& group, const LearnerDevices& devices);

// The other learners, to the end. Returns the exit status.
int run_follower(const RunConfig& config, comm::Comm& comm);
// What run_follower puts around its work: whatever it throws, LibTorch's errors included, the other learners are told
// before it goes on; where somebody is silent, the status of a run that is to be started again is returned.
int as_follower(comm::Mailbox& mailbox, int learners, const std::function<int()>& work);

}  // namespace rlgo::launch
