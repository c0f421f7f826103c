#include "core/ops/attrs.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::ops {
namespace {

constexpr auto kNames = std::to_array<std::string_view>({
#define RLGO_ATTR(name) #name,
#include "core/ops/attr_list.def"
#undef RLGO_ATTR
});

template <typename T>
const T& required(const Attrs& attrs, Attr key) {
  const AttrValue* value = attrs.find(key);
  if (!value || !std::holds_alternative<T>(*value)) {
    fail("internal: attribute '{}' is {} (this is a bug of rlgo)", name(key), value ? "of another kind" : "missing");
  }
  return std::get<T>(*value);
}

std::string text_of(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";  // stays a float when it is read back
  return text;
}

std::string text_of(const Ints& numbers) { return fmt::format("[{}]", fmt::join(numbers, ",")); }
std::string text_of(int64_t number) { return std::to_string(number); }
std::string text_of(const std::string& word) { return word; }

}  // namespace

std::string_view name(Attr attr) { return kNames[static_cast<size_t>(attr)]; }

std::optional<Attr> attr_from_name(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Attr>(found - kNames.begin());
}

std::string to_string(const AttrValue& value) {
  return std::visit([](const auto& held) { return text_of(held); }, value);
}

uint64_t hash(const AttrValue& value) {
  struct Hasher {
    uint64_t operator()(int64_t number) const { return mix64(static_cast<uint64_t>(number)); }
    uint64_t operator()(double number) const { return mix64(std::bit_cast<uint64_t>(number + 0.0)); }  // -0.0 == 0.0
    uint64_t operator()(const Ints& numbers) const { return hash_ints(numbers); }
    uint64_t operator()(const std::string& word) const { return hash_string(word); }
  };
  return hash_combine(value.index(), std::visit(Hasher(), value));
}

void Attrs::set(Attr key, AttrValue value) {
  const auto place = std::ranges::lower_bound(items_, key, {}, [](const auto& item) { return item.first; });
  if (place != items_.end() && place->first == key) {
    place->second = std::move(value);
  } else {
    items_.emplace(place, key, std::move(value));
  }
}

const AttrValue* Attrs::find(Attr key) const {
  for (const auto& [held, value] : items_) {
    if (held == key) return &value;
  }
  return nullptr;
}

int64_t Attrs::i(Attr key) const { return required<int64_t>(*this, key); }
double Attrs::f(Attr key) const { return required<double>(*this, key); }
const Ints& Attrs::ints(Attr key) const { return required<Ints>(*this, key); }
const std::string& Attrs::word(Attr key) const { return required<std::string>(*this, key); }

uint64_t Attrs::hash() const {
  uint64_t h = mix64(items_.size());
  for (const auto& [key, value] : items_) {
    h = hash_combine(h, hash_string(name(key)));  // by name: stays the same when the list of attributes grows
    h = hash_combine(h, ops::hash(value));
  }
  return h;
}

std::string to_string(const Attrs& attrs) {
  std::string text;
  for (const auto& [key, value] : attrs.items()) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}={}", name(key), to_string(value));
  }
  return text;
}

}  // namespace rlgo::ops
