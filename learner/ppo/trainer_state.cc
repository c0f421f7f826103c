// What a PpoTrainer keeps besides the network, as named tensors.
#include <algorithm>

#include "core/base/error.h"
#include "learner/ppo/trainer.h"

namespace rlgo::learner {
namespace {

using torch::Tensor;
using torch::optim::AdamParamState;

constexpr const char* kReturns = "returns";  // [3] float64: decaying sums of mean, square and weight

const Tensor* find(const nets::NamedTensors& state, const std::string& name) {
  const auto found = std::find_if(state.begin(), state.end(), [&](const auto& item) { return item.first == name; });
  return found == state.end() ? nullptr : &found->second;
}

const Tensor& need(const nets::NamedTensors& state, const std::string& name, torch::IntArrayRef sizes) {
  const auto* tensor = find(state, name);
  if (tensor == nullptr) fail("ppo state: tensor '{}' is missing", name);
  if (tensor->sizes() != sizes)
    fail("ppo state: tensor '{}' has {} items in another shape than its parameter", name, tensor->numel());
  return *tensor;
}

}  // namespace

// Names: adam/<parameter>/{step,exp_avg,exp_avg_sq}; parameters that were never stepped have none.
nets::NamedTensors PpoTrainer::state() const {
  nets::NamedTensors result;
  const auto& states = adam_.state();
  for (const auto& item : agent_->named_parameters()) {
    const auto found = states.find(item.value().unsafeGetTensorImpl());
    if (found == states.end()) continue;
    const auto& adam = static_cast<const AdamParamState&>(*found->second);
    const auto prefix = "adam/" + item.key();
    result.emplace_back(prefix + "/step", torch::tensor({adam.step()}, torch::kInt64));
    result.emplace_back(prefix + "/exp_avg", adam.exp_avg().detach().to(torch::kCPU).clone());
    result.emplace_back(prefix + "/exp_avg_sq", adam.exp_avg_sq().detach().to(torch::kCPU).clone());
  }
  result.emplace_back(kReturns, torch::tensor({return_mean_, return_square_, return_weight_}, torch::kFloat64));
  return result;
}

void PpoTrainer::load_state(const nets::NamedTensors& state) {
  const auto returns = need(state, kReturns, {3}).to(torch::kFloat64).contiguous();
  std::vector<std::pair<Tensor, std::unique_ptr<AdamParamState>>> loaded;
  for (const auto& item : agent_->named_parameters()) {
    const auto& parameter = item.value();
    const auto prefix = "adam/" + item.key();
    if (find(state, prefix + "/step") == nullptr) continue;
    auto adam = std::make_unique<AdamParamState>();
    adam->step(need(state, prefix + "/step", {1}).item<int64_t>());
    adam->exp_avg(
        need(state, prefix + "/exp_avg", parameter.sizes()).to(parameter.device(), parameter.scalar_type()).clone());
    adam->exp_avg_sq(
        need(state, prefix + "/exp_avg_sq", parameter.sizes()).to(parameter.device(), parameter.scalar_type()).clone());
    loaded.emplace_back(parameter, std::move(adam));
  }
  if (state.size() != 3 * loaded.size() + 1)
    fail("ppo state: {} tensors, of which {} belong to this network", state.size(), 3 * loaded.size() + 1);
  adam_.state().clear();
  for (auto& [parameter, adam] : loaded) adam_.state()[parameter.unsafeGetTensorImpl()] = std::move(adam);
  const double* moments = returns.const_data_ptr<double>();
  return_mean_ = moments[0];
  return_square_ = moments[1];
  return_weight_ = moments[2];
}

}  // namespace rlgo::learner
