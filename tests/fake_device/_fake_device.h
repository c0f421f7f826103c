// A device that is none: memory of the host under another name, on which LibTorch runs its CPU kernels. It counts what
// a GPU would have to carry over the bus, so that copies can be tested where there is no GPU. Include it once a
// program.
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

namespace rlgo::test {

struct FakeDevice {
  static inline std::atomic<int64_t> to_device{0}, to_host{0};  // copies, but for those of the kernels themselves
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
inline torch::Tensor copy_from(const torch::Tensor& from, const torch::Tensor& to, bool) {
  if (kernels == 0 && from.is_cpu() && !to.is_cpu()) ++FakeDevice::to_device;
  if (kernels == 0 && to.is_cpu() && !from.is_cpu()) ++FakeDevice::to_host;
  on_host(to).copy_(on_host(from));
  return to;
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
  return on_host(t).item();
}
inline void kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ++kernels;
  at::native::cpu_fallback(op, stack);
  --kernels;
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
};
struct Hooks : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
};
inline Hooks hooks;
inline const bool registered =
    (at::RegisterPrivateUse1HooksInterface(&hooks), c10::register_privateuse1_backend("fake"), true);

}  // namespace fake_device

// What torch::nn::Module::to does, which refuses devices that it does not know.
inline void to_fake_device(torch::nn::Module& module) {
  const torch::NoGradGuard no_gradients;
  auto tensors = module.parameters();
  const auto buffers = module.buffers();
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  for (const auto& t : tensors)
    t.unsafeGetTensorImpl()->shallow_copy_from(t.detach().to(FakeDevice::device()).getIntrusivePtr());
}

C10_REGISTER_GUARD_IMPL(PrivateUse1, fake_device::Streams)

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", fake_device::empty);
  m.impl("empty_strided", fake_device::empty_strided);
  m.impl("resize_", fake_device::fit);
  m.impl("_copy_from", fake_device::copy_from);
  m.impl("_copy_from_and_resize", fake_device::copy_from_and_resize);
  m.impl("_local_scalar_dense", fake_device::item);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("view", at::native::view);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fake_device::kernel>()); }

}  // namespace rlgo::test
