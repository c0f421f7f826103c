#include "core/exec/tensors.h"

#include <ATen/Parallel.h>

#include <cstring>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::exec {

using ops::DType;

at::ScalarType to_torch(DType dtype, Precision precision) {
  switch (dtype) {
    case DType::other:
    case DType::f32:
      return precision == Precision::native ? at::kFloat : at::kDouble;
    case DType::f64:
      return at::kDouble;
    case DType::f16:
      return precision == Precision::native ? at::kHalf : at::kDouble;
    case DType::bf16:
      return precision == Precision::native ? at::kBFloat16 : at::kDouble;
    case DType::u8:
      return at::kByte;
    case DType::i8:
      return at::kChar;
    case DType::u16:
      return at::kUInt16;
    case DType::i16:
      return at::kShort;
    case DType::u32:
      return at::kUInt32;
    case DType::i32:
      return at::kInt;
    case DType::u64:
      return at::kUInt64;
    case DType::i64:
      return at::kLong;
    case DType::boolean:
      return at::kBool;
  }
  fail("internal: dtype {} is not in the list (this is a bug of rlgo)", static_cast<int>(dtype));
}

DType from_torch(at::ScalarType type) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::u8, DType::i8, DType::u16, DType::i16,
                      DType::u32, DType::i32, DType::u64, DType::i64, DType::boolean}) {
    if (to_torch(dtype) == type) return dtype;
  }
  return DType::other;
}

at::Device to_torch(const Device& device) {
  if (device.kind == Device::Kind::cpu) return at::Device(at::kCPU);
  return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device.index));
}

ops::TensorType type_of(const at::Tensor& tensor) {
  const auto sizes = tensor.sizes();
  return {from_torch(tensor.scalar_type()), ops::Shape(std::span<const int64_t>(sizes.data(), sizes.size()))};
}

std::vector<int64_t> sizes_of(const ops::TensorType& type) {
  std::vector<int64_t> sizes;
  for (int64_t extent : type.shape) sizes.push_back(extent < 0 ? 1 : extent);
  return sizes;
}

at::Tensor to_tensor(const graph::Blob& blob) {
  if (!blob.available())
    fail("the contents of a weight of type {} were left behind; load the model again", to_string(blob.type()));
  const auto bytes = blob.share();
  RLGO_CHECK_EQ(static_cast<int64_t>(bytes->size()), blob.type().bytes());
  // LibTorch has no tensors of constant memory; kernels read their inputs.
  return at::from_blob(
      const_cast<char*>(bytes->data()), sizes_of(blob.type()), [bytes](void*) {},
      at::TensorOptions(to_torch(blob.type().dtype)));
}

at::Tensor to_torch(const evaluate::Tensor& tensor) {
  return at::from_blob(
      const_cast<void*>(tensor.raw()), sizes_of(tensor.type()), [tensor](void*) {},
      at::TensorOptions(to_torch(tensor.dtype())));
}

evaluate::Tensor from_torch(const at::Tensor& tensor) {
  const auto type = type_of(tensor);
  evaluate::Tensor copy(type.dtype, type.shape);
  std::memcpy(copy.raw(), tensor.cpu().contiguous().const_data_ptr(), static_cast<size_t>(copy.bytes()));
  return copy;
}

at::Tensor WeightStore::load(const graph::Blob& blob, at::ScalarType dtype) {
  const uint64_t content = hash_combine(blob.content_hash(), blob.type().hash());
  at::Tensor& tensor = tensors_[hash_combine(content, static_cast<uint64_t>(dtype))];
  if (!tensor.defined()) tensor = to_tensor(blob).to(dtype).to(to_torch(device_));
  return tensor;
}

std::string reason_of(const c10::Error& error) {
  const std::string_view text = error.what_without_backtrace();
  return std::string(text.substr(0, text.find('\n')));
}

ThreadScope::ThreadScope(int threads) : before_(at::get_num_threads()) {
  if (threads < 1) fail("{} threads: at least 1 is needed", threads);
  at::set_num_threads(threads);
}
ThreadScope::~ThreadScope() { at::set_num_threads(before_); }

}  // namespace rlgo::exec
