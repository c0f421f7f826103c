// Symbolic values (extents, numbers, words, lists), attribute lists and shapes, interned for one proof.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ops/op.h"
#include "core/rulegen/prove/shape.h"
#include "core/rules/ast.h"

namespace rlgo::rulegen::sym {

// A value of the rule language. `none`: it certainly has no value; `open`: the prover cannot decide.
struct Value {
  enum class Kind : uint8_t { none, open, truth, extent, real, list, word };  // see the fields
  Kind kind = Kind::none;
  Truth truth = Truth::unknown;
  int32_t id = 0;  // extent: ExtentId; real, word: their numbers in the Pool
  Shape list;

  static Value open() { return {Kind::open, Truth::unknown, 0, {}}; }
  static Value of(Truth t) { return {Kind::truth, t, 0, {}}; }
  static Value of(bool t) { return of(t ? Truth::yes : Truth::no); }
  static Value extent(ExtentId a) { return {Kind::extent, Truth::unknown, a, {}}; }
  static Value real(int32_t a) { return {Kind::real, Truth::unknown, a, {}}; }
  static Value word(int32_t a) { return {Kind::word, Truth::unknown, a, {}}; }
  static Value of(Shape items) { return {Kind::list, Truth::unknown, 0, std::move(items)}; }
  bool operator==(const Value&) const = default;
};

using Params = std::vector<std::pair<ops::Attr, Value>>;  // sorted by attribute
const Value* find(const Params& params, ops::Attr key);
void set(Params& params, ops::Attr key, Value value);

// Interning of all but extents. Real numbers within 1e-6 of well-known ones (1/6, sqrt 2, ...) are those: constants in
// models are rounded to 32 bits.
class Pool {
 public:
  ExtentPool extents;

  int32_t word(const std::string& text);
  // The word that names the type of all tensors, whichever it is.
  int32_t element_type() { return word("the tensors' type"); }
  const std::string& word_text(int32_t word) const { return words_[static_cast<size_t>(word)]; }

  int32_t real(double value);
  int32_t real_symbol(const std::string& name);  // an unknown real number
  // add, subtract, multiply, divide, min, max, sqrt (of a). Numbers are computed; nothing on division by zero.
  std::optional<int32_t> real_op(rules::Fn op, int32_t a, int32_t b);
  int32_t real_of(ExtentId a);
  std::optional<double> real_value(int32_t real) const;
  // 1 / x, where `real` is x as 1 divided by something; -1 otherwise.
  int32_t inverse(int32_t real) const;
  // Whether it was made of a product of extents, each of which is 1 at least.
  bool at_least_one(int32_t real) const;

  int32_t shape(const Shape& shape);  // its number; equal shapes have equal ones
  const Shape& shape_of(int32_t id) const { return shapes_[static_cast<size_t>(id)]; }
  int32_t params(const Params& params);  // its number; equal lists have equal ones
  const Params& params_of(int32_t id) const { return params_[static_cast<size_t>(id)]; }
  std::string text(const Value& value) const;

 private:
  int32_t real_by_name(const std::string& key, std::optional<double> value);

  std::vector<std::string> words_;
  std::unordered_map<std::string, int32_t> word_of_;
  std::vector<std::pair<std::string, std::optional<double>>> reals_;
  std::unordered_map<std::string, int32_t> real_of_;
  std::unordered_map<int32_t, int32_t> inverse_;
  std::unordered_map<int32_t, ExtentId> extent_of_;
  std::vector<Shape> shapes_;
  std::map<Shape, int32_t> shape_of_;
  std::vector<Params> params_;
  std::map<std::vector<int32_t>, int32_t> params_of_;
};

// An attribute's value in this world.
Value from_attr(Pool& pool, const ops::AttrValue& value);

}  // namespace rlgo::rulegen::sym
