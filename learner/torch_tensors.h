// Between LibTorch tensors and checkpoints.
#pragma once

#include <torch/nn/module.h>
#include <torch/optim/adam.h>

#include <string>
#include <utility>
#include <vector>

#include "learner/checkpoint.h"

namespace rlgo::learner {

// A copy on the CPU of a tensor on any device, any strides. Throws Error for types that checkpoints do not know.
TensorData to_data(const torch::Tensor& tensor);
// A new tensor on the CPU that owns its memory.
torch::Tensor to_tensor(const TensorData& data);

// The tensors whose names begin with `prefix`, without it.
std::vector<std::pair<std::string, torch::Tensor>> tensors_with(const Checkpoint& checkpoint,
                                                                const std::string& prefix);

// Parameters and buffers of a module as "<prefix><name>", e.g. prefix "policy/".
void store_module(Checkpoint& checkpoint, const std::string& prefix, const torch::nn::Module& module);
// Copies them back, in place, on whatever device they are. Throws Error, before any change, where one is missing or has
// another shape or type, or where the checkpoint has one with this prefix that the module lacks.
void restore_module(const Checkpoint& checkpoint, const std::string& prefix, torch::nn::Module& module);

// State of an Adam optimiser as "<prefix><i>/exp_avg", "/exp_avg_sq" (and "/max_exp_avg_sq"), with i counting the
// parameters over all groups; step counts go to counters "<prefix><i>/step". Parameters that have not been stepped yet
// have none. Learning rates are options, not state: the caller restores them.
void store_adam(Checkpoint& checkpoint, const std::string& prefix, torch::optim::Adam& optimizer);
// Throws Error, before any change, where a stored tensor does not have its parameter's shape.
void restore_adam(const Checkpoint& checkpoint, const std::string& prefix, torch::optim::Adam& optimizer);

}  // namespace rlgo::learner
