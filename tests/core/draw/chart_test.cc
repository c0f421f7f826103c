#include "core/draw/chart.h"

#include <gtest/gtest.h>

namespace rlgo::report {
namespace {

Chart chart_of(std::vector<std::pair<double, double>> points) {
  return {"title", "x", "y", {{"line", std::move(points), false}}};
}

size_t labels(const std::string& svg) {
  size_t count = 0;
  for (size_t at = svg.find("<text"); at != std::string::npos; at = svg.find("<text", at + 1)) ++count;
  return count;
}

TEST(Chart, TicksAreFewWhateverTheRange) {
  for (const double spread : {0.0, 1e-15, 1e-9, 1.0, 1e12}) {
    const std::string svg = to_svg(chart_of({{0, 7.0}, {1, 7.0 + spread}}));
    EXPECT_GE(labels(svg), 7U) << spread;
    EXPECT_LE(labels(svg), 24U) << spread;
  }
}

}  // namespace
}  // namespace rlgo::report
