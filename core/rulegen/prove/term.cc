#include "core/rulegen/prove/term.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/rules/value.h"

namespace rlgo::rulegen::sym {

using rules::Fn;
namespace {

// Constants of activations and their derivations; 1/6 and 1/3 arise as quotients.
const std::array<double, 8> kKnown{1.0 / 6, 1.0 / 3, 2.0 / 3, std::sqrt(2.0), std::sqrt(0.5), 0.1, std::sqrt(2 / M_PI),
                                   0.044715};

double snapped(double value) {
  for (double known : kKnown) {
    if (std::abs(std::abs(value) - known) <= 1e-6 * known) return std::copysign(known, value);
  }
  return value == 0 ? 0.0 : value;
}

}  // namespace

const Value* find(const Params& params, ops::Attr key) {
  const auto at = std::ranges::find(params, key, &std::pair<ops::Attr, Value>::first);
  return at == params.end() ? nullptr : &at->second;
}

void set(Params& params, ops::Attr key, Value value) {
  const auto at = std::ranges::lower_bound(params, key, {}, &std::pair<ops::Attr, Value>::first);
  if (at != params.end() && at->first == key) {
    at->second = std::move(value);
  } else {
    params.insert(at, {key, std::move(value)});
  }
}

int32_t Pool::word(const std::string& text) {
  const auto [place, is_new] = word_of_.try_emplace(text, static_cast<int32_t>(words_.size()));
  if (is_new) words_.push_back(text);
  return place->second;
}

int32_t Pool::real_by_name(const std::string& key, std::optional<double> value) {
  const auto [place, is_new] = real_of_.try_emplace(key, static_cast<int32_t>(reals_.size()));
  if (is_new) reals_.emplace_back(key, value);
  return place->second;
}

int32_t Pool::real(double value) {
  const double known = snapped(value);
  return real_by_name(fmt::format("{:.12g}", known), known);
}
int32_t Pool::real_symbol(const std::string& name) { return real_by_name("?" + name, std::nullopt); }
int32_t Pool::real_of(ExtentId a) {
  const auto number = extents.value(a);
  if (number) return real(static_cast<double>(*number));
  const int32_t made = real_by_name(fmt::format("<{}>", a), std::nullopt);
  extent_of_[made] = a;
  return made;
}

bool Pool::at_least_one(int32_t real) const {
  const auto held = extent_of_.find(real);
  if (held == extent_of_.end()) return false;
  const Sum& terms = extents.sum(held->second);
  return std::ranges::all_of(terms, [&](const Summand& item) {
    return item.factor >= 1 && std::ranges::all_of(item.atoms, [&](int32_t atom) {
             return extents.atom(atom).kind == Atom::Kind::symbol && extents.atom(atom).least >= 1;
           });
  });
}
std::optional<double> Pool::real_value(int32_t real) const { return reals_[static_cast<size_t>(real)].second; }

std::optional<int32_t> Pool::real_op(Fn op, int32_t a, int32_t b) {
  const auto x = real_value(a), y = real_value(b);
  if (op == Fn::divide && y && *y == 0) return std::nullopt;
  if (op == Fn::sqrt && x && *x < 0) return std::nullopt;
  if (x && y) {
    switch (op) {
      case Fn::add:
        return real(*x + *y);
      case Fn::subtract:
        return real(*x - *y);
      case Fn::multiply:
        return real(*x * *y);
      case Fn::divide:
        return real(*x / *y);
      case Fn::min:
        return real(std::min(*x, *y));
      case Fn::max:
        return real(std::max(*x, *y));
      default:
        return real(std::sqrt(*x));
    }
  }
  if (op == Fn::divide && x && *x == 1 && inverse(b) >= 0) return inverse(b);
  if ((op == Fn::add || op == Fn::multiply) && b < a) std::swap(a, b);
  const int32_t made = real_by_name(fmt::format("({} {} {})", reals_[static_cast<size_t>(a)].first,
                                                rules::function(op).name, reals_[static_cast<size_t>(b)].first),
                                    std::nullopt);
  if (op == Fn::divide && x && *x == 1) inverse_[made] = b;
  return made;
}

int32_t Pool::inverse(int32_t real) const {
  const auto held = inverse_.find(real);
  return held == inverse_.end() ? -1 : held->second;
}

int32_t Pool::shape(const Shape& shape) {
  const auto [place, is_new] = shape_of_.try_emplace(shape, static_cast<int32_t>(shapes_.size()));
  if (is_new) shapes_.push_back(shape);
  return place->second;
}

int32_t Pool::params(const Params& params) {
  std::vector<int32_t> key;
  for (const auto& [attr, value] : params) {
    key.push_back(static_cast<int32_t>(attr));
    key.push_back(static_cast<int32_t>(value.kind));
    key.push_back(value.id);
    key.push_back(static_cast<int32_t>(value.list.size()));
    key.insert(key.end(), value.list.begin(), value.list.end());
  }
  const auto [place, is_new] = params_of_.try_emplace(std::move(key), static_cast<int32_t>(params_.size()));
  if (is_new) params_.push_back(params);
  return place->second;
}

std::string Pool::text(const Value& value) const {
  std::string out;
  switch (value.kind) {
    case Value::Kind::extent:
      return extents.text(value.id);
    case Value::Kind::real:
      return reals_[static_cast<size_t>(value.id)].first;
    case Value::Kind::word:
      return word_text(value.id);
    case Value::Kind::list:
      for (ExtentId item : value.list) out += (out.empty() ? "" : ", ") + extents.text(item);
      return "[" + out + "]";
    default:
      return "?";
  }
}

Value from_attr(Pool& pool, const ops::AttrValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return Value::extent(pool.extents.number(*number));
  if (const auto* real = std::get_if<double>(&value)) return Value::real(pool.real(*real));
  if (const auto* word = std::get_if<std::string>(&value)) return Value::word(pool.word(*word));
  Shape items;
  for (int64_t item : std::get<ops::Ints>(value)) items.push_back(pool.extents.number(item));
  return Value::of(std::move(items));
}

}  // namespace rlgo::rulegen::sym
