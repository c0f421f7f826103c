// Elements of tensors as double-precision numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/evaluate/interpreter.h"
#include "core/evaluate/tensor.h"
#include "core/evaluate/values.h"

namespace rlgo::verify {

using evaluate::Precision;
using evaluate::Tensor;
using evaluate::TensorMap;
using evaluate::Tensors;
using evaluate::WeightStore;

inline bool has_floats(const Tensor& tensor) { return ops::is_float(tensor.dtype()); }

// Calls visit(place, number) for each element in row-major order.
template <typename Visit>
void each_number(const Tensor& tensor, const Visit& visit) {
  evaluate::visit(tensor.dtype(), [&]<typename T>() {
    const T* elements = tensor.data<T>();
    for (int64_t i = 0; i < tensor.elements(); ++i) visit(i, static_cast<double>(elements[i]));
  });
}

// Whether `holds` is true of any element's number.
template <typename Holds>
bool any_number(const Tensor& tensor, const Holds& holds) {
  return evaluate::visit(tensor.dtype(), [&]<typename T>() {
    const T* elements = tensor.data<T>();
    return std::any_of(elements, elements + tensor.elements(), [&](T x) { return holds(static_cast<double>(x)); });
  });
}

// All of them.
inline std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers(static_cast<size_t>(tensor.elements()));
  each_number(tensor, [&](int64_t i, double number) { numbers[static_cast<size_t>(i)] = number; });
  return numbers;
}

// Of a difference's magnitude: NaN is infinite, and infinity the largest number.
inline double or_infinite(double x) {
  using Limits = std::numeric_limits<double>;
  return std::isnan(x) ? Limits::infinity() : std::min(x, Limits::max());
}
// Of a magnitude whose size is looked for: 0 where it is none.
inline double or_zero(double x) { return std::isfinite(x) ? x : 0; }

}  // namespace rlgo::verify
