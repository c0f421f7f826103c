// The inference rank of a node: it answers its actors' questions in batches, with the newest weights, and plays nothing
// itself. Each distinct row of a local encoder is computed once for all of them (network_policy.h).
//
// Equal decisions: the draws come with the question, so an actor that asks acts as one that decides by itself with the
// same weights. A question names the weights that its actor has; it waits here until those, or newer ones, have come.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/inference_messages.h"
#include "actors/inference_options.h"
#include "core/base/stopwatch.h"
#include "core/comm/mailbox.h"
#include "core/comm/protocol.h"

namespace rlgo::actors {

class InferenceServer {  // used by the thread that uses the mailbox
 public:
  // Both references must outlive it. spec: of the observations.
  InferenceServer(comm::Mailbox& mailbox, DrawnPolicy& policy, mdp::ObservationSpec spec, InferenceOptions options);

  // A question (Tag::ask). One that is malformed, or whose base is not known, is refused.
  void take(const comm::Incoming& message);
  // Answers one batch, or waits a little for it to grow. Whether there was something to do. What the policy throws
  // refuses the batch.
  bool turn();
  // Informs the asking rank that nothing is answered any more.
  void leave();

  const comm::InferenceCounts& counts() const { return counts_; }

 private:
  // The observations of a question that was answered.
  struct Seen {
    uint64_t number = 0;
    std::vector<mdp::Observation> observations;
  };
  struct Pending {
    int from = 0;
    Question question;
    std::vector<mdp::Observation> observations;
    Stopwatch waiting;
  };

  void answer(std::vector<Pending> batch);
  void refuse(int from, uint64_t number, std::string why);

  comm::Mailbox& mailbox_;
  DrawnPolicy& policy_;
  mdp::ObservationSpec spec_;
  InferenceOptions options_;
  std::map<int, Seen> seen_;      // by rank, of all that have asked
  std::vector<Pending> pending_;  // as they came
  comm::InferenceCounts counts_;
};

}  // namespace rlgo::actors
