#include "core/graph/blob.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/graph/infinities.h"

namespace rlgo::graph {
namespace {

// Sum of the four 16-bit parts of a word.
uint64_t sum_of_parts(uint64_t word) {
  constexpr uint64_t kEven = 0x0000FFFF0000FFFFull;
  const uint64_t pairs = (word & kEven) + ((word >> 16) & kEven);
  return (pairs & 0xFFFFFFFFull) + (pairs >> 32);
}

// Normal numbers by the central limit: the sum of eight uniform 16-bit integers (Irwin-Hall; tails end at 4.9 standard
// deviations). All randomness is integer arithmetic, so that the bytes are the same on every machine; two hashes per
// element make 100 MB in a fraction of a second.
class Normals {
 public:
  Normals(uint64_t seed, double scale, double shift)
      : key_(mix64(seed)), factor_(scale / std::sqrt(kVariance)), shift_(shift) {}
  double at(uint64_t index) const {
    const uint64_t sum = sum_of_parts(mix64(key_ + 2 * index)) + sum_of_parts(mix64(key_ + 2 * index + 1));
    return (static_cast<double>(sum) - kMean) * factor_ + shift_;
  }

 private:
  static constexpr double kMean = 8 * 65535.0 / 2;
  static constexpr double kVariance = 8 * (65536.0 * 65536.0 - 1) / 12;
  uint64_t key_;
  double factor_;
  double shift_;
};

std::string reserve_bytes(const ops::TensorType& type) {
  try {
    return std::string(static_cast<size_t>(type.bytes()), '\0');
  } catch (const std::exception&) {
    fail("no memory for a weight of type {}", ops::to_string(type));
  }
}

void check_static(const ops::TensorType& type) {
  if (!type.is_static()) fail("a weight cannot have the type {}: its shape must be known", ops::to_string(type));
}

// The bits of elements whose exponent is all ones: infinities, and NaNs, where the mantissa is not 0; and kExtreme.
// `one`: the bits of the number 1.
template <typename Word>
uint8_t infinities_of(const std::string& data, Word exponent, Word one) {
  constexpr Word kMagnitude = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1);
  const Word unit = static_cast<Word>(exponent & static_cast<Word>(~exponent + 1));  // of the exponent: its lowest bit
  Word largest = 0;
  uint8_t found = kFinite;
  constexpr size_t kBlock = 1024;  // looked at as a whole first: almost all hold none
  const size_t count = data.size() / sizeof(Word);
  for (size_t start = 0; start < count; start += kBlock) {
    const size_t end = std::min(count, start + kBlock);
    std::array<Word, kBlock> words;
    std::memcpy(words.data(), data.data() + start * sizeof(Word), (end - start) * sizeof(Word));
    Word any = 0;
    for (size_t k = 0; k < end - start; ++k) any |= static_cast<Word>((words[k] & exponent) == exponent);
    for (size_t k = 0; k < end - start; ++k) {
      const Word magnitude = static_cast<Word>(words[k] & kMagnitude);
      largest = std::max(largest, magnitude < exponent ? magnitude : Word{0});
    }
    for (size_t k = 0; any != 0 && k < end - start; ++k) {
      if ((words[k] & exponent) != exponent) continue;
      const Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
      const bool nan = static_cast<Word>(words[k] & ~sign) != exponent;
      found |= nan ? kBothInfinite : (words[k] & sign) != 0 ? kNegativeInfinite : kPositiveInfinite;
    }
  }
  constexpr uint64_t kModerate = 20;  // powers of 2
  const uint64_t steps = (largest > one ? largest - one : one - largest) / unit;
  return found | (largest != 0 && steps >= kModerate ? kExtreme : kFinite);
}

}  // namespace

uint8_t infinities_of(ops::DType dtype, const std::string& data) {
  if (dtype == ops::DType::f32) return infinities_of<uint32_t>(data, 0x7F800000u, 0x3F800000u);
  if (dtype == ops::DType::f64) return infinities_of<uint64_t>(data, 0x7FF0000000000000u, 0x3FF0000000000000u);
  if (dtype == ops::DType::f16) return infinities_of<uint16_t>(data, 0x7C00u, 0x3C00u);
  if (dtype == ops::DType::bf16) return infinities_of<uint16_t>(data, 0x7F80u, 0x3F80u);
  return kFinite;
}

std::shared_ptr<const Blob> Blob::seeded(ops::TensorType type, uint64_t seed, double scale, double shift,
                                         bool positive) {
  check_static(type);
  if (type.dtype != ops::DType::f32) fail("seeded weights are f32, not {}", ops::to_string(type));
  if (!std::isfinite(scale) || !std::isfinite(shift)) fail("seeded weights need a finite scale and shift");
  std::shared_ptr<Blob> blob(new Blob());
  blob->kind_ = Kind::seeded;
  blob->hash_ = hash_combine(hash_combine(type.hash(), seed), positive ? 2 : 1);
  blob->hash_ = hash_combine(blob->hash_, std::bit_cast<uint64_t>(scale + 0.0));
  blob->hash_ = hash_combine(blob->hash_, std::bit_cast<uint64_t>(shift + 0.0));
  blob->type_ = std::move(type);
  blob->seed_ = seed;
  blob->scale_ = scale;
  blob->shift_ = shift;
  blob->positive_ = positive;
  return blob;
}

std::shared_ptr<const Blob> Blob::bytes(ops::TensorType type, std::string data) {
  const uint64_t hash = hash_bytes(data.data(), data.size(), type.hash());
  return bytes(std::move(type), std::move(data), hash);
}

std::shared_ptr<const Blob> Blob::bytes(ops::TensorType type, std::string data, uint64_t content_hash) {
  check_static(type);
  if (type.dtype != ops::DType::other && static_cast<uint64_t>(type.bytes()) != data.size()) {
    fail("a weight of type {} has {} bytes, not {}", ops::to_string(type), type.bytes(), data.size());
  }
  std::shared_ptr<Blob> blob(new Blob());
  blob->kind_ = Kind::bytes;
  blob->hash_ = content_hash;
  blob->infinities_ = infinities_of(type.dtype, data);
  blob->type_ = std::move(type);
  blob->data_ = std::make_shared<const std::string>(std::move(data));
  return blob;
}

std::shared_ptr<const Blob> Blob::absent(ops::TensorType type, uint64_t content_hash, uint8_t infinities) {
  check_static(type);
  std::shared_ptr<Blob> blob(new Blob());
  blob->kind_ = Kind::absent;
  blob->hash_ = content_hash;
  blob->infinities_ = infinities;
  blob->type_ = std::move(type);
  return blob;
}

std::string Blob::load() const {
  if (kind_ == Kind::bytes) return *data_;
  if (kind_ == Kind::absent) fail("the contents of a weight ({}) are not in this process", ops::to_string(type_));
  std::string data = reserve_bytes(type_);
  const Normals normals(seed_, scale_, shift_);
  const auto count = static_cast<uint64_t>(type_.elements());
  for (uint64_t i = 0; i < count; ++i) {
    const double number = normals.at(i);
    const auto stored = static_cast<float>(positive_ ? std::fabs(number) + 0.5 : number);
    std::memcpy(data.data() + i * sizeof(float), &stored, sizeof(float));
  }
  return data;
}

std::shared_ptr<const std::string> Blob::share() const {
  return kind_ == Kind::bytes ? data_ : std::make_shared<const std::string>(load());
}

std::string Blob::describe() const {
  if (kind_ != Kind::seeded)
    return "hash=" + hex(hash_) + (infinities_ == kFinite ? "" : fmt::format(" infinities={}", infinities_));
  return fmt::format("seed={} scale={} shift={} positive={}", seed_, scale_, shift_, positive_ ? 1 : 0);
}

uint64_t Opaque::hash() const {
  uint64_t h = hash_string(payload, hash_string(domain, hash_string(op_type)));
  h = hash_combine(h, deterministic ? 1 : 0);
  for (const bool present : formal_inputs) h = hash_combine(h, present ? 1 : 0);
  for (const auto& name : captured) h = hash_string(name, h);
  for (const auto& name : outputs) h = hash_string(name, h);
  return h;
}

}  // namespace rlgo::graph
