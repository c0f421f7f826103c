#include "core/draw/chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.h"
#include "core/draw/svg.h"

namespace rlgo::report {
namespace {

constexpr double kWidth = 460, kHeight = 260, kLeft = 62, kRight = 14, kTop = 30, kBottom = 44;
constexpr int kTicks = 5;
constexpr const char* kColours[] = {"#175ea8", "#b3480c", "#14722b", "#7b2d8b", "#8a6d00", "#555"};

struct Scale {
  double low = 0, high = 1;
  // A range that is rounding noise alone would have more ticks than numbers.
  void widen() {
    if (high - low > 1e-9 * std::max(std::abs(low), std::abs(high))) return;
    const double by = low == 0 ? 1 : std::abs(low) * 0.05;
    low -= by;
    high += by;
  }
  double fraction(double value) const { return (value - low) / (high - low); }
};

// 1, 2 or 5 times a power of ten.
double tick_step(const Scale& scale) {
  const double raw = (scale.high - scale.low) / kTicks;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (raw <= nice * power) return nice * power;
  }
  return 10 * power;
}

double x_of(const Scale& scale, double value) { return kLeft + scale.fraction(value) * (kWidth - kLeft - kRight); }
double y_of(const Scale& scale, double value) {
  return kHeight - kBottom - scale.fraction(value) * (kHeight - kTop - kBottom);
}

// The multiples of tick_step within the scale.
std::vector<double> ticks(const Scale& scale) {
  const double step = tick_step(scale);
  const auto first = std::llround(std::ceil(scale.low / step));
  const auto last = std::llround(std::floor(scale.high / step + 1e-9));
  std::vector<double> all;
  for (auto k = first; k <= last; ++k) all.push_back(static_cast<double>(k) * step);
  return all;
}

std::string axes(const Chart& chart, const Scale& x, const Scale& y) {
  std::string out;
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  for (const double t : ticks(x)) {
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:.6g}</text>\n",
        x_of(x, t), kTop, bottom, bottom + 15, t);
  }
  for (const double t : ticks(y)) {
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:.6g}</text>\n",
        kLeft, y_of(y, t), right, kLeft - 5, y_of(y, t) + 4, t);
  }
  out += fmt::format("<path class=\"axis\" d=\"M{} {}V{}H{}\"/>\n", kLeft, kTop, bottom, right);
  out += fmt::format("<text class=\"name\" x=\"{}\" y=\"16\">{}</text>\n", kLeft, graph::xml_escaped(chart.title));
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", right, kHeight - 12,
                     graph::xml_escaped(chart.x));
  out += fmt::format("<text x=\"{}\" y=\"16\" text-anchor=\"end\">{}</text>\n", right, graph::xml_escaped(chart.y));
  return out;
}

// The points that the page's script shows: place and value of each, thinned to what a screen can show.
std::string hover_points(const Line& line, const Scale& x, const Scale& y) {
  constexpr size_t kMost = 400;
  std::vector<std::pair<double, double>> points;
  std::ranges::copy_if(line.points, std::back_inserter(points),
                       [](const auto& p) { return std::isfinite(p.first) && std::isfinite(p.second); });
  std::string out;
  const size_t shown = std::min(points.size(), kMost);
  for (size_t k = 0; k < shown; ++k) {
    const auto& [px, py] = points[shown == 1 ? 0 : k * (points.size() - 1) / (shown - 1)];
    out += fmt::format("{}{:.1f} {:.1f} {:.6g} {:.6g}", k == 0 ? "" : ",", x_of(x, px), y_of(y, py), px, py);
  }
  return out;
}

std::string draw(const Line& line, const char* colour, const Scale& x, const Scale& y) {
  std::string path;
  for (const auto& [px, py] : line.points) {
    if (!std::isfinite(px) || !std::isfinite(py)) continue;
    if (path.empty())
      path = fmt::format("M{:.1f} {:.1f}", x_of(x, px), y_of(y, py));
    else if (line.steps)
      path += fmt::format("H{:.1f}V{:.1f}", x_of(x, px), y_of(y, py));
    else
      path += fmt::format("L{:.1f} {:.1f}", x_of(x, px), y_of(y, py));
  }
  if (path.empty()) return "";
  return fmt::format("<path class=\"line{}\" stroke=\"{}\" d=\"{}\" data-name=\"{}\" data-points=\"{}\"/>\n",
                     line.reference ? " reference" : "", colour, path, graph::xml_escaped(line.name),
                     hover_points(line, x, y));
}

}  // namespace

std::string to_svg(const Chart& chart) {
  Scale x, y;
  bool any = false;
  for (const Line& line : chart.lines) {
    for (const auto& [px, py] : line.points) {
      if (!std::isfinite(px) || !std::isfinite(py)) continue;
      x = {any ? std::min(x.low, px) : px, any ? std::max(x.high, px) : px};
      y = {any ? std::min(y.low, py) : py, any ? std::max(y.high, py) : py};
      any = true;
    }
  }
  if (!any) return "";
  x.widen();
  y.widen();
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 "
      "0 {0} {1}\" aria-label=\"{2}\">\n",
      kWidth, kHeight, graph::xml_escaped(chart.title));
  out += axes(chart, x, y);
  double legend = kLeft + 8;
  for (size_t k = 0; k < chart.lines.size(); ++k) {
    const char* colour = kColours[k % std::size(kColours)];
    out += draw(chart.lines[k], colour, x, y);
    if (chart.lines.size() == 1) continue;
    out += fmt::format("<text x=\"{:.0f}\" y=\"{}\" style=\"fill:{}\">{}</text>\n", legend, kHeight - 12, colour,
                       graph::xml_escaped(chart.lines[k].name));
    legend += 12 + 6.5 * static_cast<double>(chart.lines[k].name.size());
  }
  return out + "</svg>\n";
}

std::string to_svg(const std::vector<Chart>& charts) {
  std::string out;
  for (const Chart& chart : charts) out += to_svg(chart);
  return out.empty() ? "" : "<div class=\"charts\">\n" + out + "</div>\n";
}

}  // namespace rlgo::report
