#include "core/verify/centred_inputs.h"

#include <algorithm>
#include <cmath>

#include "core/evaluate/strided.h"

namespace rlgo::verify {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Use;
using graph::Value;
using ops::Attr;
using ops::Op;

constexpr int kFollowed = 8;       // operators behind an input
constexpr double kLeastRatio = 4;  // of a centre to the spread around it

// Numbers that broadcast with one another.
struct Numbers {
  ops::Shape shape;
  std::vector<double> values;
};

// Element by element.
template <typename F>
Numbers combined(const Numbers& a, const Numbers& b, const F& f) {
  Numbers out{*ops::broadcast(a.shape, b.shape), {}};
  const evaluate::Walk<2> walk(
      out.shape, {evaluate::broadcast_steps(a.shape, out.shape), evaluate::broadcast_steps(b.shape, out.shape)});
  walk.each(0, walk.rows(), [&](const auto& at) {
    for (int64_t i = 0; i < walk.length(); ++i)
      out.values.push_back(f(a.values[static_cast<size_t>(at[0] + i * walk.step(0))],
                             b.values[static_cast<size_t>(at[1] + i * walk.step(1))]));
  });
  return out;
}
Numbers operator*(const Numbers& a, const Numbers& b) { return combined(a, b, std::multiplies<>()); }
Numbers operator/(const Numbers& a, const Numbers& b) { return combined(a, b, std::divides<>()); }
Numbers operator+(const Numbers& a, const Numbers& b) { return combined(a, b, std::plus<>()); }
Numbers operator-(const Numbers& a, const Numbers& b) { return combined(a, b, std::minus<>()); }
Numbers number(double value) { return {{}, {value}}; }

// What an input has become: scale * x + shift, element by element.
struct Affine {
  Numbers scale = number(1), shift = number(0);

  void times(const Numbers& factor) {
    scale = scale * factor;
    shift = shift * factor;
  }
};

// Contents of a weight; nothing for other values.
std::optional<Numbers> contents(const Graph& graph, Value value) {
  const auto& info = *graph.node(value.node).info;
  if (info.op != Op::weight || !info.blob->available() || !ops::is_float(info.outputs[0].dtype)) return std::nullopt;
  return Numbers{info.outputs[0].shape, numbers_of(Tensor::of(*info.blob))};
}

bool follow_batch_norm(const Graph& graph, const graph::Node& node, Affine& affine) {
  std::vector<Numbers> parts;
  ops::Shape shape(static_cast<size_t>(graph.type(node.inputs[0]).rank()), 1);
  if (shape.size() < 2) return false;
  for (size_t k = 1; k < 5; ++k) {
    auto part = contents(graph, node.inputs[k]);
    if (!part) return false;
    shape[1] = static_cast<int64_t>(part->values.size());
    parts.push_back({shape, std::move(part->values)});
  }
  Numbers deviation = parts[3] + number(node.attrs().f(Attr::eps));
  for (double& value : deviation.values) value = std::sqrt(value);
  affine.shift = affine.shift - parts[2];
  affine.times(parts[0] / deviation);
  affine.shift = affine.shift + parts[1];
  return true;
}

// Takes the operator that reads the value at operand `place` into account; false where it is none of these.
bool follow(const Graph& graph, const graph::Node& node, int32_t place, Affine& affine) {
  const Op op = node.op();
  if (op == Op::cast) return ops::is_float(node.info->outputs[0].dtype);
  if (op == Op::batch_norm) return place == 0 && follow_batch_norm(graph, node, affine);
  if (op != Op::add && op != Op::sub && op != Op::mul && op != Op::div) return false;
  const auto other = contents(graph, node.inputs[1 - place]);
  if (!other || (op == Op::div && place == 1)) return false;
  if (op == Op::mul) affine.times(*other);
  if (op == Op::div) affine.times(number(1) / *other);
  if (op == Op::add) affine.shift = affine.shift + *other;
  if (op == Op::sub && place == 0) affine.shift = affine.shift - *other;
  if (op == Op::sub && place == 1) {
    affine.times(number(-1));
    affine.shift = affine.shift + *other;
  }
  return true;
}

// Where an input is to lie, element by element.
struct Around {
  std::vector<double> centre, spread;
  double ratio = 0;  // the largest of centre to spread
};

// A part of an input: the places of its elements.
struct Part {
  ops::Shape shape;
  std::vector<int64_t> steps;
  int64_t start = 0;
};

double ratio_of(double centre, double spread) { return std::abs(centre) / spread; }

// Calls visit(place in the input, place in `numbers`) for each element of the part, to which `numbers` broadcasts.
template <typename Visit>
void each_element(const Part& part, const Numbers& numbers, const Visit& visit) {
  const evaluate::Walk<2> walk(part.shape, {part.steps, evaluate::broadcast_steps(numbers.shape, part.shape)});
  walk.each(0, walk.rows(), [&](const auto& at) {
    for (int64_t i = 0; i < walk.length(); ++i)
      visit(static_cast<size_t>(part.start + at[0] + i * walk.step(0)), static_cast<size_t>(at[1] + i * walk.step(1)));
  });
}

// What the graph takes away from a value by way of one of its readers, where that is more than what was found for
// `part` of the input before.
void look_at_reader(const Graph& graph, Use use, Around& all, const Part& part) {
  Affine affine;
  for (int k = 0; k < kFollowed; ++k) {
    const graph::Node& node = graph.node(use.user);
    Affine next = affine;
    if (!follow(graph, node, use.input, next) ||
        node.info->outputs[0].shape != graph.type(node.inputs[use.input]).shape)
      break;
    affine = next;
    if (node.uses.empty()) break;
    use = node.uses[0];
  }
  Numbers centre = number(0) - affine.shift / affine.scale, spread = affine.scale;
  for (double& value : centre.values) value = or_zero(value);
  for (double& value : spread.values) value = std::isfinite(1 / value) ? 1 / std::abs(value) : 1;
  // Both in one shape.
  spread = spread + combined(centre, centre, [](double, double) { return 0.0; });
  centre = centre + combined(spread, spread, [](double, double) { return 0.0; });
  double ratio = 0, before = 0;
  for (size_t k = 0; k < centre.values.size(); ++k)
    ratio = std::max(ratio, ratio_of(centre.values[k], spread.values[k]));
  if (ratio < kLeastRatio) return;
  each_element(part, centre,
               [&](size_t to, size_t) { before = std::max(before, ratio_of(all.centre[to], all.spread[to])); });
  if (ratio <= before) return;
  each_element(part, centre, [&](size_t to, size_t from) {
    all.centre[to] = centre.values[from];
    all.spread[to] = spread.values[from];
  });
  all.ratio = std::max(all.ratio, ratio);
}

// The part that a slice or a split passes on as its output `port`.
Part part_of(const graph::Node& node, int32_t port, const Part& whole) {
  Part part = whole;
  part.shape = node.info->outputs[static_cast<size_t>(port)].shape;
  if (node.op() == Op::split) {
    const auto& sizes = node.attrs().ints(Attr::sizes);
    const auto axis = static_cast<size_t>(node.attrs().i(Attr::axis));
    for (int32_t before = 0; before < port; ++before)
      part.start += sizes[static_cast<size_t>(before)] * part.steps[axis];
    return part;
  }
  const auto &axes = node.attrs().ints(Attr::axes), &starts = node.attrs().ints(Attr::starts),
             &steps = node.attrs().ints(Attr::steps);
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto axis = static_cast<size_t>(axes[k]);
    part.start += starts[k] * whole.steps[axis];
    part.steps[axis] *= steps.empty() ? 1 : steps[k];
  }
  return part;
}

void look_at(const Graph& graph, Value value, Around& all, const Part& part) {
  for (const Use& use : graph.node(value.node).uses) {
    if (use.port != value.port) continue;
    const graph::Node& node = graph.node(use.user);
    if (node.op() != Op::slice && node.op() != Op::split) {
      look_at_reader(graph, use, all, part);
      continue;
    }
    for (int32_t port = 0; port < static_cast<int32_t>(node.info->outputs.size()); ++port)
      look_at(graph, {use.user, port}, all, part_of(node, port, part));
  }
}

}  // namespace

std::optional<TensorMap> centred_inputs(const Graph& graph, uint64_t seed) {
  auto inputs = evaluate::random_inputs(graph, seed);
  bool any = false;
  for (const NodeId id : graph.inputs()) {
    const auto& info = *graph.node(id).info;
    Tensor& input = inputs.at(info.name);
    const auto elements = static_cast<size_t>(input.elements());
    if (!ops::is_float(info.outputs[0].dtype) || elements == 0) continue;
    Around around{std::vector<double>(elements, 0), std::vector<double>(elements, 1)};
    look_at(graph, {id, 0}, around, {input.shape(), evaluate::row_major(input.shape())});
    if (around.ratio == 0) continue;
    any = true;
    evaluate::visit_float(input.dtype(), [&]<typename T>() {
      T* to = input.data<T>();
      each_number(input, [&](int64_t i, double number) {
        const auto k = static_cast<size_t>(i);
        to[i] = static_cast<T>(around.centre[k] + around.spread[k] * number);
      });
    });
  }
  return any ? std::optional(std::move(inputs)) : std::nullopt;
}

}  // namespace rlgo::verify
