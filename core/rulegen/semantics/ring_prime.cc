#include "core/rulegen/semantics/ring_prime.h"

#include <array>
#include <bit>

#include "core/rulegen/semantics/real.h"
#include "core/rulegen/semantics/ring_power.h"

namespace rlgo::rulegen {
namespace {

constexpr double kNear = 1e-9;  // inputs are about 1, doubles good to 1e-16

// Generates the subgroup of order kExponents: 37^((p-1)/q) is not 1 for q = 41, 151, 331, 1321.
constexpr uint64_t kGenerator = prime_pow(37, (kPrime - 1) / kExponents);

// Inverse modulo each of the four primes, 0 where a is 0 there (one of 28 numbers is for some): by Fermat, as the order
// of every unit divides lcm(40, 150, 330, 1320) = 6600. a b / b = a then fails, but (a / b) c = a (c / b) never does.
uint64_t exponent_inverse(uint64_t a) {
  uint64_t result = 1;
  for (int n = 6599; n != 0; n >>= 1, a = a * a % kExponents) {
    if (n & 1) result = result * a % kExponents;
  }
  return result;
}

}  // namespace

const char* fn_name(Fn fn) {
  constexpr std::array<const char*, 13> kNames{"exp",  "log",   "sqrt",  "erf",  "tanh", "sigmoid", "softplus",
                                               "ceil", "floor", "round", "sign", "sin",  "cos"};
  return kNames[static_cast<size_t>(fn)];
}

double fn_of(Fn fn, double x) {
  switch (fn) {
    case Fn::exp:
      return std::exp(x);
    case Fn::log:
      return std::log(x);
    case Fn::sqrt:
      return std::sqrt(x);
    case Fn::erf:
      return std::erf(x);
    case Fn::tanh:
      return std::tanh(x);
    case Fn::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Fn::softplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case Fn::ceil:
      return std::ceil(x);
    case Fn::floor:
      return std::floor(x);
    case Fn::round:
      return std::nearbyint(x);
    case Fn::sign:
      return x < 0 ? -1 : x > 0 ? 1 : 0;
    case Fn::sin:
      return std::sin(x);
    case Fn::cos:
      return std::cos(x);
  }
  return 0;
}

PrimeValue PrimeRing::integer(int64_t value) const {
  const int64_t residue = value % static_cast<int64_t>(kExponents);
  return {prime_of(value), static_cast<double>(value),
          static_cast<uint64_t>(residue < 0 ? residue + static_cast<int64_t>(kExponents) : residue)};
}

PrimeValue PrimeRing::ratio(int64_t num, int64_t den) {
  const auto [held, fresh] = ratios_.try_emplace({num, den});
  if (fresh) held->second = div(integer(num), integer(den));
  return held->second;
}

PrimeValue PrimeRing::number(double value) {
  const Real real = real_of(value);
  if (real.exact) {
    const Element rational = ratio(real.num, real.den);
    return real.root == 1 ? rational : mul(rational, root(integer(real.root)));
  }
  if (!std::isfinite(value)) return opaque(11, std::bit_cast<uint64_t>(value) % kPrime, value);
  int exponent = 0;
  const auto mantissa = static_cast<int64_t>(std::frexp(real.value, &exponent) * 0x1p53);
  exponent -= 53;
  const uint64_t two = prime_pow(2, static_cast<uint64_t>(exponent < 0 ? -exponent : exponent));
  const uint64_t field = prime_mul(prime_of(mantissa), exponent < 0 ? prime_inverse(two) : two);
  return {field, real.value, mix64(field ^ seed_) % kExponents};
}

PrimeValue PrimeRing::free(int64_t n) {
  Element value = mul(integer(n), ratio(1, int64_t{1} << 22));
  value.real = static_cast<double>(n) * 0x1p-22;
  return value;
}

PrimeValue PrimeRing::opaque(uint64_t code, uint64_t field, double real) const {
  const uint64_t image = hash_combine(hash_combine(seed_, code), field) % kPrime;
  return {image, real, mix64(image ^ seed_) % kExponents};
}

PrimeValue PrimeRing::div(const Element& a, const Element& b) {
  return {prime_mul(a.field, prime_inverse(b.field)), a.real / b.real,
          a.exponent * exponent_inverse(b.exponent) % kExponents};
}

void PrimeRing::note_order(const Element& a, const Element& b) {
  if (a.field != b.field && std::abs(a.real - b.real) < kNear * (1 + std::abs(a.real))) ambiguous_ = true;
}

PrimeValue PrimeRing::maximum(std::span<const Element> items) {
  Element best = items[0];
  for (const auto& item : items.subspan(1)) {
    note_order(best, item);
    if (std::isnan(item.real) || item.real > best.real) best = item;
  }
  return best;
}

PrimeValue PrimeRing::minimum(std::span<const Element> items) {
  Element best = items[0];
  for (const auto& item : items.subspan(1)) {
    note_order(best, item);
    if (std::isnan(item.real) || item.real < best.real) best = item;
  }
  return best;
}

PrimeValue PrimeRing::root(const Element& x) const {
  const uint64_t field = prime_pow(x.field, (kPrime + 1) / 4);
  return {field, std::sqrt(x.real), mix64(field ^ seed_) % kExponents};
}

// log(1 + exp(x)), by the side of 0 on which x lies.
PrimeValue PrimeRing::softplus(const Element& x) {
  constexpr uint64_t kCode = 20 + static_cast<uint64_t>(Fn::softplus);
  const bool above = x.real > 0;
  const Element hashed = opaque(kCode, above ? prime_neg(x.field) : x.field, 0);
  Element y = above ? add(x, hashed) : hashed;
  y.real = fn_of(Fn::softplus, x.real);
  log_of_.try_emplace(y.field, add(integer(1), apply(Fn::exp, x)));
  return y;
}

// The first answer for a field element stands.
PrimeValue PrimeRing::logarithm(const Element& x) {
  const auto [known, is_new] = logs_.try_emplace(x.field);
  if (!is_new) return known->second;
  const auto whole = exp_of_.find(x.field), part = exp_of_.find(prime_add(x.field, kPrime - 1));
  const Element y = whole != exp_of_.end()  ? whole->second
                    : part != exp_of_.end() ? softplus(part->second)
                                            : logarithm_in_coset(x);
  log_of_.try_emplace(y.field, x);
  return logs_[x.field] = y;
}

// What was exponentiated where that number is an exponential, or a quotient of two.
std::optional<PrimeValue> PrimeRing::exponent_of(uint64_t field) const {
  if (field == 1) return zero();
  if (const auto known = exp_of_.find(field); known != exp_of_.end()) return known->second;
  for (const auto& [below, x] : exp_of_) {
    const uint64_t product = prime_mul(field, below);
    if (product == 1) return neg(x);
    const auto above = exp_of_.find(product);
    if (above != exp_of_.end()) return sub(above->second, x);
  }
  return std::nullopt;
}

// Exponentials are a subgroup: y and exp(x) y have the same power kExponents, and 1 / y has its inverse. The first of
// them has a logarithm of its own, the others that one plus x.
PrimeValue PrimeRing::logarithm_in_coset(const Element& x) {
  const Element inverse = div(integer(1), x);
  const uint64_t own = prime_pow(x.field, kExponents), other = prime_pow(inverse.field, kExponents);
  const bool turned = x.real > 0 && other < own;
  const Element& z = turned ? inverse : x;
  auto& met = cosets_[turned ? other : own];
  std::optional<Element> y;
  for (const auto& [first, log] : met) {
    if (const auto more = exponent_of(prime_mul(z.field, prime_inverse(first))); more && x.real > 0)
      y = add(log, *more);
    if (y) break;
  }
  if (!y) {
    y = opaque(static_cast<uint64_t>(Fn::log), z.field, std::log(z.real));
    met.emplace_back(z.field, *y);
  }
  Element log = turned ? neg(*y) : *y;
  log.real = std::log(x.real);
  return log;
}

PrimeValue PrimeRing::apply(Fn fn, const Element& x) {
  switch (fn) {
    case Fn::exp: {
      const uint64_t field = prime_pow(kGenerator, x.exponent);
      exp_of_.try_emplace(field, x);
      return {field, std::exp(x.real), mix64(field ^ seed_) % kExponents};
    }
    case Fn::sigmoid: {
      Element y = div(integer(1), add(integer(1), apply(Fn::exp, neg(x))));
      y.real = fn_of(fn, x.real);
      return y;
    }
    case Fn::tanh: {
      const auto log = log_of_.find(x.field);
      const Element square = log == log_of_.end() ? apply(Fn::exp, add(x, x)) : mul(log->second, log->second);
      Element y = sub(integer(1), div(integer(2), add(integer(1), square)));
      y.real = fn_of(fn, x.real);
      return y;
    }
    case Fn::erf: {
      if (x.field == 0) return zero();
      const bool flip = x.field > kPrime / 2;
      const Element y = opaque(static_cast<uint64_t>(fn), flip ? prime_neg(x.field) : x.field, 0);
      Element signed_y = flip ? neg(y) : y;
      signed_y.real = fn_of(fn, x.real);
      return signed_y;
    }
    case Fn::sqrt:
      return root(x);
    case Fn::log:
      return logarithm(x);
    case Fn::softplus:
      return softplus(x);
    default:  // without laws
      return opaque(20 + static_cast<uint64_t>(fn), x.field, fn_of(fn, x.real));
  }
}

PrimeValue PrimeRing::power(const Element& base, const Element& exponent) {
  if (const auto n = whole(exponent); n && std::abs(*n) <= 64) return whole_power(*this, base, *n);
  if (exponent.real == 0.5) return root(base);
  if (exponent.real == -0.5) return div(integer(1), root(base));
  return opaque(10, hash_combine(base.field, exponent.field), std::pow(base.real, exponent.real));
}

std::optional<int64_t> PrimeRing::whole(const Element& x) const {
  if (!(std::abs(x.real) < 0x1p52) || x.real != std::round(x.real)) return std::nullopt;
  const auto n = static_cast<int64_t>(x.real);
  return prime_of(n) == x.field ? std::optional(n) : std::nullopt;
}

}  // namespace rlgo::rulegen
