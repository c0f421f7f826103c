// Resize. Cubic ones become products with constant matrices: runtimes take 8 to 40 times the time (ONNX Runtime).
#include <algorithm>
#include <array>
#include <cmath>

#include "core/onnx/constant.h"
#include "core/onnx/converters.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

constexpr int64_t kMostElements = int64_t{1} << 18;  // of a matrix

// Along one axis.
struct Line {
  int64_t from = 0, to = 0;
  double scale = 1;
};

// Where the centre of new pixel k lies among the old ones; nothing for other words than ONNX's plain ones.
std::optional<double> source(const std::string& coordinates, const Line& line, int64_t k) {
  const auto at = static_cast<double>(k);
  if (coordinates == "asymmetric") return at / line.scale;
  if (coordinates == "align_corners")
    return line.to == 1 ? 0 : at * static_cast<double>(line.from - 1) / static_cast<double>(line.to - 1);
  if (coordinates == "pytorch_half_pixel" && line.to == 1) return 0;
  if (coordinates != "half_pixel" && coordinates != "pytorch_half_pixel") return std::nullopt;
  return (at + 0.5) / line.scale - 0.5;
}

// The weights of the four pixels around a place that lies `part` behind the second of them (Keys 1981, equation 4).
std::array<double, 4> cubic(double part, double a) {
  const auto near = [a](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [a](double x) { return ((x - 5) * x + 8) * x * a - 4 * a; };
  return {far(1 + part), near(part), near(1 - part), far(2 - part)};
}

// [to, from], or turned round: what each new pixel is made of. Pixels beyond the edge are those at the edge.
std::shared_ptr<const graph::Blob> matrix(const std::string& coordinates, const Line& line, double a, bool turned) {
  std::vector<double> numbers(static_cast<size_t>(line.from * line.to), 0.0);
  for (int64_t k = 0; k < line.to; ++k) {
    const auto at = source(coordinates, line, k);
    if (!at) return nullptr;
    const auto first = static_cast<int64_t>(std::floor(*at)) - 1;
    const auto weights = cubic(*at - std::floor(*at), a);
    for (int64_t tap = 0; tap < 4; ++tap) {
      const int64_t from = std::clamp<int64_t>(first + tap, 0, line.from - 1);
      numbers[static_cast<size_t>(turned ? from * line.to + k : k * line.from + from)] +=
          weights[static_cast<size_t>(tap)];
    }
  }
  std::string bytes;
  for (const double number : numbers) bytes += element_bytes(ops::DType::f32, number);
  const ops::Shape shape = turned ? ops::Shape{line.from, line.to} : ops::Shape{line.to, line.from};
  return graph::Blob::bytes({ops::DType::f32, shape}, std::move(bytes));
}

// Rows and columns one after the other, first those that leave less to do.
bool convert_cubic(const OnnxNode& node, Maker& maker) {
  const auto &x = node.input_types[0], &y = node.output_types[0];
  if (x.dtype != ops::DType::f32 || !y.is_static() || y.rank() != 4) return false;
  if (!y.extent(0).same(x.extent(0)) || !y.extent(1).same(x.extent(1))) return false;
  const std::string coordinates = node.s("coordinate_transformation_mode", "half_pixel");
  const double a = node.f("cubic_coeff_a", -0.75);
  const Constant* given = node.constant(2);
  const bool scaled = given && given->floats.size() == 4;
  if (!scaled && !node.has_input(3)) return false;
  Line lines[2];
  for (int64_t d = 2; d < 4; ++d) {
    if (x.is_open(d) || y.is_open(d)) return false;
    Line& line = lines[d - 2];
    line = {x.shape[d], y.shape[d], static_cast<double>(y.shape[d]) / static_cast<double>(x.shape[d])};
    if (scaled) line.scale = given->floats[static_cast<size_t>(d)];
    if (line.from < 1 || line.to < 1 || line.from * line.to > kMostElements) return false;
  }
  const auto rows = matrix(coordinates, lines[0], a, false), columns = matrix(coordinates, lines[1], a, true);
  if (!rows || !columns) return false;
  const graph::Value down = maker.weight("rows", rows), across = maker.weight("columns", columns);
  if (lines[0].to * lines[1].from <= lines[0].from * lines[1].to) {
    maker.out(Op::matmul, {maker.op(Op::matmul, {down, node.inputs[0]}), across});
  } else {
    maker.out(Op::matmul, {down, maker.op(Op::matmul, {node.inputs[0], across})});
  }
  return true;
}

}  // namespace

// Images only, height and width by constant scales; other forms are kept as they are. Sizes count as scales where the
// ratio is a whole number. A cubic one becomes two products.
bool convert_resize(const OnnxNode& node, Maker& maker) {
  const auto &x = node.input_types[0], &y = node.output_types[0];
  if (x.rank() != 4 || !ops::is_float(x.dtype) || node.opset < 11) return false;
  const std::string mode = node.s("mode", "nearest");
  if (node.i("antialias", 0) != 0 || node.i("exclude_outside", 0) != 0 || node.has("axes")) return false;
  if (node.s("keep_aspect_ratio_policy", "stretch") != "stretch") return false;
  if (mode == "cubic") return convert_cubic(node, maker);
  double scales[2] = {0, 0};
  const Constant* given = node.constant(2);
  if (given && given->floats.size() == 4) {
    if (given->floats[0] != 1.0 || given->floats[1] != 1.0) return false;
    scales[0] = given->floats[2];
    scales[1] = given->floats[3];
  } else {
    if (!node.has_input(3) || !y.is_static() || y.rank() != 4) return false;
    if (!y.extent(0).same(x.extent(0)) || !y.extent(1).same(x.extent(1))) return false;
    for (int64_t d = 0; d < 2; ++d) {
      const auto ratio = ops::divide_exactly(y.extent(2 + d), x.extent(2 + d));
      if (!ratio || !ratio->is_number() || !ratio->at_least(1)) return false;
      scales[d] = static_cast<double>(*ratio->number());
    }
  }
  ops::Attrs attrs{{Attr::coordinates, node.s("coordinate_transformation_mode", "half_pixel")},
                   {Attr::mode, mode},
                   {Attr::scale_h, scales[0]},
                   {Attr::scale_w, scales[1]}};
  if (mode == "nearest") attrs.set(Attr::rounding, node.s("nearest_mode", "round_prefer_floor"));
  maker.out(Op::resize, {node.inputs[0]}, attrs);
  return true;
}

}  // namespace rlgo::onnx_io
