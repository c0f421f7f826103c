// Attributes of an operator: a small sorted map from attribute name to a typed value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rlgo::ops {

enum class Attr : uint8_t {
#define RLGO_ATTR(name) name,
#include "core/ops/attr_list.def"
#undef RLGO_ATTR
};
std::string_view name(Attr attr);
std::optional<Attr> attr_from_name(std::string_view name);  // nothing where unknown

using Ints = std::vector<int64_t>;
// int, float, ints or word.
using AttrValue = std::variant<int64_t, double, Ints, std::string>;
std::string to_string(const AttrValue& value);  // "2", "0.5" (round-trips), "[1,2]", "relu"
uint64_t hash(const AttrValue& value);

class Attrs {  // sorted by key
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<Attr, AttrValue>> items) {
    for (const auto& [key, value] : items) set(key, value);
  }
  void set(Attr key, AttrValue value);    // adds or replaces
  const AttrValue* find(Attr key) const;  // null where absent; valid until the next set()
  // The value of a required attribute; a missing one or a wrong kind is a bug (RLGO_CHECK).
  int64_t i(Attr key) const;
  double f(Attr key) const;
  const Ints& ints(Attr key) const;
  const std::string& word(Attr key) const;
  const std::vector<std::pair<Attr, AttrValue>>& items() const { return items_; }
  uint64_t hash() const;
  bool operator==(const Attrs&) const = default;

 private:
  std::vector<std::pair<Attr, AttrValue>> items_;  // sorted by key
};

std::string to_string(const Attrs& attrs);  // "axis=1 sizes=[2,3]"

}  // namespace rlgo::ops
