#include "core/onnx/open_constant.h"

#include <algorithm>
#include <numeric>

namespace rlgo::onnx_io {
namespace {

using ops::DType;
using ops::Extent;
using ops::Extents;
using Known = std::span<const OpenConstant* const>;
using Result = std::optional<OpenConstant>;

constexpr size_t kMaxItems = 64;

bool holds_integers(const ops::TensorType& type) {
  return type.dtype == DType::i64 || type.dtype == DType::i32 || type.dtype == DType::boolean;
}

Result shape_of(const OnnxNode& node) {
  const auto& type = node.input_types[0];
  if (!type.is_static()) return std::nullopt;
  const Extents extents = type.extents();
  if (node.op == "Size") return OpenConstant{{DType::i64, {}}, {ops::product(extents)}};
  const int64_t rank = type.rank();
  const auto clamp = [rank](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  const int64_t start = clamp(node.i("start", 0)), end = std::max(start, clamp(node.i("end", rank)));
  return OpenConstant{{DType::i64, {end - start}}, {extents.begin() + start, extents.begin() + end}};
}

// Whether input k only has its elements moved by the operator.
bool is_moved(const OnnxNode& node, size_t k) {
  if (node.op == "Concat") return true;
  if (node.op == "Where") return k > 0;
  if (node.op == "Cast") return node.output_types[0].dtype == DType::i64 || node.output_types[0].dtype == DType::i32;
  for (const std::string_view op :
       {"Gather", "Slice", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Transpose", "Expand"}) {
    if (node.op == op) return k == 0;
  }
  return false;
}

// Operators that move elements do so with their numbers in a list of all elements.
Result moved(const OnnxNode& node, Known known) {
  Extents all;
  std::vector<Constant> numbers(node.inputs.size());
  OnnxNode copy = node;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (!node.has_input(k)) continue;
    if (!known[k]) return std::nullopt;
    if (is_moved(node, k)) {
      numbers[k].type = known[k]->type;
      numbers[k].ints.resize(known[k]->items.size());
      std::iota(numbers[k].ints.begin(), numbers[k].ints.end(), static_cast<int64_t>(all.size()));
      all.insert(all.end(), known[k]->items.begin(), known[k]->items.end());
    } else {
      auto closed = to_closed(*known[k]);
      if (!closed) return std::nullopt;
      numbers[k] = std::move(*closed);
    }
    copy.input_types[k] = numbers[k].type;
    copy.constants[k] = &numbers[k];
  }
  const auto found = evaluate(copy);
  if (!found || found->is_float()) return std::nullopt;
  OpenConstant result{found->type, {}};
  for (const int64_t number : found->ints) result.items.push_back(all[static_cast<size_t>(number)]);
  return result;
}

Extent truth(std::optional<bool> answer) { return answer ? Extent(*answer ? 1 : 0) : Extent::undecided(); }

// Integer division rounds towards zero: down, where nothing is negative.
Extent quotient(const Extent& a, const Extent& b) {
  return a.at_least(0) && b.at_least(1) ? ops::floor_quotient(a, b) : Extent::undecided();
}

Extent combine(std::string_view op, const Extent& a, const Extent& b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return quotient(a, b);
  if (op == "Mod") return a - b * quotient(a, b);
  if (op == "Equal") return truth(ops::decide_equal(a, b));
  if (op == "Less") return truth(ops::decide_less(a, b));
  if (op == "LessOrEqual") return truth(ops::decide_less_equal(a, b));
  if (op == "Greater") return truth(ops::decide_less(b, a));
  if (op == "GreaterOrEqual") return truth(ops::decide_less_equal(b, a));
  const auto less = op == "Min" || op == "Max" ? ops::decide_less_equal(a, b) : std::nullopt;
  return less ? (*less == (op == "Min") ? a : b) : Extent::undecided();
}

// Of equal shapes, or one of them a single element of no higher rank.
Result binary(const OnnxNode& node, Known known) {
  if (node.inputs.size() != 2 || !known[0] || !known[1] || node.i("fmod", 0) != 0) return std::nullopt;
  const auto &a = *known[0], &b = *known[1];
  const auto shape = ops::broadcast(a.type.shape, b.type.shape);
  if (!shape || a.type.dtype != b.type.dtype) return std::nullopt;
  const bool compares = node.op == "Equal" || node.op.starts_with("Less") || node.op.starts_with("Greater");
  OpenConstant result{{compares ? DType::boolean : a.type.dtype, *shape}, {}};
  const auto count = static_cast<size_t>(result.type.elements());
  for (const auto* one : {&a, &b}) {
    if (one->items.size() != 1 && (one->items.size() != count || one->type.shape != *shape)) return std::nullopt;
  }
  for (size_t k = 0; k < count; ++k) {
    result.items.push_back(
        combine(node.op, a.items[a.items.size() == 1 ? 0 : k], b.items[b.items.size() == 1 ? 0 : k]));
    if (result.items.back().is_undecided()) return std::nullopt;
  }
  return result;
}

Result reduced(const OnnxNode& node, Known known) {
  const auto& type = node.output_types[0];
  if (!known[0] || !type.is_static() || type.elements() != 1) return std::nullopt;
  Extent total(node.op == "ReduceProd" ? 1 : 0);
  for (const Extent& item : known[0]->items) total = node.op == "ReduceProd" ? total * item : total + item;
  return total.is_undecided() ? std::nullopt : Result(OpenConstant{{known[0]->type.dtype, type.shape}, {total}});
}

// 0 copies the input's extent (unless `allowzero`), -1 is what is left; others must be certain to be sizes.
std::optional<Extents> reshaped(const OnnxNode& node, const OpenConstant& wanted) {
  const auto& input = node.input_types[0];
  if (!input.is_static() || wanted.type.rank() != 1) return std::nullopt;
  Extents out;
  Extent others(1);
  size_t rest = wanted.items.size();
  for (size_t d = 0; d < wanted.items.size(); ++d) {
    const Extent& item = wanted.items[d];
    const auto number = item.number();
    if (number == -1 && rest == wanted.items.size()) {
      rest = d;
      out.emplace_back(1);
      continue;
    }
    if (number == 0 && node.i("allowzero", 0) == 0) {
      if (d >= input.shape.size()) return std::nullopt;
      out.push_back(input.extent(static_cast<int64_t>(d)));
    } else {
      if (!item.at_least(number ? 0 : 1)) return std::nullopt;
      out.push_back(item);
    }
    others = others * out.back();
  }
  if (rest < out.size()) out[rest] = ops::floor_quotient(ops::product(input.extents()), others);
  return out;
}

std::optional<Extents> flattened(const OnnxNode& node) {
  const auto& input = node.input_types[0];
  const int64_t rank = input.rank(), given = node.i("axis", 1), axis = given < 0 ? given + rank : given;
  if (!input.is_static() || axis < 0 || axis > rank) return std::nullopt;
  const Extents all = input.extents();
  return Extents{ops::product(std::span(all).first(static_cast<size_t>(axis))),
                 ops::product(std::span(all).subspan(static_cast<size_t>(axis)))};
}

// From `start` to `end` along an axis, as Slice states them, with step 1.
Extent slice_length(const Extent& extent, int64_t start, int64_t end) {
  const auto place = [&](int64_t at) {
    if (at >= kBehindEnd) return extent;
    if (at >= 0) return extent.at_least(at) ? Extent(at) : Extent::undecided();
    return extent.at_least(-at) ? extent + Extent(at) : Extent::undecided();
  };
  const Extent length = place(end) - place(start);
  return length.at_least(0) ? length : Extent::undecided();
}

std::optional<Extents> sliced(const OnnxNode& node) {
  const auto& input = node.input_types[0];
  bool known[4] = {};
  const auto starts = node.ints_of("starts", 1, known[0]), ends = node.ints_of("ends", 2, known[1]);
  auto axes = node.ints_of("axes", 3, known[2]), steps = node.ints_of("steps", 4, known[3]);
  if (!input.is_static() || !starts || !ends || !known[2] || !known[3] || starts->size() != ends->size())
    return std::nullopt;
  if (!axes) {
    axes.emplace(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!steps) steps.emplace(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size() || !normal_axes(*axes, input.rank()))
    return std::nullopt;
  Extents out = input.extents();
  for (size_t k = 0; k < axes->size(); ++k) {
    const int64_t axis = *normal_axis((*axes)[k], input.rank());
    Extent& extent = out[static_cast<size_t>(axis)];
    const auto& sample = node.output_types[0];
    if (!input.is_open(axis) && sample.is_static() && axis < sample.rank()) {
      extent = sample.shape[static_cast<size_t>(axis)];  // what holds at one size holds at all
    } else {
      if ((*steps)[k] != 1) return std::nullopt;
      extent = slice_length(extent, (*starts)[k], (*ends)[k]);
    }
  }
  return out;
}

std::optional<Extents> expanded(const OnnxNode& node, const OpenConstant& wanted) {
  const auto& input = node.input_types[0];
  if (!input.is_static() || wanted.type.rank() != 1) return std::nullopt;
  const Extents given = input.extents();
  const auto &longer = given.size() >= wanted.items.size() ? given : wanted.items,
             &shorter = given.size() >= wanted.items.size() ? wanted.items : given;
  Extents out = longer;
  for (size_t k = 0; k < shorter.size(); ++k) {
    Extent& extent = out[longer.size() - shorter.size() + k];
    extent = ops::joint(std::vector{extent, shorter[k]});
  }
  return out;
}

bool are_sizes(const Extents& items) {
  return std::ranges::all_of(items, [](const Extent& item) { return item.at_least(item.is_number() ? 0 : 1); });
}

}  // namespace

std::optional<OpenConstant> to_open(const Constant& constant) {
  if (!holds_integers(constant.type) || constant.ints.size() > kMaxItems) return std::nullopt;
  return OpenConstant{constant.type, {constant.ints.begin(), constant.ints.end()}};
}

std::optional<Constant> to_closed(const OpenConstant& constant) {
  Constant closed{constant.type, {}, {}};
  for (const Extent& item : constant.items) {
    const auto number = item.number();
    if (!number) return std::nullopt;
    closed.ints.push_back(*number);
  }
  return closed;
}

std::optional<OpenConstant> evaluate_open(const OnnxNode& node, Known known) {
  if (node.inputs.empty() || node.outputs.size() != 1) return std::nullopt;
  if (node.op == "Shape" || node.op == "Size") return shape_of(node);
  Result result;
  if (node.op == "Identity") {
    if (known[0]) result = *known[0];
  } else if (is_moved(node, node.op == "Where" ? 1 : 0)) {
    result = moved(node, known);
  } else if (node.op == "ReduceProd" || node.op == "ReduceSum") {
    result = reduced(node, known);
  } else {
    result = binary(node, known);
  }
  return result && result->items.size() <= kMaxItems ? result : std::nullopt;
}

std::optional<Extents> open_output(const OnnxNode& node, Known known) {
  if (node.op == "Flatten") return flattened(node);
  if (node.op == "Slice") return sliced(node);
  if (node.op == "Reshape" && node.inputs.size() == 2 && known[1]) return reshaped(node, *known[1]);
  if (node.op == "Expand" && node.inputs.size() == 2 && known[1] && are_sizes(known[1]->items))
    return expanded(node, *known[1]);
  if (node.op == "ConstantOfShape" && known[0] && are_sizes(known[0]->items)) return known[0]->items;
  const bool by_sizes = node.op == "Resize" && node.inputs.size() == 4 && known[3] && !node.has("axes") &&
                        node.s("keep_aspect_ratio_policy", "stretch") == "stretch";
  if (by_sizes && are_sizes(known[3]->items)) return known[3]->items;
  return std::nullopt;
}

}  // namespace rlgo::onnx_io
