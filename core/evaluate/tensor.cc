#include "core/evaluate/tensor.h"

#include <cstdlib>
#include <new>

namespace rlgo::evaluate {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest vector

}  // namespace

Tensor::Tensor(ops::DType dtype, const ops::Shape& shape)
    : dtype_(dtype == ops::DType::other ? ops::DType::f32 : dtype), shape_(shape) {
  for (auto& extent : shape_) extent = extent < 0 ? 1 : extent;
  elements_ = ops::TensorType(dtype_, shape_).elements();
  const auto wanted = static_cast<size_t>(ops::TensorType(dtype_, shape_).bytes());
  void* memory = std::aligned_alloc(kAlignment, (wanted / kAlignment + 1) * kAlignment);
  if (memory == nullptr) fail("a tensor of {} bytes does not fit into memory", wanted);
  data_ = std::shared_ptr<void>(memory, [](void* p) { std::free(p); });
}

Tensor Tensor::of(const graph::Blob& blob) {
  if (!blob.available())
    fail("the contents of a weight of type {} were left behind; load the model again", to_string(blob.type()));
  const auto bytes = blob.share();
  RLGO_CHECK_EQ(static_cast<int64_t>(bytes->size()), blob.type().bytes());
  Tensor out;
  out.dtype_ = blob.type().dtype;
  out.shape_ = blob.type().shape;
  out.elements_ = blob.type().elements();
  // Kernels never write to their inputs.
  out.data_ = std::shared_ptr<void>(bytes, const_cast<char*>(bytes->data()));
  return out;
}

Tensor Tensor::reshaped(const ops::Shape& shape) const {
  RLGO_CHECK_EQ(ops::TensorType(dtype_, shape).elements(), elements_);
  Tensor out = *this;
  out.shape_ = shape;
  return out;
}

}  // namespace rlgo::evaluate
