// How fast the machine is at a moment. Neighbours on a shared machine, turbo clocks and heat change it by a third and
// more from one second to the next, so the more expensive of two groups timed a second apart may seem the cheaper. A
// small convolution is timed next to every sample, and samples are scaled to one clock calibration.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace rlgo::measure {

// Files that go with many requests, written when they are first asked for. Throws Error.
class StandardModels {
 public:
  explicit StandardModels(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // A model that computes nothing: what a run takes besides.
  std::string empty();
  // The model that is timed next to others: a 3x3 convolution of 64 channels, 14 by 14 places, 0.1 ms of one core.
  std::string reference();

 private:
  std::filesystem::path folder_;
  std::string empty_, reference_;
};

// The reference's time, under which all others of a cost table hold, stands there by this name.
constexpr const char* kReferenceSignature = "reference: conv2d (x0:f32[1,64,14,14], c:f32[64,64,3,3])!";

// Scales samples to one clock calibration.
class ClockCalibration {
 public:
  // The reference's time to which all samples are scaled, us; 0 until the first ones, whose median it is.
  double reference_us() const { return reference_us_; }
  void set_reference_us(double us) { reference_us_ = us; }
  // `results`: an array of a measurer's results, whose `samples_us` are scaled by the `reference_us` next to each.
  // Those without stay as they are. Throws Error where the two do not fit together, or a time is none.
  void scale(nlohmann::json& results);

 private:
  double reference_us_ = 0;
};

}  // namespace rlgo::measure
