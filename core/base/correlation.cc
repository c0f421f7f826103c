#include "core/base/correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"

namespace rlgo {

double correlation(std::span<const double> a, std::span<const double> b) {
  RLGO_CHECK_EQ(a.size(), b.size());
  const auto n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> out(values.size());
  for (size_t from = 0, to = 0; from < order.size(); from = to) {
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (size_t k = from; k < to; ++k) out[order[k]] = 0.5 * static_cast<double>(from + to - 1);
  }
  return out;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  return correlation(ranks(a), ranks(b));
}

}  // namespace rlgo
