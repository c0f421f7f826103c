// Model files raced against each other under the runtime that will serve them.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/exec/device.h"
#include "core/measure/measurer.h"
#include "launch/config.h"
#include "core/optimise/plan.h"
#include "core/optimise/result.h"

namespace rlgo::launch {

class Racetrack {
 public:
  // `measurer` null: LibTorch on `device`.
  Racetrack(const RunConfig& config, measure::Measurer* measurer, const exec::Device& device)
      : config_(config), measurer_(measurer), device_(device) {}
  // Latencies in turns; the first file is the one to compare with. `least` rounds, then more, up to `repeats`, until
  // `seconds` are over. A failure is told in the result.
  measure::Comparison race(std::span<const std::filesystem::path> files, int repeats, double seconds, int least);
  // Of the races so far.
  const Pace& pace() const { return pace_; }

 private:
  measure::Comparison in_libtorch(std::span<const std::filesystem::path> files, int repeats, double seconds,
                                  int least) const;
  const RunConfig& config_;
  measure::Measurer* measurer_;
  exec::Device device_;
  Pace pace_;
};

// What a ratio of a race is uncertain by: the larger of what the same file showed against itself, the half-width of the
// 95 % interval of the median (1.57 interquartile ranges over the root of the samples, McGill et al. 1978), and 0.5 %.
// The first two count 1 + 1.8 / (samples - 1) times, about what Student's t adds: few samples say less than they show.
double margin_of(const measure::Comparison& race, size_t model);

}  // namespace rlgo::launch
