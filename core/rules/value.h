// Values of rule expressions, and arithmetic on them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "core/ops/attrs.h"
#include "core/ops/types.h"

namespace rlgo::rules {

// monostate: no value (index out of range, division by zero, a constant that is not uniform, wrong kinds).
using Val = std::variant<std::monostate, bool, int64_t, double, ops::Ints, std::string>;

inline bool has_value(const Val& value) { return value.index() != 0; }
inline bool is_true(const Val& value) {
  const bool* truth = std::get_if<bool>(&value);
  return truth && *truth;
}
// Equal up to the rounding of 32-bit numbers; an infinity is near itself alone.
bool is_near(double a, double b);
Val from_attr(const ops::AttrValue& value);
// Nothing where the value is no attribute (a truth value, no value), or not of the kind of `like` (ints pass for
// floats).
std::optional<ops::AttrValue> to_attr(const Val& value, const ops::AttrValue& like);
bool equal(const Val& value, const ops::AttrValue& attr);
Val from_shape(const ops::Shape& shape);

// One of the functions and operators of the language that take plain values.
struct Function {
  const char* name;
  int min_args;
  int max_args;
  bool of_tensor;  // the first argument is a tensor's name (evaluated in binding.cc); `call` is then null
  Val (*call)(std::span<const Val> args);
};
std::span<const Function> functions();
// -1 where unknown.
int function_index(std::string_view name);

// Which tensor function stands at an index of functions(); the order is that of the table.
enum class TensorFn : uint8_t { rank, dim, shape, dtype, elements, constant, uses, value, is_float, count, total };

}  // namespace rlgo::rules
