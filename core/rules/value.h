// Values of rule expressions, and arithmetic on them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "core/ops/attrs.h"
#include "core/ops/extent.h"
#include "core/ops/types.h"
#include "core/rules/ast.h"

namespace rlgo::rules {

// An integer, or a list of integers, that depends on a model's open sizes (some item does).
struct OpenInt {
  std::shared_ptr<const ops::Extent> extent;
  bool operator==(const OpenInt& other) const { return extent->same(*other.extent); }
};
struct OpenInts {  // a list with such items
  std::shared_ptr<const ops::Extents> extents;
  bool operator==(const OpenInts& other) const;
};

// monostate: no value (index out of range, division by zero, a constant that is not uniform, wrong kinds, a question
// about open sizes whose answer is not the same for all of them).
using Val = std::variant<std::monostate, bool, int64_t, double, ops::Ints, std::string, OpenInt, OpenInts>;

inline bool has_value(const Val& value) { return value.index() != 0; }
inline bool is_true(const Val& value) {  // false for all that is no truth value
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
// Of the plain kinds where the sizes do not matter; no value where one is undecided.
Val from_extent(const ops::Extent& extent);
Val from_extents(const ops::Extents& extents);
// Nothing where the value is no integer, or no list of integers.
std::optional<ops::Extent> to_extent(const Val& value);
std::optional<ops::Extents> to_extents(const Val& value);

// One of the functions and operators of the language that take plain values.
struct Function {
  Fn fn;
  const char* name;
  int min_args;
  int max_args;
  bool of_tensor;  // the first argument is a tensor's name (evaluated in binding.cc); `call` is then null
  Val (*call)(std::span<const Val> args);
};
std::span<const Function> functions();
const Function& function(Fn fn);  // any but Fn::none
// Fn::none where unknown.
Fn find_function(std::string_view name);

}  // namespace rlgo::rules
