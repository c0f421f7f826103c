// The constants of a cost profile: how files call them, where they are kept, and what they may be.
#pragma once

#include <span>

#include "core/cost/analytic.h"

namespace rlgo::cost {

// One constant of a profile.
struct ProfileField {
  const char* key;  // "arithmetic.conv_1x1"
  double AnalyticOptions::*member;
  double low;     // belongs to the range where !open_low
  double high;    // belongs to the range
  bool open_low;  // true: the constant is above `low`
  const char* help;
};
// In the order of files.
std::span<const ProfileField> profile_fields();

}  // namespace rlgo::cost
