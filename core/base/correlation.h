// How well two columns of numbers agree.
#pragma once

#include <span>
#include <vector>

namespace rlgo {

// Pearson's correlation, in [-1, 1]; 0 where one side is constant. Both of one length.
double correlation(std::span<const double> a, std::span<const double> b);
// The place of each value in ascending order, from 0; equal values share the mean of their places.
std::vector<double> ranks(std::span<const double> values);
// Spearman's: correlation of ranks.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace rlgo
