#include "learner/dream/sequences.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/nets/transfer.h"
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

void add_places(Sequences& s, std::span<const EpisodePlaces* const> places) {
  RLGO_CHECK_EQ(static_cast<int64_t>(places.size()), s.episodes);
  const int64_t width = places[0]->place.size(1), rules = s.counts.size(2);
  s.place = torch::zeros({s.steps, s.episodes, width});
  s.overlap = torch::zeros({s.steps, s.episodes, rules});
  s.gone = torch::zeros({s.steps, s.episodes, rules}, torch::kInt64);
  std::vector<int64_t> step, row, rule;
  std::vector<torch::Tensor> come;
  for (int64_t b = 0; b < s.episodes; ++b) {
    const auto& p = *places[static_cast<size_t>(b)];
    const std::pair<torch::Tensor*, const torch::Tensor*> parts[] = {
        {&s.place, &p.place}, {&s.overlap, &p.overlap}, {&s.gone, &p.gone}};
    for (const auto& [to, from] : parts) to->select(1, b).slice(0, 0, from->size(0)).copy_(*from);
    step.insert(step.end(), p.come_step.begin(), p.come_step.end());
    row.insert(row.end(), p.come_step.size(), b);
    rule.insert(rule.end(), p.come_rule.begin(), p.come_rule.end());
    come.push_back(p.come);
  }
  s.come_step = torch::tensor(step, torch::kInt64);
  s.come_row = torch::tensor(row, torch::kInt64);
  s.come_rule = torch::tensor(rule, torch::kInt64);
  s.come = torch::cat(come);
}

Sequences on_device(const Sequences& s, torch::Device device, torch::ScalarType type) {
  Sequences moved = s;
  for (auto* part : {&moved.rule, &moved.gone, &moved.come_step, &moved.come_row, &moved.come_rule}) {
    if (part->defined()) *part = nets::to_device(*part, device);
  }
  for (auto* part : {&moved.counts, &moved.location, &moved.reward, &moved.terminal, &moved.mask, &moved.place,
                     &moved.overlap, &moved.come}) {
    if (part->defined()) *part = nets::to_device(*part, device, type);
  }
  return moved;
}

nets::WorldInput input_of(const Sequences& s, int64_t begin, int64_t end, const torch::Tensor& z) {
  const auto part = [&](const torch::Tensor& t) {
    return t.defined() ? t.slice(0, begin, end).to(z.device(), z.scalar_type()) : t;
  };
  return {
      z, part(s.counts), s.rule.slice(0, begin, end).to(z.device()), part(s.location), part(s.place), part(s.overlap)};
}

}  // namespace rlgo::learner
