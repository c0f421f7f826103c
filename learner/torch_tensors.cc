#include "learner/torch_tensors.h"

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace rlgo::learner {
namespace {

constexpr std::array<std::pair<torch::ScalarType, const char*>, 10> kDtypes = {{{torch::kFloat64, "float64"},
                                                                                {torch::kFloat32, "float32"},
                                                                                {torch::kFloat16, "float16"},
                                                                                {torch::kBFloat16, "bfloat16"},
                                                                                {torch::kInt64, "int64"},
                                                                                {torch::kInt32, "int32"},
                                                                                {torch::kInt16, "int16"},
                                                                                {torch::kInt8, "int8"},
                                                                                {torch::kUInt8, "uint8"},
                                                                                {torch::kBool, "bool"}}};

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

NamedTensors tensors_of(const torch::nn::Module& module) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) tensors.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

const TensorData& find(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = checkpoint.tensors.find(name);
  if (found == checkpoint.tensors.end()) fail("checkpoint: no tensor '{}'", name);
  return found->second;
}

void check_shape(const torch::Tensor& stored, const torch::Tensor& target, const std::string& name) {
  if (stored.sizes() != target.sizes() || stored.scalar_type() != target.scalar_type()) {
    fail("checkpoint: tensor '{}' is {} [{}], the network's is {} [{}]", name, torch::toString(stored.scalar_type()),
         fmt::join(stored.sizes(), ","), torch::toString(target.scalar_type()), fmt::join(target.sizes(), ","));
  }
}

std::vector<torch::Tensor> parameters_of(const torch::optim::Adam& optimizer) {
  std::vector<torch::Tensor> all;
  for (const auto& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

}  // namespace

TensorData to_data(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().to(torch::kCPU).contiguous();
  for (const auto& [type, name] : kDtypes) {
    if (type != plain.scalar_type()) continue;
    TensorData data{name, plain.sizes().vec(), std::string(plain.nbytes(), '\0')};
    if (!data.bytes.empty()) std::memcpy(data.bytes.data(), plain.const_data_ptr(), data.bytes.size());
    return data;
  }
  fail("tensors of type {} cannot be stored", torch::toString(plain.scalar_type()));
}

torch::Tensor to_tensor(const TensorData& data) {
  for (const auto& [type, name] : kDtypes) {
    if (name != data.dtype) continue;
    torch::Tensor tensor = torch::empty(data.shape, torch::TensorOptions().dtype(type));
    if (tensor.nbytes() != data.bytes.size())
      fail("tensor data: {} bytes, its shape needs {}", data.bytes.size(), tensor.nbytes());
    if (!data.bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), data.bytes.data(), data.bytes.size());
    return tensor;
  }
  fail("tensor data: unknown type '{}'", data.dtype);
}

std::vector<std::pair<std::string, torch::Tensor>> tensors_with(const Checkpoint& checkpoint,
                                                                const std::string& prefix) {
  std::vector<std::pair<std::string, torch::Tensor>> result;
  for (const auto& [name, data] : checkpoint.tensors) {
    if (name.starts_with(prefix)) result.emplace_back(name.substr(prefix.size()), to_tensor(data));
  }
  return result;
}

void store_module(Checkpoint& checkpoint, const std::string& prefix, const torch::nn::Module& module) {
  for (const auto& [name, tensor] : tensors_of(module)) checkpoint.tensors[prefix + name] = to_data(tensor);
}

void restore_module(const Checkpoint& checkpoint, const std::string& prefix, torch::nn::Module& module) {
  const NamedTensors targets = tensors_of(module);
  NamedTensors sources;
  for (const auto& [name, target] : targets) {
    sources.emplace_back(prefix + name, to_tensor(find(checkpoint, prefix + name)));
    check_shape(sources.back().second, target, prefix + name);
  }
  size_t stored = 0;
  for (auto at = checkpoint.tensors.lower_bound(prefix);
       at != checkpoint.tensors.end() && at->first.starts_with(prefix); ++at)
    ++stored;
  if (stored != targets.size())
    fail("checkpoint: {} tensors '{}*', the network has {}", stored, prefix, targets.size());
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < targets.size(); ++i) torch::Tensor(targets[i].second).copy_(sources[i].second);
}

void store_adam(Checkpoint& checkpoint, const std::string& prefix, torch::optim::Adam& optimizer) {
  const auto parameters = parameters_of(optimizer);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto found = optimizer.state().find(parameters[i].unsafeGetTensorImpl());
    if (found == optimizer.state().end()) continue;
    const auto& state = static_cast<const torch::optim::AdamParamState&>(*found->second);
    const std::string name = fmt::format("{}{}/", prefix, i);
    checkpoint.counters[name + "step"] = state.step();
    checkpoint.tensors[name + "exp_avg"] = to_data(state.exp_avg());
    checkpoint.tensors[name + "exp_avg_sq"] = to_data(state.exp_avg_sq());
    if (state.max_exp_avg_sq().defined()) checkpoint.tensors[name + "max_exp_avg_sq"] = to_data(state.max_exp_avg_sq());
  }
}

void restore_adam(const Checkpoint& checkpoint, const std::string& prefix, torch::optim::Adam& optimizer) {
  const auto parameters = parameters_of(optimizer);
  std::vector<std::unique_ptr<torch::optim::AdamParamState>> states(parameters.size());
  const auto moment = [&](const std::string& name, const torch::Tensor& parameter) {
    const torch::Tensor stored = to_tensor(find(checkpoint, name));
    check_shape(stored, parameter, name);
    return stored.to(parameter.device());
  };
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string name = fmt::format("{}{}/", prefix, i);
    const auto step = checkpoint.counters.find(name + "step");
    if (step == checkpoint.counters.end()) continue;
    states[i] = std::make_unique<torch::optim::AdamParamState>();
    states[i]->step(step->second);
    states[i]->exp_avg(moment(name + "exp_avg", parameters[i]));
    states[i]->exp_avg_sq(moment(name + "exp_avg_sq", parameters[i]));
    if (checkpoint.tensors.contains(name + "max_exp_avg_sq"))
      states[i]->max_exp_avg_sq(moment(name + "max_exp_avg_sq", parameters[i]));
  }
  optimizer.state().clear();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (states[i]) optimizer.state()[parameters[i].unsafeGetTensorImpl()] = std::move(states[i]);
  }
}

}  // namespace rlgo::learner
