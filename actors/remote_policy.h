// An actor's policy where another rank decides (inference_server.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/inference_messages.h"
#include "actors/inference_options.h"
#include "core/comm/mailbox.h"
#include "core/comm/protocol.h"

namespace rlgo::actors {

struct RemoteHooks {
  std::function<void()> tend = [] {};                                // called while it waits; may read messages
  std::function<void(const std::string&)> log_line = [](auto&&) {};  // once for each thing that goes wrong
};

// Asks, and waits. Where the inference rank is silent for too long, leaves, refuses, or has older weights than were
// loaded here, the policy of this rank decides, which loads weights only then; the decisions are the same. A rank that
// was silent is asked again once it has answered, be it late. Greedy decisions are made here.
class RemotePolicy : public DrawnPolicy {
 public:
  // Both references must outlive it.
  RemotePolicy(comm::Mailbox& mailbox, int inference_rank, DrawnPolicy& own, InferenceOptions options,
               RemoteHooks hooks = {});

  std::vector<Decision> decide(std::span<const mdp::Observation* const> observations,
                               std::span<const double> uniforms) override;
  std::vector<float> value(std::span<const mdp::Observation* const> observations) override;
  // After load() those that were loaded; after decide() those that decided, which may be newer.
  int64_t version() const override { return version_; }
  // Keeps the bytes: those of another network are an Error only once they are used.
  void load(std::string_view weights, int64_t version) override;

  // An answer (Tag::decided) that came when none was waited for.
  void take(const comm::Incoming& message);
  // At the end: what may still be on its way to a rank that is silent is not waited for.
  void leave();
  const comm::InferenceCounts& counts() const { return counts_; }

 private:
  void hear();
  std::optional<Answer> ask(std::span<const mdp::Observation* const> observations, std::span<const double> uniforms);
  bool wait_for_answer();
  std::string fault(const Answer& answer, std::span<const mdp::Observation* const> observations, bool values) const;
  DrawnPolicy& own();
  void log_once(bool& logged, const std::string& text) const;

  comm::Mailbox& mailbox_;
  int rank_;
  DrawnPolicy& own_;
  InferenceOptions options_;
  RemoteHooks hooks_;
  std::string weights_;     // newest, perhaps not in own_ yet
  int64_t newest_version_;  // theirs
  int64_t version_;
  uint64_t number_ = 0;                  // of the last question
  uint64_t base_ = 0;                    // the last one that was answered, with these observations; 0: none
  std::vector<mdp::Observation> bases_;  // of it
  std::optional<Answer> answer_;         // to the last question
  bool silent_ = false;                  // the last question was not answered in time, nor any since
  bool left_ = false;
  bool logged_silent_ = false, logged_back_ = false, logged_refused_ = false;
  comm::InferenceCounts counts_;
};

}  // namespace rlgo::actors
