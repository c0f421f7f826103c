// A policy of two draws without a network, with versions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "actors/policy.h"

namespace rlgo::test {

// Uniform over the legal rules and NO-OP, then over the locations. Counts what it decides.
class DrawnRandom : public actors::DrawnPolicy {
 public:
  std::vector<actors::Decision> decide(std::span<const mdp::Observation* const> observations,
                                       std::span<const double> uniforms) override {
    std::vector<actors::Decision> decisions;
    for (size_t i = 0; i < observations.size(); ++i) {
      std::vector<mdp::Action> legal;
      const auto& counts = observations[i]->counts;
      for (size_t rule = 0; rule < counts.size(); ++rule) {
        const auto location = static_cast<int32_t>(uniforms[2 * i + 1] * counts[rule]);
        if (counts[rule] > 0) legal.push_back({static_cast<int32_t>(rule), location});
      }
      legal.push_back({static_cast<int32_t>(counts.size()), 0});
      const auto pick = static_cast<size_t>(uniforms[2 * i] * static_cast<double>(legal.size()));
      decisions.push_back({.action = legal[pick], .log_prob_rule = -1});
    }
    decided += static_cast<int64_t>(observations.size());
    return decisions;
  }
  std::vector<float> value(std::span<const mdp::Observation* const> observations) override {
    return std::vector<float>(observations.size());
  }
  int64_t version() const override { return version_; }
  void load(std::string_view, int64_t version) override { version_ = version; }

  int64_t decided = 0;

 private:
  int64_t version_ = -1;
};

}  // namespace rlgo::test
