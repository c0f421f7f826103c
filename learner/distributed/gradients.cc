// Why buckets: one sum over the learners for each parameter would wait for a message each. Gradients of about a
// megabyte are summed as soon as the backward pass has all of them, while it continues with the layers below.
#include "learner/distributed/gradients.h"

#include <ATen/ops/_fused_adam.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <cmath>
#include <map>
#include <utility>

#include "core/base/error.h"

namespace rlgo::learner {

using torch::Tensor;

namespace {

constexpr int64_t kBucketBytes = 1 << 20;
constexpr int64_t kAlignBytes = 16;  // of each gradient: kernels read four floats at once where they may

comm::Number number_of(const Tensor& tensor) {
  return tensor.scalar_type() == torch::kFloat64 ? comm::Number::f64 : comm::Number::f32;
}

}  // namespace

GradientSum::GradientSum(std::vector<Tensor> parameters, std::shared_ptr<LearnerGroup> group)
    : parameters_(std::move(parameters)), group_(std::move(group)) {
  RLGO_CHECK(!parameters_.empty());
  for (const auto& p : parameters_) {
    if (p.options().device() != parameters_[0].device() || p.scalar_type() != parameters_[0].scalar_type())
      fail("gradients: the parameters differ in type or device");
  }
  make_buckets();
  if (group_->gpu() != nullptr) add_hooks();
}

GradientSum::~GradientSum() {
  for (const auto& [node, key] : hooks_) node->del_post_hook(key);
}

void GradientSum::make_buckets() {
  // What travels while backward continues is cut; the host's sum is one.
  const int64_t limit = group_->gpu() != nullptr ? kBucketBytes / static_cast<int64_t>(parameters_[0].element_size())
                                                 : std::numeric_limits<int64_t>::max();
  const int64_t align = kAlignBytes / static_cast<int64_t>(parameters_[0].element_size());
  const auto room = [&](size_t i) { return (parameters_[i].numel() + align - 1) / align * align; };
  std::vector<int64_t> sizes;
  for (size_t i = parameters_.size(); i-- > 0;) {
    if (buckets_.empty() || sizes.back() >= limit) {
      buckets_.emplace_back();
      sizes.push_back(0);
    }
    buckets_.back().members.push_back(i);
    sizes.back() += room(i);
  }
  views_.resize(parameters_.size());
  for (size_t b = 0; b < buckets_.size(); ++b) {
    auto& bucket = buckets_[b];
    bucket.flat = torch::zeros({sizes[b]}, parameters_[0].options().requires_grad(false));
    if (!bucket.flat.is_cpu() && group_->gpu() == nullptr && group_->size() > 1)
      bucket.staging = torch::empty({sizes[b]}, bucket.flat.options().device(torch::kCPU).pinned_memory(true));
    int64_t at = 0;
    for (size_t i : bucket.members) {
      views_[i] = bucket.flat.slice(0, at, at + parameters_[i].numel()).view(parameters_[i].sizes());
      at += room(i);
    }
  }
}

void GradientSum::add_hooks() {
  for (size_t b = 0; b < buckets_.size(); ++b) {
    for (size_t i : buckets_[b].members) {
      auto node = torch::autograd::impl::grad_accumulator(parameters_[i]);
      const auto key = node->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
          [this, b](const torch::autograd::variable_list& outputs, const torch::autograd::variable_list&) {
            arrived(b);
            return outputs;
          }));
      hooks_.emplace_back(std::move(node), key);
    }
  }
}

void GradientSum::begin() {
  for (auto& bucket : buckets_) {
    bucket.flat.zero_();
    bucket.missing = bucket.members.size();
    bucket.sent = false;
  }
  for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i].mutable_grad() = views_[i];
}

// In order, so that all learners sum the same buckets at the same time, whatever their batches use.
void GradientSum::arrived(size_t b) {
  if (buckets_[b].missing == 0 || --buckets_[b].missing > 0) return;
  for (auto& bucket : buckets_) {
    if (bucket.missing > 0) return;
    if (!bucket.sent) send(bucket);
  }
}

void GradientSum::send(Bucket& bucket) {
  bucket.sent = true;
  const auto count = static_cast<size_t>(bucket.flat.numel());
  if (group_->gpu() != nullptr) {
    group_->gpu()->begin_sum(bucket.flat.data_ptr(), count, number_of(bucket.flat));
  } else if (bucket.staging.defined()) {
    bucket.staging.copy_(bucket.flat);
    group_->host()->begin_sum(bucket.staging.data_ptr(), count, number_of(bucket.flat));
    bucket.flat.copy_(bucket.staging, /*non_blocking=*/true);
  } else if (group_->host() != nullptr) {
    group_->host()->begin_sum(bucket.flat.data_ptr(), count, number_of(bucket.flat));
  }
}

// The norm of the gradients, once those of all learners are there.
Tensor GradientSum::summed() {
  for (auto& bucket : buckets_) {
    if (!bucket.sent) send(bucket);
  }
  if (group_->gpu() != nullptr) group_->gpu()->wait();
  std::vector<Tensor> norms;
  for (const auto& bucket : buckets_) norms.push_back(bucket.flat.norm());
  return torch::stack(norms).norm();
}

double GradientSum::finish(double max_norm) {
  const double norm = summed().item<double>();
  if (!std::isfinite(norm) || max_norm <= 0 || norm <= max_norm) return norm;
  for (auto& bucket : buckets_) bucket.flat.mul_(max_norm / (norm + 1e-6));
  return norm;
}

bool GradientSum::decides_there() const {
  return !parameters_[0].device().is_cpu() && (group_->size() == 1 || group_->gpu() != nullptr);
}

Tensor GradientSum::finish_there(double max_norm) {
  const auto norm = summed().to(torch::kFloat64);
  if (max_norm <= 0) return norm;
  const auto scale = (max_norm / (norm + 1e-6)).clamp_max(1).to(buckets_[0].flat.scalar_type());
  for (auto& bucket : buckets_) bucket.flat.mul_(scale);
  return norm;
}

Tensor finite(const Tensor& number) { return (number - number).eq(0).to(torch::kFloat64); }

namespace {

// there: null where the optimiser counts this step at once.
void step_all(torch::optim::Adam& adam, const StepThere* there) {
  torch::NoGradGuard no_grad;
  for (auto& group : adam.param_groups()) {
    const auto& o = static_cast<const torch::optim::AdamOptions&>(group.options());
    RLGO_CHECK(!o.amsgrad() && o.weight_decay() == 0);
    std::vector<Tensor> parameters, grads, first, second, steps;
    std::map<int64_t, Tensor> step_tensors;
    for (auto& p : group.params()) {
      if (!p.grad().defined()) continue;
      auto& slot = adam.state()[p.unsafeGetTensorImpl()];
      if (!slot) {
        auto fresh = std::make_unique<torch::optim::AdamParamState>();
        fresh->exp_avg(torch::zeros_like(p, torch::MemoryFormat::Preserve));
        fresh->exp_avg_sq(torch::zeros_like(p, torch::MemoryFormat::Preserve));
        slot = std::move(fresh);
      }
      auto& state = static_cast<torch::optim::AdamParamState&>(*slot);
      if (there == nullptr) state.step(state.step() + 1);
      auto& step = step_tensors[state.step()];
      if (!step.defined()) {
        const auto known = static_cast<double>(state.step());
        step = there != nullptr ? there->taken + known
                                : torch::full({}, known, torch::TensorOptions(p.device()).dtype(torch::kFloat32));
      }
      parameters.push_back(p);
      grads.push_back(p.grad());
      first.push_back(state.exp_avg());
      second.push_back(state.exp_avg_sq());
      steps.push_back(step);
    }
    if (parameters.empty()) continue;
    const auto [beta1, beta2] = o.betas();
    at::_fused_adam_(parameters, grads, first, second, {}, steps, o.lr(), beta1, beta2, /*weight_decay=*/0.0, o.eps(),
                     /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/{},
                     /*found_inf=*/there != nullptr ? std::optional<Tensor>(there->skip) : std::nullopt);
  }
}

}  // namespace

void fused_step(torch::optim::Adam& adam) { step_all(adam, nullptr); }

void fused_step(torch::optim::Adam& adam, const StepThere& step) { step_all(adam, &step); }

void count_steps(torch::optim::Adam& adam, int64_t taken) {
  for (auto& [parameter, slot] : adam.state()) {
    auto& state = static_cast<torch::optim::AdamParamState&>(*slot);
    state.step(state.step() + taken);
  }
}

}  // namespace rlgo::learner
