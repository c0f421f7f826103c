// A network's parameters and buffers as bytes (messages) and as named tensors (checkpoints).
#pragma once

#include <torch/nn/module.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rlgo::nets {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Parameters, then buffers, by dotted names in registration order. The tensors share memory with the module.
NamedTensors named_tensors(const torch::nn::Module& module);
// Depends on names, shapes and dtypes alone.
uint64_t layout_hash(const torch::nn::Module& module);
// All parameters and buffers, copied from whatever device they are on.
std::string pack(const torch::nn::Module& module);
// The reverse, in place, to whatever device the module is on. Throws Error, and leaves the module as it was, where the
// bytes are damaged or come from a network of another layout.
void unpack(torch::nn::Module& module, std::string_view bytes);
// In-place copy of tensors by name. Throws Error, before any change, naming a tensor that is missing, unknown or of
// another shape.
void load_named(torch::nn::Module& module, const NamedTensors& tensors);

}  // namespace rlgo::nets
