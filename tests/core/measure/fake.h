// The fake measurer, and small models for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/measure/measurer.h"

namespace rlgo::measure {

inline std::vector<std::string> fake(std::vector<std::string> wrongs = {}) {
  std::vector<std::string> argv = {"python3", "tests/core/measure/_fake_measurer.py"};
  argv.insert(argv.end(), wrongs.begin(), wrongs.end());
  return argv;
}

inline MeasurerOptions quick() {
  MeasurerOptions options;
  options.repeats = 5;
  options.silence_s = 2;
  options.max_restarts = 3;
  return options;
}

// A file of that many bytes, which the fake times at as many microseconds.
inline std::filesystem::path file_of(Measurer& measurer, const std::string& stem, size_t bytes) {
  const auto path = measurer.temporary(stem);
  atomic_write(path, std::string(bytes, 'x'));
  return path;
}

}  // namespace rlgo::measure
