// Operators on small constants whose results stand where indices point: masks and positions as exporters compute them.
#include <algorithm>
#include <cmath>

#include "core/onnx/evaluate.h"

namespace rlgo::onnx_io {
namespace {

using ops::DType;
using ops::Shape;
using Result = std::optional<Constant>;
using Place = std::vector<int64_t>;

void put(Constant& to, size_t at, const Constant& from, size_t index) {
  if (from.is_float())
    to.floats[at] = from.floats[index];
  else
    to.ints[at] = from.ints[index];
}

Result zeros(DType dtype, const Shape& shape) {
  auto result = empty_like(dtype, shape);
  if (!result) return std::nullopt;
  const auto count = static_cast<size_t>(result->type.elements());
  if (result->is_float())
    result->floats.assign(count, 0.0);
  else
    result->ints.assign(count, 0);
  return result;
}

// Row-major number of the element at `place`; nothing where it lies outside. Negative indices count from the end.
std::optional<size_t> number_at(const Shape& shape, std::span<const int64_t> place) {
  int64_t number = 0;
  for (size_t d = 0; d < place.size(); ++d) {
    const auto index = normal_axis(place[d], static_cast<int>(shape[d]));
    if (!index) return std::nullopt;
    number = number * shape[d] + *index;
  }
  return static_cast<size_t>(number);
}

bool is_list_of_indices(const Constant& indices, const Constant& data) {
  return !indices.is_float() && indices.type.rank() >= 1 && data.type.rank() >= 1;
}

std::optional<int64_t> axis_of(const OnnxNode& node, int64_t fallback, int rank) {
  return normal_axis(node.i("axis", fallback), rank);
}

// GatherElements, and where `updates` is given, ScatterElements.
Result by_elements(const OnnxNode& node, const Constant* updates) {
  const Constant &data = *node.constants[0], &indices = *node.constants[1];
  const auto axis = axis_of(node, 0, data.type.rank());
  if (!axis || indices.is_float() || indices.type.rank() != data.type.rank()) return std::nullopt;
  if (updates != nullptr && (updates->type.shape != indices.type.shape || updates->type.dtype != data.type.dtype ||
                             node.s("reduction", "none") != "none"))
    return std::nullopt;
  Result result = updates != nullptr ? Result(data) : zeros(data.type.dtype, indices.type.shape);
  bool good = result.has_value();
  if (good) {
    for_each_place(indices.type.shape, [&](int64_t k, const Place& place) {
      Place there = place;
      there[static_cast<size_t>(*axis)] = indices.ints[static_cast<size_t>(k)];
      const auto at = number_at(data.type.shape, there);
      good = good && at;
      if (good && updates != nullptr) put(*result, *at, *updates, static_cast<size_t>(k));
      if (good && updates == nullptr) put(*result, static_cast<size_t>(k), data, *at);
    });
  }
  return good ? result : std::nullopt;
}

Result gather_elements(const OnnxNode& node) { return by_elements(node, nullptr); }
Result scatter_elements(const OnnxNode& node) { return by_elements(node, node.constants[2]); }

// GatherND, and where `updates` is given, ScatterND: each row of the last axis of `indices` is a place in `data`.
Result by_rows(const OnnxNode& node, const Constant* updates) {
  const Constant &data = *node.constants[0], &indices = *node.constants[1];
  if (!is_list_of_indices(indices, data) || node.i("batch_dims", 0) != 0) return std::nullopt;
  const auto length = static_cast<size_t>(indices.type.shape.back()), rank = data.type.shape.size();
  if (length > rank || length == 0) return std::nullopt;
  Shape shape(std::span<const int64_t>(indices.type.shape.begin(), indices.type.shape.end() - 1));
  int64_t each = 1;
  for (size_t d = length; d < rank; ++d) {
    shape.push_back(data.type.shape[d]);
    each *= data.type.shape[d];
  }
  if (updates != nullptr &&
      (updates->type.shape != shape || updates->type.dtype != data.type.dtype || node.s("reduction", "none") != "none"))
    return std::nullopt;
  Result result = updates != nullptr ? Result(data) : zeros(data.type.dtype, shape);
  if (!result) return std::nullopt;
  for (size_t row = 0; row * length < indices.ints.size(); ++row) {
    const auto at = number_at(data.type.shape, std::span(indices.ints).subspan(row * length, length));
    if (!at) return std::nullopt;
    for (size_t k = 0; k < static_cast<size_t>(each); ++k) {
      const size_t inside = *at * static_cast<size_t>(each) + k, outside = row * static_cast<size_t>(each) + k;
      if (updates != nullptr)
        put(*result, inside, *updates, outside);
      else
        put(*result, outside, data, inside);
    }
  }
  return result;
}

Result gather_nd(const OnnxNode& node) { return by_rows(node, nullptr); }
Result scatter_nd(const OnnxNode& node) { return by_rows(node, node.constants[2]); }

// Of integers: their sums do not depend on the order.
Result cumsum(const OnnxNode& node) {
  const Constant &from = *node.constants[0], &along = *node.constants[1];
  if (from.is_float() || along.ints.size() != 1) return std::nullopt;
  const auto axis = normal_axis(along.ints[0], from.type.rank());
  if (!axis || node.i("exclusive", 0) != 0 || node.i("reverse", 0) != 0) return std::nullopt;
  Constant result = from;
  size_t stride = 1;
  for (size_t d = static_cast<size_t>(*axis) + 1; d < from.type.shape.size(); ++d)
    stride *= static_cast<size_t>(from.type.shape[d]);
  bool good = true;
  for_each_place(from.type.shape, [&](int64_t k, const Place& place) {
    const auto at = static_cast<size_t>(k);
    if (place[static_cast<size_t>(*axis)] == 0) return;
    good = good && !__builtin_add_overflow(result.ints[at], result.ints[at - stride], &result.ints[at]) &&
           fits(from.type.dtype, result.ints[at]);
  });
  return good ? Result(std::move(result)) : std::nullopt;
}

Result trilu(const OnnxNode& node) {
  const Constant* shift = node.constant(1);
  Constant result = *node.constants[0];
  const size_t rank = result.type.shape.size();
  if (rank < 2 || (shift != nullptr && shift->ints.size() != 1)) return std::nullopt;
  const int64_t k = shift != nullptr ? shift->ints[0] : 0;
  const bool upper = node.i("upper", 1) != 0;
  for_each_place(result.type.shape, [&](int64_t number, const Place& place) {
    const int64_t right = place[rank - 1] - place[rank - 2];
    if (upper ? right >= k : right <= k) return;
    if (result.is_float())
      result.floats[static_cast<size_t>(number)] = 0;
    else
      result.ints[static_cast<size_t>(number)] = 0;
  });
  return result;
}

Result non_zero(const OnnxNode& node) {
  const Constant& from = *node.constants[0];
  const size_t rank = from.type.shape.size();
  if (rank == 0) return std::nullopt;
  std::vector<Ints> found(rank);
  for_each_place(from.type.shape, [&](int64_t k, const Place& place) {
    const auto at = static_cast<size_t>(k);
    if (from.is_float() ? from.floats[at] == 0 : from.ints[at] == 0) return;
    for (size_t d = 0; d < rank; ++d) found[d].push_back(place[d]);
  });
  Constant result{{DType::i64, {static_cast<int64_t>(rank), static_cast<int64_t>(found[0].size())}}, {}, {}};
  for (const Ints& axis : found) result.ints.insert(result.ints.end(), axis.begin(), axis.end());
  return result;
}

Result one_hot(const OnnxNode& node) {
  const Constant &indices = *node.constants[0], &depth = *node.constants[1], &values = *node.constants[2];
  const auto axis = axis_of(node, -1, indices.type.rank() + 1);
  if (!axis || indices.is_float() || depth.ints.size() != 1 || depth.ints[0] < 1 || values.size() != 2)
    return std::nullopt;
  Shape shape;
  for (int64_t d = 0; d <= indices.type.rank(); ++d) {
    if (d == *axis) shape.push_back(depth.ints[0]);
    if (d < indices.type.rank()) shape.push_back(indices.type.shape[static_cast<size_t>(d)]);
  }
  auto result = zeros(values.type.dtype, shape);
  if (!result) return std::nullopt;
  for_each_place(shape, [&](int64_t k, const Place& place) {
    Place there = place;
    const int64_t level = there[static_cast<size_t>(*axis)];
    there.erase(there.begin() + *axis);
    const int64_t index = indices.ints[broadcast_index(indices.type.shape, there)];
    put(*result, static_cast<size_t>(k), values, level == (index < 0 ? index + depth.ints[0] : index) ? 1 : 0);
  });
  return result;
}

Result eye_like(const OnnxNode& node) {
  const auto& type = node.output_types[0];
  if (!type.is_static() || type.rank() != 2) return std::nullopt;
  auto result = zeros(type.dtype, type.shape);
  const int64_t k = node.i("k", 0);
  if (!result || type.dtype == DType::u64) return std::nullopt;
  for_each_place(type.shape, [&](int64_t number, const Place& place) {
    if (place[1] - place[0] != k) return;
    if (result->is_float())
      result->floats[static_cast<size_t>(number)] = 1;
    else
      result->ints[static_cast<size_t>(number)] = 1;
  });
  return result;
}

// Of integers, over some axes.
Result reduce(const OnnxNode& node) {
  const auto& from = *node.constants[0];
  bool known = true;
  auto given = node.ints_of("axes", 1, known);
  if (from.is_float() || from.ints.empty() || !known) return std::nullopt;
  if (!given || given->empty()) {
    if (node.i("noop_with_empty_axes", 0) != 0) return std::nullopt;
    given.emplace();
    for (int64_t d = 0; d < from.type.rank(); ++d) given->push_back(d);
  }
  const auto axes = normal_axes(*given, from.type.rank());
  if (!axes) return std::nullopt;
  Shape with_ones = from.type.shape, shape;
  for (const int64_t axis : *axes) with_ones[static_cast<size_t>(axis)] = 1;
  const bool keep = node.i("keepdims", 1) != 0;
  for (int64_t d = 0; d < from.type.rank(); ++d) {
    if (keep || !std::ranges::binary_search(*axes, d)) shape.push_back(with_ones[static_cast<size_t>(d)]);
  }
  auto result = zeros(from.type.dtype, with_ones);
  if (!result) return std::nullopt;
  std::vector<bool> begun(result->ints.size(), false);
  bool good = true;
  for_each_place(from.type.shape, [&](int64_t k, const Place& place) {
    const size_t at = broadcast_index(with_ones, place);
    int64_t& value = result->ints[at];
    const int64_t next = from.ints[static_cast<size_t>(k)];
    if (!begun[at]) {
      begun[at] = true;
      value = next;
      return;
    }
    if (node.op == "ReduceProd") good = good && !__builtin_mul_overflow(value, next, &value);
    if (node.op == "ReduceSum") good = good && !__builtin_add_overflow(value, next, &value);
    if (node.op == "ReduceMin") value = std::min(value, next);
    if (node.op == "ReduceMax") value = std::max(value, next);
  });
  result->type.shape = shape;
  const auto fit = [&](int64_t value) { return fits(from.type.dtype, value); };
  return good && std::ranges::all_of(result->ints, fit) ? result : std::nullopt;
}

// Runtimes add `delta` again and again, ONNX multiplies it: only where both are the same.
Result range_of_floats(const OnnxNode& node) {
  const double start = node.constants[0]->floats[0], limit = node.constants[1]->floats[0],
               delta = node.constants[2]->floats[0];
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  if (!(count <= 65536)) return std::nullopt;
  auto result = empty_like(node.constants[0]->type.dtype, {static_cast<int64_t>(count)});
  for (int64_t k = 0; result && k < static_cast<int64_t>(count); ++k) {
    const double value = start + static_cast<double>(k) * delta;
    if (element_value(result->type.dtype, value) != value) return std::nullopt;
    result->floats.push_back(value);
  }
  return result;
}

Result range(const OnnxNode& node) {
  const auto &start = *node.constants[0], &limit = *node.constants[1], &delta = *node.constants[2];
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1) return std::nullopt;
  if (start.is_float()) return range_of_floats(node);
  if (delta.ints[0] == 0) return std::nullopt;
  constexpr int64_t kMost = int64_t{1} << 52;  // exact as double
  for (const Constant* bound : node.constants) {
    if (bound->ints[0] > kMost || bound->ints[0] < -kMost) return std::nullopt;
  }
  const auto span = static_cast<double>(limit.ints[0]) - static_cast<double>(start.ints[0]);
  const double count = std::max(0.0, std::ceil(span / static_cast<double>(delta.ints[0])));
  if (count > 65536) return std::nullopt;
  Constant result{{start.type.dtype, {static_cast<int64_t>(count)}}, {}, {}};
  for (int64_t k = 0; k < static_cast<int64_t>(count); ++k) result.ints.push_back(start.ints[0] + k * delta.ints[0]);
  return result;
}

}  // namespace

Evaluator index_evaluator(std::string_view op) {
  static const std::map<std::string, Evaluator, std::less<>> rows{
      {"CumSum", {cumsum, 2}},        {"EyeLike", {eye_like, 1}}, {"GatherElements", {gather_elements, 2}},
      {"GatherND", {gather_nd, 2}},   {"NonZero", {non_zero, 1}}, {"OneHot", {one_hot, 3}},
      {"Range", {range, 3}},          {"ReduceMax", {reduce, 1}}, {"ReduceMin", {reduce, 1}},
      {"ReduceProd", {reduce, 1}},    {"ReduceSum", {reduce, 1}}, {"ScatterElements", {scatter_elements, 3}},
      {"ScatterND", {scatter_nd, 3}}, {"Trilu", {trilu, 1}},
  };
  const auto row = rows.find(op);
  return row == rows.end() ? Evaluator() : row->second;
}

}  // namespace rlgo::onnx_io
