// Which real number a floating-point constant stands for: 0.16666667 is 1/6, 1.4142135 is the square root of 2.
#pragma once

#include <cstdint>

namespace rlgo::rulegen {

// num / den * sqrt(root), root >= 1 without square factors. Where !exact, no such form was found and the number is
// `value`, taken as a constant of its own.
struct Real {
  int64_t num = 0;
  int64_t den = 1;
  int64_t root = 1;
  bool exact = true;
  double value = 0;
};

// Rules are about real numbers, constants in graphs are rounded ones. In this order:
//   at most 31 bits before and 20 behind the binary point   as it stands
//   within 2^-22 (relative) of a fraction with denominator <= 64     the fraction
//   the double or float nearest to a decimal of <= 5 digits          the decimal (1e-5, 0.044715)
//   its square is within 2^-21 of a fraction of numbers <= 64        the square root
//   within 2^-22 of sqrt(2 / pi)                                     that number, not exact
//   the double nearest to 1 / c of a float c                         1 / c
//   any other                                                        as it stands where num and den fit, else not exact
// Chance takes an arbitrary float for a fraction in fewer than 1 of 1,000 cases.
Real real_of(double value);

}  // namespace rlgo::rulegen
