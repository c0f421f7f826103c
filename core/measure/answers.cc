#include "core/measure/answers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/quantile.h"

namespace rlgo::measure {

using Json = nlohmann::json;
using cost::Timing;

std::vector<double> samples_of(const Json& result) {
  auto samples = result.at("samples_us").get<std::vector<double>>();
  for (const double us : samples) {
    if (!std::isfinite(us) || us < 0) throw ChildFailure{fmt::format("answers a time of {} us", us), {}};
  }
  if (samples.empty()) throw ChildFailure{"answers no sample", {}};
  return samples;
}

Timing timing_of(const Json& result) {
  Timing timing;
  if (result.contains("error")) {
    timing.error = result.at("error").get<std::string>();
    if (timing.error.empty()) timing.error = "no reason given";
    return timing;
  }
  const auto samples = samples_of(result);
  timing.median_us = median(samples);
  timing.spread_us = interquartile_range(samples);
  timing.min_us = *std::min_element(samples.begin(), samples.end());
  timing.samples = static_cast<int>(samples.size());
  timing.layout_fraction = result.value("layout_fraction", result.value("layout_share", 0.0));  // old name
  if (!(timing.layout_fraction >= 0 && timing.layout_fraction <= 1)) {
    throw ChildFailure{fmt::format("answers a layout_fraction of {}", timing.layout_fraction), {}};
  }
  if (result.contains("loading")) {
    const Json& reported = result.at("loading");
    timing.loading = {reported.at("seconds").get<double>(), reported.at("bytes").get<int64_t>()};
  }
  return timing;
}

Timing failed(std::string why) {
  Timing timing;
  timing.error = std::move(why);
  return timing;
}

}  // namespace rlgo::measure
