// Line charts as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rlgo::report {

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x ascending; points that are not finite are left out
  bool steps = false;                             // holds its value until the next point
  bool reference = false;                         // drawn dashed: what the other lines are compared with
};

struct Chart {
  std::string title, x, y;  // y and x with units
  std::vector<Line> lines;
};

// An <svg> of about 460 x 260; "" where no line has a point. The page's script shows a line's values under the pointer.
std::string to_svg(const Chart& chart);
// Charts side by side.
std::string to_svg(const std::vector<Chart>& charts);

}  // namespace rlgo::report
