// The parts of batches with one type of number, side by side in one buffer: it crosses to a GPU in one transfer.
// Internal to core/nets.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace rlgo::nets {

template <typename T>
class Arena {
 public:
  // A part to be filled once allocate() has been called. `part` stays where it is until move().
  void add(torch::Tensor* part, std::vector<int64_t> sizes) { put(part, std::move(sizes), 4, {}); }
  // A part [rows, columns] of these numbers, which allocate() copies; without columns: [size]. It lies as a tensor of
  // its own would.
  void add_values(torch::Tensor* part, std::vector<T> values, std::optional<std::pair<int64_t, int64_t>> shape = {}) {
    std::vector<int64_t> sizes = {std::ssize(values)};
    if (shape) sizes = {shape->first, shape->second};
    put(part, std::move(sizes), 16, std::move(values));
  }
  // The parts become views of the buffer. Pinned memory is copied to a GPU while the host continues.
  void allocate(bool pinned) {
    view(torch::empty({used_}, torch::TensorOptions(torch::CppTypeToScalarType<T>::value).pinned_memory(pinned)));
    for (auto& part : parts_) {
      std::copy(part.values.begin(), part.values.end(), part.to->template data_ptr<T>());
      part.values = {};
    }
  }
  void move(torch::Device device) { view(buffer_.to(device, /*non_blocking=*/true)); }
  int64_t bytes() const { return used_ * static_cast<int64_t>(sizeof(T)); }

 private:
  struct Part {
    torch::Tensor* to;
    std::vector<int64_t> sizes;
    int64_t count, at;
    std::vector<T> values;
  };
  // The part begins at a multiple of `align` numbers.
  void put(torch::Tensor* part, std::vector<int64_t> sizes, int64_t align, std::vector<T> values) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    RLGO_CHECK(values.empty() || std::ssize(values) == count);
    used_ = (used_ + align - 1) / align * align;
    parts_.push_back({part, std::move(sizes), count, used_, std::move(values)});
    used_ += count;
  }
  void view(torch::Tensor buffer) {
    buffer_ = std::move(buffer);
    for (const auto& part : parts_) *part.to = buffer_.slice(0, part.at, part.at + part.count).view(part.sizes);
  }
  int64_t used_ = 0;
  torch::Tensor buffer_;
  std::vector<Part> parts_;
};

using Ints = std::vector<int64_t>;
using IntArena = Arena<int64_t>;
using FloatArena = Arena<float>;

}  // namespace rlgo::nets
