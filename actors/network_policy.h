// The agent's network as a policy.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "actors/policy.h"
#include "core/agent/player.h"
#include "core/nets/agent.h"

namespace rlgo::actors {

// Acts with the weights that load() brings (nets::pack). Runs where the network lies; its weights are replaced in
// place: they change by load() alone. On the CPU an actor-critic that has a plain form (nets::AgentOptions) is played
// without LibTorch (agent::Player), and computes only rows that it has not seen since then; elsewhere the observations
// of a batch share their rows.
class NetworkPolicy : public DrawnPolicy {
 public:
  explicit NetworkPolicy(nets::Agent network, int64_t version = 0);
  // What is held while the network computes, for a device that other processes time things on; empty: nothing.
  void set_hold(std::function<std::shared_ptr<void>()> hold) { hold_ = std::move(hold); }
  std::vector<Decision> decide(std::span<const mdp::Observation* const> observations,
                               std::span<const double> uniforms) override;
  std::vector<float> value(std::span<const mdp::Observation* const> observations) override;
  bool values_together() const override { return !network_->device().is_cpu(); }
  int64_t version() const override { return version_; }
  // Throws Error, and keeps the old weights, where the bytes come from another network.
  void load(std::string_view weights, int64_t version) override;

 private:
  void make_player();
  nets::GraphBatch join(std::span<const mdp::Observation* const> observations) const;

  nets::Agent network_;
  std::function<std::shared_ptr<void>()> hold_;
  std::optional<agent::Player> player_;  // of a plain form on the CPU
  int64_t version_;
};

}  // namespace rlgo::actors
