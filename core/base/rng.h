// Seeded random streams: every stream is named by (seed, rank, episode, ...) so that any episode can be run again.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "core/base/hash.h"

namespace rlgo {

// xoshiro256** (Blackman and Vigna 2018). Small, copyable, its state can be saved and restored.
class Rng {
 public:
  using State = std::array<uint64_t, 4>;
  // Streams with different keys are independent for all practical purposes: Rng({seed, rank, episode}).
  explicit Rng(std::initializer_list<uint64_t> key) {
    uint64_t h = 0x5EED5EED5EED5EEDull;
    for (uint64_t part : key) h = hash_combine(h, part);
    for (auto& word : state_) word = h = mix64(h);
  }
  explicit Rng(const State& state) : state_(state) {}
  const State& state() const { return state_; }

  uint64_t next() {
    const uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }
  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Uniform in {0, ..., n-1}; n > 0. Unbiased (Lemire 2019 with rejection).
  uint64_t below(uint64_t n) {
    for (;;) {
      const Wide m = static_cast<Wide>(next()) * n;
      if (static_cast<uint64_t>(m) >= -n % n) return static_cast<uint64_t>(m >> 64);
    }
  }
  // Standard normal (Box-Muller, one of the pair; no hidden state).
  double normal() {
    const double u = 1.0 - uniform();
    const double v = uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  State state_;
};

}  // namespace rlgo
