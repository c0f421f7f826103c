#include "core/ops/types.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/ops/extent.h"

namespace rlgo::ops {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<DTypeRow, 14> kDTypes{{{DType::other, "other", 0},
                                            {DType::f32, "f32", 4},
                                            {DType::u8, "u8", 1},
                                            {DType::i8, "i8", 1},
                                            {DType::u16, "u16", 2},
                                            {DType::i16, "i16", 2},
                                            {DType::i32, "i32", 4},
                                            {DType::i64, "i64", 8},
                                            {DType::boolean, "bool", 1},
                                            {DType::f16, "f16", 2},
                                            {DType::f64, "f64", 8},
                                            {DType::u32, "u32", 4},
                                            {DType::u64, "u64", 8},
                                            {DType::bf16, "bf16", 2}}};

const DTypeRow& row(DType dtype) {
  const auto found = std::ranges::find(kDTypes, dtype, &DTypeRow::dtype);
  RLGO_CHECK(found != kDTypes.end());
  return *found;
}

int64_t saturating_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMax : product;
}

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  const auto found = std::ranges::find(kDTypes, name, &DTypeRow::name);
  return found == kDTypes.end() ? std::nullopt : std::optional(found->dtype);
}

std::span<const std::string_view> dtype_names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, kDTypes.size() - 1> names;
    for (size_t k = 0; k < names.size(); ++k) names[k] = kDTypes[k + 1].name;
    return names;
  }();
  return kNames;
}

int64_t size_bytes(DType dtype) { return row(dtype).bytes; }

bool TensorType::is_static() const {
  return ranked && std::ranges::all_of(shape, [](int64_t extent) { return extent >= 0; });
}

int64_t TensorType::elements() const {
  RLGO_CHECK(is_static());
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  int64_t count = 1;
  for (int64_t extent : shape) count = saturating_product(count, extent);
  return count;
}

int64_t TensorType::bytes() const { return saturating_product(elements(), size_bytes(dtype)); }

bool TensorType::operator==(const TensorType& other) const {
  if (dtype != other.dtype || ranked != other.ranked || shape != other.shape) return false;
  if (open == other.open) return true;
  for (int64_t d = 0; d < rank(); ++d) {
    if (!extent(d).same(other.extent(d))) return false;
  }
  return true;
}

Extent TensorType::extent(int64_t axis) const {
  const auto at = static_cast<size_t>(axis);
  return open ? (*open)[at] : Extent(shape[at]);
}

Extents TensorType::extents() const { return open ? *open : Extents(shape.begin(), shape.end()); }

bool TensorType::is_open(int64_t axis) const { return open && !(*open)[static_cast<size_t>(axis)].is_number(); }

bool TensorType::set_extents(Extents extents) {
  Shape samples;
  bool any_open = false;
  for (const Extent& extent : extents) {
    if (extent.is_undecided()) return false;
    samples.push_back(extent.sample());
    any_open = any_open || !extent.is_number();
  }
  shape = std::move(samples);
  open = any_open ? std::make_shared<const Extents>(std::move(extents)) : nullptr;
  return true;
}

uint64_t TensorType::hash() const {
  const auto head = static_cast<uint64_t>(dtype) * 2 + (ranked ? 1 : 0);
  return hash_ints(std::span<const int64_t>(shape.data(), shape.size()), head);
}

std::string to_string(const TensorType& type) {
  std::string text(name(type.dtype));
  if (!type.ranked) return text + "[*]";
  text += '[';
  for (size_t i = 0; i < type.shape.size(); ++i) {
    if (i > 0) text += ',';
    text += type.shape[i] < 0 ? "?" : std::to_string(type.shape[i]);
  }
  return text + ']';
}

std::optional<TensorType> type_from_string(std::string_view text) {
  text = trim(text);
  const auto open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') return std::nullopt;
  const auto dtype = dtype_from_name(trim(text.substr(0, open)));
  if (!dtype) return std::nullopt;
  const auto inside = trim(text.substr(open + 1, text.size() - open - 2));
  if (inside == "*") return TensorType::unranked(*dtype);
  TensorType type(*dtype, {});
  if (inside.empty()) return type;
  for (const auto& part : rlgo::split(inside, ',')) {
    const auto word = trim(part);
    const auto extent = word == "?" ? std::optional(kUnknown) : parse_int(word);
    if (!extent || (*extent < 0 && word != "?")) return std::nullopt;
    type.shape.push_back(*extent);
  }
  return type;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const size_t shift = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = out[shift + i];
    if (extent == shorter[i] || shorter[i] == 1) continue;
    if (extent != 1) return std::nullopt;
    extent = shorter[i];
  }
  return out;
}

}  // namespace rlgo::ops
