// Updates without a wait of the host: what decides about a step stays where the network is. A minibatch behind the one
// that exceeds target_kl changes nothing there, and the host learns of it when the pass is over. Hence both paths learn
// the same.
#include <algorithm>

#include "core/nets/transfer.h"
#include "learner/ppo/trainer_parts.h"

namespace rlgo::learner {

using torch::Tensor;

PpoTrainer::SumsThere PpoTrainer::start_there() const {
  const auto exact = torch::TensorOptions(agent_->device()).dtype(torch::kFloat64);
  const auto zero = torch::zeros({}, exact);
  return {torch::zeros({SumsThere::kSums}, exact), torch::ones({}, exact), zero, zero,
          torch::zeros({}, exact.dtype(torch::kFloat32))};
}

void PpoTrainer::train_there(Minibatch& m, bool first, SumsThere& there) {
  if (auto* gpu = group_->gpu(); gpu != nullptr)
    gpu->begin_sum(m.parts.data_ptr<double>(), static_cast<size_t>(m.parts.numel()), comm::Number::f64);
  gradients_->begin();
  if (m.loss.defined()) m.loss.backward();
  const auto norm = gradients_->finish_there(options_.max_grad_norm);  // waits for both sums

  const torch::NoGradGuard no_gradients;
  if (m.deviation.defined()) there.deviation = m.deviation.to(torch::kFloat64);
  const auto kl = m.parts[Minibatch::kl];
  there.last_kl = torch::where(there.live > 0, kl, there.last_kl);
  if (!first && options_.target_kl > 0) there.live = there.live * (1 - (kl > options_.target_kl).to(torch::kFloat64));
  const auto is_finite = finite(norm);
  const auto step = there.live * is_finite;
  there.taken = there.taken + step.to(torch::kFloat32);
  fused_step(adam_, {(1 - step).to(torch::kFloat32), there.taken});
  const auto more = torch::stack({torch::ones_like(norm), torch::where(is_finite > 0, norm, torch::zeros_like(norm))});
  there.sums = torch::where(there.live > 0, there.sums + torch::cat({m.parts, more}), there.sums);
}

// The one copy of a pass to the host.
void PpoTrainer::read(const SumsThere& there, bool first, Sums& sums) {
  const auto single = torch::stack({there.live, there.last_kl, there.deviation, there.taken.to(torch::kFloat64)});
  const auto values = torch::cat({there.sums, single, agent_->value_range().to(torch::kFloat64)}).to(torch::kCPU);
  const double* v = values.const_data_ptr<double>();
  auto& stats = sums.stats;
  double* const parts[] = {&stats.policy_loss,      &stats.value_loss, &stats.location_value_loss, &stats.entropy_rule,
                           &stats.entropy_location, &stats.approx_kl,  &stats.clip_fraction};
  for (size_t i = 0; i < Minibatch::kParts; ++i) *parts[i] = v[i];
  stats.minibatches = static_cast<int64_t>(v[SumsThere::minibatches]);
  stats.grad_norm = v[SumsThere::grad_norm];
  const double* rest = v + SumsThere::kSums;
  stats.early_stop = rest[0] == 0;
  stats.last_kl = rest[1];
  if (first) stats.ratio_deviation = rest[2];
  const auto taken = static_cast<int64_t>(rest[3]);
  count_steps(adam_, taken - sums.steps);
  sums.steps = taken;
  stats.skipped = stats.minibatches - taken;
  stats.value_shift = rest[4];
  stats.value_scale = rest[5];
}

}  // namespace rlgo::learner
