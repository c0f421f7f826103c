// A device that is none: memory of the host under another name, on which LibTorch runs its CPU kernels. It counts what
// a GPU would have to carry over the bus, and what of it makes the host wait, so that copies can be tested where there
// is no GPU. What crosses to the host without a wait is poisoned until the host has waited for something.
// fake_device.cc registers it with LibTorch.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace rlgo::test {

struct FakeDevice {
  // Copies, but for those of the kernels themselves; to the host also numbers that it asks for, and sizes that only the
  // device knows (nonzero, masks as indices).
  static inline std::atomic<int64_t> to_device{0}, to_host{0};
  // Of those to the device: the host waits, as it asked for that, or as the memory is not pinned.
  static inline std::atomic<int64_t> blocking{0}, pageable{0};
  static inline std::atomic<int64_t> flattened{0};  // calls of cuDNN's for the weights of an LSTM
  static void reset() { to_device = to_host = blocking = pageable = flattened = 0; }
  static torch::Device device() { return {torch::kPrivateUse1, 0}; }
};

namespace fake_device {

inline thread_local int kernels = 0;  // depth of calls of CPU kernels

class Memory : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto host = c10::GetCPUAllocator()->allocate(bytes);
    const auto free = host.get_deleter();
    void* const at = host.release_context();
    return {at, at, free, FakeDevice::device()};
  }
  c10::DeleterFnPtr raw_deleter() const override { return c10::GetCPUAllocator()->raw_deleter(); }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
};
inline Memory memory;

// Pinned memory of the host; freed pieces stay, so that their addresses are nobody else's.
class Pinned : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto* at = new char[bytes + 1];
    const std::lock_guard lock(mutex_);
    pieces_[at] = bytes + 1;
    return {at, at, [](void*) {}, c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
  bool holds(const void* data) const {
    const std::lock_guard lock(mutex_);
    const auto after = pieces_.upper_bound(static_cast<const char*>(data));
    return after != pieces_.begin() && data < std::prev(after)->first + std::prev(after)->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<const char*, size_t> pieces_;
};
inline Pinned pinned;

// Copies to the host that are under way.
inline std::vector<std::function<void()>> under_way;
inline void synchronize() {
  for (const auto& copy : std::exchange(under_way, {})) copy();
}
constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

// The same memory under the host's name.
inline torch::Tensor on_host(const torch::Tensor& t) {
  return at::from_blob(t.data_ptr(), t.sizes(), t.strides(), torch::TensorOptions(t.scalar_type()));
}

inline torch::Tensor empty(c10::IntArrayRef size, std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                           std::optional<c10::Device>, std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  return torch::Tensor(at::detail::empty_generic(size, &memory, kKeys, c10::dtype_or_default(type), format));
}
inline torch::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<c10::ScalarType> type,
                                   std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>) {
  return torch::Tensor(at::detail::empty_strided_generic(size, stride, &memory, kKeys, c10::dtype_or_default(type)));
}
inline torch::Tensor copy_from(const torch::Tensor& from, const torch::Tensor& to, bool non_blocking) {
  if (kernels == 0 && from.is_cpu() && !to.is_cpu()) {
    ++FakeDevice::to_device;
    if (!non_blocking) {
      ++FakeDevice::blocking;
    } else if (from.numel() > 0 && !pinned.holds(from.const_data_ptr())) {
      ++FakeDevice::pageable;
    }
  }
  if (kernels == 0 && to.is_cpu() && !from.is_cpu()) {
    ++FakeDevice::to_host;
    if (non_blocking) {
      const auto copy = on_host(from).clone();  // the stream's order: later kernels do not change it
      std::memset(to.data_ptr(), 0xFF, to.nbytes());
      under_way.emplace_back([copy, to] { to.copy_(copy); });
      return to;
    }
    synchronize();
  }
  on_host(to).copy_(on_host(from));
  return to;
}
// As cuDNN's: the weights become views of one buffer.
inline torch::Tensor flatten(at::TensorList weights, int64_t, c10::SymInt, int64_t, c10::SymInt, c10::SymInt, int64_t,
                             bool, bool) {
  ++FakeDevice::flattened;
  int64_t size = 0;
  for (const auto& w : weights) size += w.numel();
  auto all = torch::empty({size}, weights[0].options());
  int64_t at = 0;
  for (const auto& w : weights) {
    auto part = all.slice(0, at, at + w.numel()).view(w.sizes());
    on_host(part).copy_(on_host(w));
    w.unsafeGetTensorImpl()->set_storage_keep_dtype(all.storage());
    w.unsafeGetTensorImpl()->set_storage_offset(at);
    at += w.numel();
  }
  return all;
}
inline const torch::Tensor& fit(const torch::Tensor& t, c10::IntArrayRef size, std::optional<c10::MemoryFormat>) {
  auto* impl = t.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(size);
  const size_t bytes = (static_cast<size_t>(t.storage_offset()) + static_cast<size_t>(t.numel())) * t.element_size();
  auto* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  if (storage->nbytes() < bytes) {
    storage->set_data_ptr_noswap(memory.allocate(bytes));
    storage->set_nbytes(bytes);
  }
  return t;
}
inline torch::Tensor copy_from_and_resize(const torch::Tensor& from, const torch::Tensor& to) {
  if (to.sizes() != from.sizes()) fit(to, from.sizes(), {});
  return copy_from(from, to, false);
}
inline torch::Scalar item(const torch::Tensor& t) {
  ++FakeDevice::to_host;
  synchronize();
  return on_host(t).item();
}
// Kernels whose result has a size that the host must ask for.
inline bool asks_for_size(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& name = op.schema().name();
  const auto arguments = torch::jit::last(stack, op.schema().arguments().size());
  if (name == "aten::nonzero" || name == "aten::masked_select" || name == "aten::_unique2") return true;
  if (name == "aten::repeat_interleave") return arguments.back().isNone();
  if (name != "aten::index" && name != "aten::_index_put_impl_") return false;
  for (const auto& index : arguments[1].toListRef()) {
    if (index.isTensor() && index.toTensor().scalar_type() == torch::kBool) return true;
  }
  return false;
}
inline void kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (kernels == 0 && asks_for_size(op, *stack)) {
    ++FakeDevice::to_host;
    synchronize();
  }
  struct Depth {
    Depth() { ++kernels; }
    ~Depth() { --kernels; }
  } depth;
  at::native::cpu_fallback(op, stack);
}

// A step of an LSTM, which LibTorch asks of devices as one kernel (gates i, f, g, o), and its gradient.
using OptionalTensor = std::optional<torch::Tensor>;
inline std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> lstm(const torch::Tensor& input,
                                                                    const torch::Tensor& hidden,
                                                                    const torch::Tensor& cx,
                                                                    const OptionalTensor& input_bias,
                                                                    const OptionalTensor& hidden_bias) {
  auto sum = input + hidden;
  if (input_bias) sum = sum + *input_bias + *hidden_bias;
  const auto part = sum.chunk(4, 1);
  const auto i = part[0].sigmoid(), f = part[1].sigmoid(), g = part[2].tanh(), o = part[3].sigmoid();
  const auto cy = f * cx + i * g;
  return {o * cy.tanh(), cy, torch::cat({i, f, g, o}, 1)};
}
inline std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> lstm_backward(const OptionalTensor& grad_hy,
                                                                             const OptionalTensor& grad_cy,
                                                                             const torch::Tensor& cx,
                                                                             const torch::Tensor& cy,
                                                                             const torch::Tensor& workspace, bool) {
  const auto part = workspace.chunk(4, 1);
  const auto &i = part[0], &f = part[1], &g = part[2], &o = part[3];
  const auto dh = grad_hy && grad_hy->defined() ? *grad_hy : torch::zeros_like(cy);
  const auto t = cy.tanh();
  auto dc = dh * o * (1 - t * t);
  if (grad_cy && grad_cy->defined()) dc = dc + *grad_cy;
  const auto gates =
      torch::cat({dc * g * i * (1 - i), dc * cx * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o)}, 1);
  return {gates, dc * f, gates.sum(0)};
}

struct Streams : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1> {
  c10::Device getDevice() const override { return FakeDevice::device(); }
  c10::Device exchangeDevice(c10::Device) const override { return FakeDevice::device(); }
  c10::Stream getStream(c10::Device) const noexcept override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, FakeDevice::device()); }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { synchronize(); }
  void synchronizeDevice(c10::DeviceIndex) const override { synchronize(); }
};
struct Hooks : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned; }
  bool isPinnedPtr(const void* data) const override { return pinned.holds(data); }
};
inline Hooks hooks;
inline const bool registered =
    (at::RegisterPrivateUse1HooksInterface(&hooks), c10::register_privateuse1_backend("fake"), true);

}  // namespace fake_device

// What torch::nn::Module::to does, which refuses devices that it does not know.
inline void to_fake_device(torch::nn::Module& module, torch::Device device = FakeDevice::device()) {
  const torch::NoGradGuard no_gradients;
  auto tensors = module.parameters();
  const auto buffers = module.buffers();
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  for (const auto& t : tensors) t.unsafeGetTensorImpl()->shallow_copy_from(t.detach().to(device).getIntrusivePtr());
}

}  // namespace rlgo::test
