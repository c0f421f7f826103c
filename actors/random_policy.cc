#include <algorithm>
#include <cmath>

#include "actors/policy.h"
#include "core/base/error.h"

namespace rlgo::actors {
namespace {

Decision decide(const mdp::Observation& observation, bool stops, Rng& rng) {
  const auto& counts = observation.counts;
  const auto rules =
      static_cast<uint64_t>(std::count_if(counts.begin(), counts.end(), [](int32_t count) { return count > 0; }));
  const uint64_t legal = rules + (stops || rules == 0 ? 1 : 0);
  auto pick = static_cast<int64_t>(rng.below(legal));
  const double place = rng.uniform();
  Decision decision;
  decision.log_prob_rule = -std::log(static_cast<float>(legal));
  for (size_t rule = 0; rule < counts.size(); ++rule) {
    if (counts[rule] == 0 || pick-- > 0) continue;
    decision.action = {static_cast<int32_t>(rule),
                       std::min(static_cast<int32_t>(place * counts[rule]), counts[rule] - 1)};
    decision.log_prob_location = -std::log(static_cast<float>(counts[rule]));
    return decision;
  }
  decision.action = {static_cast<int32_t>(counts.size()), 0};
  return decision;
}

}  // namespace

std::vector<Decision> RandomPolicy::act(std::span<const mdp::Observation* const> observations,
                                        std::span<Rng* const> rngs) {
  RLGO_CHECK_EQ(observations.size(), rngs.size());
  std::vector<Decision> decisions;
  decisions.reserve(observations.size());
  for (size_t i = 0; i < observations.size(); ++i) decisions.push_back(decide(*observations[i], stops_, *rngs[i]));
  return decisions;
}

std::vector<float> RandomPolicy::value(std::span<const mdp::Observation* const> observations) {
  return std::vector<float>(observations.size());
}

void RandomPolicy::load(std::string_view, int64_t) {}

}  // namespace rlgo::actors
