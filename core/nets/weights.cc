#include "core/nets/weights.h"

#include <cstring>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::nets {
namespace {

constexpr uint32_t kMagic = 0x57474C52;  // "RLGW"
constexpr size_t kHeaderBytes = sizeof(uint32_t) + sizeof(uint64_t);

size_t bytes_of(const torch::Tensor& tensor) { return static_cast<size_t>(tensor.numel()) * tensor.element_size(); }

}  // namespace

NamedTensors named_tensors(const torch::nn::Module& module) {
  NamedTensors result;
  for (const auto& item : module.named_parameters()) result.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) result.emplace_back(item.key(), item.value());
  return result;
}

uint64_t layout_hash(const torch::nn::Module& module) {
  uint64_t h = 0x1A7;
  for (const auto& [name, tensor] : named_tensors(module)) {
    h = hash_combine(h, hash_string(name));
    h = hash_ints({tensor.sizes().data(), tensor.sizes().size()}, h);
    h = hash_combine(h, static_cast<uint64_t>(tensor.scalar_type()));
  }
  return h;
}

std::string pack(const torch::nn::Module& module) {
  ByteWriter head;
  head.put(kMagic);
  head.put(layout_hash(module));
  std::string bytes = head.take();
  for (const auto& item : named_tensors(module)) {
    const auto host = item.second.detach().to(torch::kCPU).contiguous();
    bytes.append(static_cast<const char*>(host.const_data_ptr()), bytes_of(host));
  }
  return bytes;
}

void unpack(torch::nn::Module& module, std::string_view bytes) {
  ByteReader head(bytes);
  if (head.get<uint32_t>() != kMagic) fail("weights: not a weights message");
  if (const auto hash = head.get<uint64_t>(); hash != layout_hash(module)) {
    fail("weights: made by a network of another layout ({:#x}, this one is {:#x})", hash, layout_hash(module));
  }
  const auto tensors = named_tensors(module);
  size_t expected = kHeaderBytes;
  for (const auto& item : tensors) expected += bytes_of(item.second);
  if (bytes.size() != expected) fail("weights: {} bytes, expected {}", bytes.size(), expected);
  torch::NoGradGuard no_grad;
  const char* next = bytes.data() + kHeaderBytes;
  for (const auto& item : tensors) {
    auto host = torch::empty(item.second.sizes(), item.second.options().device(torch::kCPU).requires_grad(false));
    std::memcpy(host.mutable_data_ptr(), next, bytes_of(host));
    next += bytes_of(host);
    item.second.detach().copy_(host);
  }
}

void load_named(torch::nn::Module& module, const NamedTensors& tensors) {
  const auto own = named_tensors(module);
  std::vector<std::pair<torch::Tensor, torch::Tensor>> copies;
  for (const auto& [name, to] : own) {
    const torch::Tensor* from = nullptr;
    for (const auto& item : tensors) {
      if (item.first == name) from = &item.second;
    }
    if (from == nullptr) fail("weights: tensor '{}' is missing", name);
    if (from->sizes() != to.sizes())
      fail("weights: tensor '{}' has {} items, expected {}", name, from->numel(), to.numel());
    copies.emplace_back(to, *from);
  }
  if (tensors.size() != own.size()) fail("weights: {} tensors, the network has {}", tensors.size(), own.size());
  torch::NoGradGuard no_grad;
  for (auto& [to, from] : copies) to.detach().copy_(from);
}

}  // namespace rlgo::nets
