// Arithmetic, comparisons and casts of small constants, element by element.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/onnx/evaluate.h"

namespace rlgo::onnx_io {

using ops::DType;
using ops::Shape;
using Result = std::optional<Constant>;

bool fits(DType dtype, int64_t value) {
  const auto in = [value](auto type) {
    using T = decltype(type);
    return value >= int64_t{std::numeric_limits<T>::min()} && value <= int64_t{std::numeric_limits<T>::max()};
  };
  switch (dtype) {
    case DType::i64:
      return true;
    case DType::boolean:
      return value == 0 || value == 1;
    case DType::i32:
      return in(int32_t{});
    case DType::i16:
      return in(int16_t{});
    case DType::i8:
      return in(int8_t{});
    case DType::u32:
      return in(uint32_t{});
    case DType::u16:
      return in(uint16_t{});
    case DType::u8:
      return in(uint8_t{});
    default:
      return false;
  }
}

Result empty_like(DType dtype, const Shape& shape) {
  Constant result{{dtype, shape}, {}, {}};
  if (!is_small(result.type)) return std::nullopt;
  return result;
}

void for_each_place(const Shape& shape, const std::function<void(int64_t, const std::vector<int64_t>&)>& visit) {
  std::vector<int64_t> place(shape.size(), 0);
  const int64_t count = ops::TensorType(DType::i64, shape).elements();
  for (int64_t k = 0; k < count; ++k) {
    visit(k, place);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++place[d] < shape[d]) break;
      place[d] = 0;
    }
  }
}

size_t broadcast_index(const Shape& shape, const std::vector<int64_t>& place) {
  size_t index = 0;
  const size_t skip = place.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    index = index * static_cast<size_t>(shape[d]) + static_cast<size_t>(shape[d] == 1 ? 0 : place[skip + d]);
  }
  return index;
}

double element_value(DType dtype, double value) {
  return constant_from_bytes({dtype, {}}, element_bytes(dtype, value)).floats[0];
}

namespace {

using Int = std::optional<int64_t>;
using Float = std::optional<double>;

// Correctly rounded double operations on 32-bit numbers, rounded to 32 bits, are correctly rounded. Runtimes compute
// halves in 32 bits and round then.
double rounded(DType dtype, double value) {
  if (!ops::is_float(dtype) || dtype == DType::f64) return value;
  const auto single = static_cast<double>(static_cast<float>(value));
  if (dtype == DType::f32) return single;
  return element_value(dtype, single);
}

Int add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? Int() : Int(sum);
}
Int sub(int64_t a, int64_t b) {
  int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? Int() : Int(difference);
}
Int mul(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? Int() : Int(product);
}
bool divides(int64_t a, int64_t b) { return b != 0 && !(b == -1 && a == std::numeric_limits<int64_t>::min()); }

// The sign is the divisor's.
Int modulo(int64_t a, int64_t b) {
  if (!divides(a, b)) return std::nullopt;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Int power(int64_t a, int64_t b) {
  if (b < 0 || b > 64) return std::nullopt;
  Int result = 1;
  for (int64_t k = 0; k < b && result; ++k) result = mul(*result, a);
  return result;
}

// Runtimes differ where one is NaN, or zeros have two signs.
Float least(double a, double b) {
  return std::isnan(a) || std::isnan(b) || (a == b && std::signbit(a) != std::signbit(b)) ? Float() : std::min(a, b);
}
Float largest(double a, double b) {
  const auto negative = least(-a, -b);
  return negative ? Float(-*negative) : Float();
}

struct BinaryRow {
  Int (*on_ints)(int64_t a, int64_t b);
  Float (*on_floats)(double a, double b);
  bool to_bool = false;
};

#define RLGO_BOTH(expression) \
  [](int64_t a, int64_t b) { return Int(expression); }, [](double a, double b) { return Float(expression); }

const BinaryRow* binary_row(const OnnxNode& node) {
  static const std::map<std::string, BinaryRow, std::less<>> table{
      {"Add", {add, [](double a, double b) { return Float(a + b); }}},
      {"Sub", {sub, [](double a, double b) { return Float(a - b); }}},
      {"Mul", {mul, [](double a, double b) { return Float(a * b); }}},
      {"Div",
       {[](int64_t a, int64_t b) { return divides(a, b) ? Int(a / b) : Int(); },
        [](double a, double b) { return Float(a / b); }}},
      {"Mod", {modulo, nullptr}},
      {"Pow", {power, [](double a, double b) { return b == 1   ? Float(a)
                                                      : b == 2 ? Float(a * a)
                                                               : Float(); }}},
      {"Min", {[](int64_t a, int64_t b) { return Int(std::min(a, b)); }, least}},
      {"Max", {[](int64_t a, int64_t b) { return Int(std::max(a, b)); }, largest}},
      {"Sum", {add, [](double a, double b) { return Float(a + b); }}},
      {"Equal", {RLGO_BOTH(a == b), true}},
      {"Less", {RLGO_BOTH(a < b), true}},
      {"LessOrEqual", {RLGO_BOTH(a <= b), true}},
      {"Greater", {RLGO_BOTH(a > b), true}},
      {"GreaterOrEqual", {RLGO_BOTH(a >= b), true}},
      {"And", {[](int64_t a, int64_t b) { return Int(a && b); }, nullptr, true}},
      {"Or", {[](int64_t a, int64_t b) { return Int(a || b); }, nullptr, true}},
      {"Xor", {[](int64_t a, int64_t b) { return Int(a != b); }, nullptr, true}},
      {"BitwiseAnd", {[](int64_t a, int64_t b) { return Int(a & b); }, nullptr}},
      {"BitwiseOr", {[](int64_t a, int64_t b) { return Int(a | b); }, nullptr}},
      {"BitwiseXor", {[](int64_t a, int64_t b) { return Int(a ^ b); }, nullptr}},
  };
  static const BinaryRow kRemainder{[](int64_t a, int64_t b) { return divides(a, b) ? Int(a % b) : Int(); },
                                    [](double a, double b) { return b == 0 ? Float() : Float(std::fmod(a, b)); }};
  if (node.op == "Mod" && node.i("fmod", 0) != 0) return &kRemainder;
  const auto row = table.find(node.op);
  return row == table.end() ? nullptr : &row->second;
}

#undef RLGO_BOTH

Result binary(const BinaryRow& row, const Constant& a, const Constant& b) {
  const auto shape = ops::broadcast(a.type.shape, b.type.shape);
  if (!shape || a.type.dtype != b.type.dtype || (a.is_float() ? row.on_floats == nullptr : row.on_ints == nullptr))
    return std::nullopt;
  const DType dtype = a.type.dtype;
  auto result = empty_like(row.to_bool ? DType::boolean : dtype, *shape);
  if (!result) return std::nullopt;
  bool good = true;
  for_each_place(*shape, [&](int64_t, const auto& place) {
    const size_t i = broadcast_index(a.type.shape, place), j = broadcast_index(b.type.shape, place);
    if (!a.is_float()) {
      const Int value = row.on_ints(a.ints[i], b.ints[j]);
      good = good && value && fits(dtype, a.ints[i]) && fits(dtype, b.ints[j]) && fits(result->type.dtype, *value);
      result->ints.push_back(value.value_or(0));
      return;
    }
    const Float value = row.on_floats(a.floats[i], b.floats[j]);
    good = good && value;
    if (row.to_bool)
      result->ints.push_back(value.value_or(0) != 0 ? 1 : 0);
    else
      result->floats.push_back(rounded(dtype, value.value_or(0)));
  });
  return good ? result : std::nullopt;
}

// Min, Max and Sum take any number of operands.
Result folded(const BinaryRow& row, const OnnxNode& node) {
  Result result = *node.constants[0];
  for (size_t k = 1; k < node.constants.size() && result; ++k) result = binary(row, *result, *node.constants[k]);
  return result;
}

struct UnaryRow {
  Int (*on_ints)(int64_t a);
  Float (*on_floats)(double a);
};

int64_t sign(int64_t a) { return a < 0 ? -1 : a > 0 ? 1 : 0; }

Float rounded_to_even(double a) {
  const double below = std::floor(a), rest = a - below;
  if (rest != 0.5) return rest < 0.5 ? below : std::copysign(std::ceil(a), a);
  return std::copysign(std::fmod(below, 2) == 0 ? below : below + 1, a);
}

const UnaryRow* unary_row(const OnnxNode& node) {
  static const std::map<std::string, UnaryRow, std::less<>> table{
      {"Floor", {nullptr, [](double a) { return Float(std::floor(a)); }}},
      {"Ceil", {nullptr, [](double a) { return Float(std::ceil(a)); }}},
      {"Round", {nullptr, rounded_to_even}},
      {"Sqrt", {nullptr, [](double a) { return a < 0 ? Float() : Float(std::sqrt(a)); }}},
      {"Reciprocal", {nullptr, [](double a) { return Float(1 / a); }}},
      {"Neg", {[](int64_t a) { return sub(0, a); }, [](double a) { return Float(-a); }}},
      {"Abs", {[](int64_t a) { return a < 0 ? sub(0, a) : Int(a); }, [](double a) { return Float(std::fabs(a)); }}},
      {"Sign",
       {[](int64_t a) { return Int(sign(a)); },
        [](double a) {
          return std::isnan(a) ? Float() : Float(a < 0 ? -1.0 : a > 0 ? 1.0 : 0.0);
        }}},
      {"Relu",
       {[](int64_t a) { return Int(std::max<int64_t>(a, 0)); },
        [](double a) { return std::isnan(a) ? Float() : Float(a > 0 ? a : 0.0); }}},
      {"Not", {[](int64_t a) { return Int(a == 0); }, nullptr}},
      {"BitwiseNot", {[](int64_t a) { return Int(-1 - a); }, nullptr}},
  };
  const auto row = table.find(node.op);
  return row == table.end() ? nullptr : &row->second;
}

Result unary(const UnaryRow& row, const Constant& from) {
  Constant result = from;
  const DType dtype = from.type.dtype;
  if (from.is_float() ? row.on_floats == nullptr : row.on_ints == nullptr) return std::nullopt;
  for (double& number : result.floats) {
    const Float value = row.on_floats(number);
    if (!value) return std::nullopt;
    number = rounded(dtype, *value);
  }
  for (int64_t& number : result.ints) {
    const Int value = row.on_ints(number);
    if (!value || !fits(dtype, number) || !fits(dtype, *value)) return std::nullopt;
    number = *value;
  }
  return result;
}

// IsNaN, IsInf.
Result is_special(const OnnxNode& node) {
  const Constant& from = *node.constants[0];
  const bool nan = node.op == "IsNaN", high = node.i("detect_positive", 1) != 0,
             low = node.i("detect_negative", 1) != 0;
  Constant result{{DType::boolean, from.type.shape}, {}, {}};
  for (const double number : from.floats)
    result.ints.push_back((nan ? std::isnan(number) : std::isinf(number) && (number > 0 ? high : low)) ? 1 : 0);
  return from.is_float() ? Result(std::move(result)) : std::nullopt;
}

constexpr double kWholeNumbers = 0x1p53;  // up to here a double is an integer exactly

// What lies outside the integer type is undefined.
Int to_int(DType to, double value) {
  if (to == DType::boolean) return std::isnan(value) ? Int() : Int(value != 0);
  if (!(std::fabs(value) < kWholeNumbers) || !fits(to, static_cast<int64_t>(value))) return std::nullopt;
  return static_cast<int64_t>(value);
}

Result cast(const OnnxNode& node) {
  const auto& from = *node.constants[0];
  const auto to = node.output_types[0].dtype;
  auto result = empty_like(to, from.type.shape);
  if (!result || from.type.dtype == DType::u64 || to == DType::u64) return std::nullopt;
  bool good = true;
  const auto put = [&](double number, Int whole) {
    if (result->is_float()) {
      good = good && (!whole || std::fabs(number) <= kWholeNumbers);
      result->floats.push_back(rounded(to, number));
    } else {
      if (!whole) whole = to_int(to, number);
      if (whole && to == DType::boolean) whole = *whole != 0;
      good = good && whole && fits(to, *whole);
      result->ints.push_back(whole.value_or(0));
    }
  };
  for (const double number : from.floats) put(number, std::nullopt);
  for (const int64_t number : from.ints) put(static_cast<double>(number), number);
  return good ? result : std::nullopt;
}

// Bounds are attributes before opset 11, inputs since then.
Result clip(const OnnxNode& node) {
  if (node.has("min") || node.has("max")) return std::nullopt;
  Result result = *node.constants[0];
  for (const auto& [k, op] : {std::pair<size_t, const char*>{1, "Max"}, {2, "Min"}}) {
    const Constant* bound = node.constant(k);
    OnnxNode step;
    step.op = op;
    if (bound != nullptr && bound->size() != 1) return std::nullopt;
    if (bound != nullptr && result) result = binary(*binary_row(step), *result, *bound);
  }
  if (result) result->type.shape = node.constants[0]->type.shape;
  return result;
}

}  // namespace

Result evaluate_elementwise(const OnnxNode& node) {
  if (node.op == "Cast" || node.op == "CastLike") return cast(node);
  if (node.op == "Clip") return clip(node);
  if (node.op == "IsNaN" || node.op == "IsInf") return is_special(node);
  if (const auto* row = unary_row(node)) return node.inputs.size() == 1 ? unary(*row, *node.constants[0]) : Result();
  const auto* row = binary_row(node);
  if (row == nullptr) return std::nullopt;
  if (node.op == "Min" || node.op == "Max" || node.op == "Sum") return folded(*row, node);
  return node.inputs.size() == 2 ? binary(*row, *node.constants[0], *node.constants[1]) : Result();
}

}  // namespace rlgo::onnx_io
