// 64-bit hashing that is the same on every machine and run (never std::hash: it may differ between libraries).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace rlgo {

// The finaliser of splitmix64 (Steele et al. 2014): a bijection that mixes all bits.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Order-dependent combination.
constexpr uint64_t hash_combine(uint64_t seed, uint64_t value) { return mix64(seed * 0x100000001B3ull ^ mix64(value)); }

inline uint64_t hash_bytes(const void* data, size_t size, uint64_t seed = 0) {  // by words of 8 bytes
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t h = mix64(seed ^ size);
  while (size >= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = hash_combine(h, word);
    p += 8;
    size -= 8;
  }
  uint64_t tail = 0;
  if (size > 0) std::memcpy(&tail, p, size);
  return hash_combine(h, tail);
}

inline uint64_t hash_string(std::string_view text, uint64_t seed = 0) {  // of the characters
  return hash_bytes(text.data(), text.size(), seed);
}

inline uint64_t hash_ints(std::span<const int64_t> values, uint64_t seed = 0) {  // of the values in order
  uint64_t h = mix64(seed ^ values.size());
  for (int64_t v : values) h = hash_combine(h, static_cast<uint64_t>(v));
  return h;
}

}  // namespace rlgo
