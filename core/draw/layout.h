// Places for boxes and arrows, in layers from top to bottom (Sugiyama's method).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace rlgo::graph {

// A picture takes too long to lay out.
class TooLarge : public Error {
 public:
  using Error::Error;
};

struct Size {  // of a box
  double width = 0, height = 0;
};
struct Point {  // in units of the drawing, y downwards
  double x = 0, y = 0;
};

struct Layout {
  std::vector<Point> centres;              // of the boxes
  std::vector<std::vector<Point>> routes;  // of the arrows: from box to box by way of places between other boxes
  double width = 0, height = 0;
};

// Layers by longest path, crossings lowered by medians, places by least squares under the order in each layer
// (pool-adjacent-violators). Arrows are pairs of box numbers, without doubles. Throws Error on a cycle, and TooLarge
// where arrows pass too many layers: their places may grow with the square of the boxes.
// O(arrows and places they pass, times a logarithm).
Layout layered_layout(std::span<const Size> boxes, std::span<const std::pair<int, int>> arrows);

}  // namespace rlgo::graph
