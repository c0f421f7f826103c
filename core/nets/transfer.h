// Tensors of the host on their way to a device, without a wait of the host.
#pragma once

#include <torch/types.h>

namespace rlgo::nets {

// On the CPU the tensor itself. Else it is copied to pinned memory, which LibTorch keeps until the device has read it,
// and from there next to what the host does next. What lies on the device already stays.
inline torch::Tensor to_device(const torch::Tensor& host, torch::Device device) {
  if (device.is_cpu() || !host.is_cpu()) return host.to(device);
  return host.pin_memory().to(device, /*non_blocking=*/true);
}
// As numbers of `type`, converted on the host.
inline torch::Tensor to_device(const torch::Tensor& host, torch::Device device, torch::ScalarType type) {
  return to_device(host.to(type), device);
}

}  // namespace rlgo::nets
