#include "actors/policy.h"

#include "core/base/error.h"

namespace rlgo::actors {

std::vector<Decision> DrawnPolicy::act(std::span<const mdp::Observation* const> observations,
                                       std::span<Rng* const> rngs) {
  RLGO_CHECK_EQ(observations.size(), rngs.size());
  std::vector<double> uniforms;
  for (Rng* rng : rngs) {
    uniforms.push_back(rng->uniform());
    uniforms.push_back(rng->uniform());
  }
  return decide(observations, uniforms);
}

}  // namespace rlgo::actors
