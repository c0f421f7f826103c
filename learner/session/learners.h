// Several learners of one run find each other: who has which GPU, how gradients are summed, and what state all begin
// with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/mailbox.h"
#include "core/exec/device.h"
#include "core/exec/driver.h"
#include "core/mdp/mdp.h"
#include "learner/distributed/followers.h"

namespace rlgo::learner {

struct LearnersOptions {
  int learners = 1;             // ranks 0 .. learners-1
  std::string device = "auto";  // see exec::resolve_device
  double timeout_s = 120;       // silence of a learner after which it is given up
};

// Where a learner runs and what it could use there.
struct LearnerPlace {
  std::string host;
  std::vector<exec::Gpu> gpus;  // those that options.device permits; empty: the CPU
  std::string why_no_nccl;      // "": this build has it, and it loads
};
LearnerPlace learner_place(const LearnersOptions& options);

// Which device each learner takes, by place, and whether gradients go by NCCL. All take GPUs or none does: all must
// come to the same weights.
struct LearnerDevices {
  std::vector<exec::Device> devices;
  std::vector<bool> own;  // no learner before it has the same GPU
  bool nccl = false;
  std::string why_not;  // why NCCL is not used
  std::string remark;   // "", or what makes the learners slower than need be
};
// A GPU of its own (by host and address) for each learner wherever there is such an assignment; else some share one,
// or, where `word` (LearnersOptions::device) is "cuda", throws Error. The CPU for all where one place has no GPU
// (`why_not` names it).
LearnerDevices choose_devices(const std::vector<LearnerPlace>& places, std::string_view word = "auto");

// Rank 0 waits for all other learners; throws Error where one ends before, and as choose_devices().
LearnerDevices meet_learners(const LearnersOptions& options, comm::Mailbox& mailbox);
// Rank 0: sends each of them what it needs (spec, first observation, the algorithm's whole state), joins them. Returns
// the algorithm for the loop.
std::shared_ptr<LeaderAlgorithm> lead_learners(const LearnersOptions& options, comm::Mailbox& mailbox,
                                               const LearnerDevices& devices, const mdp::ObservationSpec& spec,
                                               const mdp::Observation& initial,
                                               const std::shared_ptr<Algorithm>& algorithm);
// How the learners are joined, for people: "2 learners: ring of 2 ranks on the CPU, through MPI (4 ranks)".
std::string describe(const LearnerGroup& group, const LearnerDevices& devices);

// What another learner begins with.
struct Beginning {
  exec::Device device;
  bool own = true;  // no learner before it has this GPU
  bool nccl = false;
  mdp::ObservationSpec spec;
  mdp::Observation initial;
  std::string state;  // of the algorithm, a checkpoint
};
// The message that rank 0 sends to each (Tag::learner). Throws Error where it is damaged.
Beginning decode_beginning(const std::string& bytes);
// Another learner: informs rank 0 that it is there, and what it could use.
void send_place(const LearnersOptions& options, comm::Mailbox& mailbox);
// Another learner: takes over the state, joins the others, follows to the end. `algorithm` is of the beginning's spec
// and on its device.
void follow_leader(const LearnersOptions& options, comm::Mailbox& mailbox, const Beginning& beginning,
                   const std::shared_ptr<Algorithm>& algorithm);

}  // namespace rlgo::learner
