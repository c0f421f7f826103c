// Between rlgo's types and blobs and LibTorch's tensors.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/evaluate/tensor.h"
#include "core/exec/device.h"
#include "core/graph/blob.h"

namespace rlgo::exec {

using Tensors = std::vector<at::Tensor>;

// `native` computes in the types of the graph; `f64` holds all floats (f16, bf16, f32) as double ones: for comparisons
// without rounding noise.
enum class Precision { native, f64 };

// `other` (values that only opaque operators read) is held as f32.
at::ScalarType to_torch(ops::DType dtype, Precision precision = Precision::native);
ops::DType from_torch(at::ScalarType type);
at::Device to_torch(const Device& device);
ops::TensorType type_of(const at::Tensor& tensor);
// Unknown extents become 1, an unknown rank becomes 0.
std::vector<int64_t> sizes_of(const ops::TensorType& type);

// The blob's contents on the CPU, in its own dtype. Throws Error where the contents are absent.
at::Tensor to_tensor(const graph::Blob& blob);
// Shares its elements, which nobody may write to.
at::Tensor to_torch(const evaluate::Tensor& tensor);
// A copy on the CPU.
evaluate::Tensor from_torch(const at::Tensor& tensor);

// Contents of weights on one device, made once and shared by several interpreters (of the graphs before and after a
// rewrite, for example). Not thread-safe.
class WeightStore {
 public:
  explicit WeightStore(Device device = {}) : device_(device) {}
  const Device& device() const { return device_; }
  // As `dtype`.
  at::Tensor load(const graph::Blob& blob, at::ScalarType dtype);
  size_t size() const { return tensors_.size(); }

 private:
  Device device_;
  std::unordered_map<uint64_t, at::Tensor> tensors_;  // by content hash mixed with types
};

// LibTorch's reason in one line, without the stack.
std::string reason_of(const c10::Error& error);

// Sets LibTorch's number of intra-operator threads and puts the old one back.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

}  // namespace rlgo::exec
