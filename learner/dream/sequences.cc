#include "learner/dream/sequences.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/nets/world_model.h"

namespace rlgo::learner {

Sequences make_sequences(std::span<const mdp::Trajectory* const> episodes, const mdp::ObservationSpec& spec,
                         int64_t steps) {
  Sequences s;
  s.steps = steps;
  s.episodes = static_cast<int64_t>(episodes.size());
  for (const auto* e : episodes) s.steps = std::max(s.steps, static_cast<int64_t>(e->steps.size()));
  if (s.steps == 0) fail("world model: no steps to learn from");
  const int64_t t_max = s.steps, b_max = s.episodes, x_max = spec.rules;
  s.observations.assign(static_cast<size_t>(t_max + 1),
                        std::vector<const mdp::Observation*>(static_cast<size_t>(b_max), nullptr));
  s.counts = torch::zeros({t_max + 1, b_max, x_max});
  s.rule = torch::full({t_max, b_max}, x_max, torch::kInt64);
  s.location = torch::zeros({t_max, b_max, 2});
  s.reward = torch::zeros({t_max, b_max});
  s.terminal = torch::zeros({t_max, b_max});
  s.mask = torch::zeros({t_max, b_max});
  float *counts = s.counts.data_ptr<float>(), *location = s.location.data_ptr<float>();
  float *reward = s.reward.data_ptr<float>(), *terminal = s.terminal.data_ptr<float>(),
        *mask = s.mask.data_ptr<float>();
  auto* rule = s.rule.data_ptr<int64_t>();
  for (int64_t b = 0; b < b_max; ++b) {
    const auto& e = *episodes[static_cast<size_t>(b)];
    const auto length = static_cast<int64_t>(e.steps.size());
    for (int64_t t = 0; t <= length; ++t) {
      const auto& o = t < length ? e.steps[static_cast<size_t>(t)].observation : e.last;
      s.observations[static_cast<size_t>(t)][static_cast<size_t>(b)] = &o;
      const int64_t at = t * b_max + b;
      std::copy(o.counts.begin(), o.counts.end(), counts + at * x_max);
      if (t == length) continue;
      const auto& step = e.steps[static_cast<size_t>(t)];
      rule[at] = step.action.rule;
      const auto place = nets::location_features(step.action, o.counts, spec.max_locations);
      std::copy(place.begin(), place.end(), location + 2 * at);
      reward[at] = step.reward;
      mask[at] = 1;
    }
    if (e.terminal && length > 0) terminal[(length - 1) * b_max + b] = 1;
  }
  return s;
}

}  // namespace rlgo::learner
