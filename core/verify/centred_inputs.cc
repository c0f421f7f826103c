#include "core/exec/centred_inputs.h"

#include <ATen/ATen.h>

#include "core/exec/tensors.h"
#include "core/exec/values.h"

namespace rlgo::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Use;
using graph::Value;
using ops::Attr;
using ops::Op;

constexpr int kFollowed = 8;       // operators behind an input
constexpr double kLeastRatio = 4;  // of a centre to the spread around it

// What an input has become: scale * x + shift, element by element.
struct Affine {
  at::Tensor scale = at::ones({}, at::kDouble), shift = at::zeros({}, at::kDouble);

  void times(const at::Tensor& factor) {
    scale = scale * factor;
    shift = shift * factor;
  }
};

// Contents of a weight; undefined for other values.
at::Tensor contents(const Graph& graph, Value value) {
  const auto& info = *graph.node(value.node).info;
  if (info.op != Op::weight || !info.blob->available() || !ops::is_float(info.outputs[0].dtype)) return {};
  return to_tensor(*info.blob).to(at::kDouble);
}

bool follow_batch_norm(const Graph& graph, const graph::Node& node, Affine& affine) {
  std::vector<at::Tensor> parts;
  std::vector<int64_t> sizes(static_cast<size_t>(graph.type(node.inputs[0]).rank()), 1);
  if (sizes.size() < 2) return false;
  sizes[1] = -1;
  for (size_t k = 1; k < 5; ++k) {
    const auto part = contents(graph, node.inputs[k]);
    if (!part.defined()) return false;
    parts.push_back(part.reshape(sizes));
  }
  affine.shift = affine.shift - parts[2];
  affine.times(parts[0] / (parts[3] + node.attrs().f(Attr::eps)).sqrt());
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
  if (!other.defined() || (op == Op::div && place == 1)) return false;
  if (op == Op::mul) affine.times(other);
  if (op == Op::div) affine.times(1 / other);
  if (op == Op::add) affine.shift = affine.shift + other;
  if (op == Op::sub && place == 0) affine.shift = affine.shift - other;
  if (op == Op::sub && place == 1) {
    affine.times(at::full({}, -1.0, at::kDouble));
    affine.shift = affine.shift + other;
  }
  return true;
}

// Where an input is to lie, element by element.
struct Around {
  at::Tensor centre, spread;
  double ratio = 0;  // the largest of centre to spread

  explicit Around(const at::Tensor& like) : centre(at::zeros_like(like, at::kDouble)), spread(at::ones_like(centre)) {}
};

// What the graph takes away from a value by way of one of its readers, where that is more than what was found for
// `part` (of `all`, in its shape) before.
void look_at_reader(const Graph& graph, Use use, Around& all, Around part) {
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
  const at::Tensor centre = (-affine.shift / affine.scale).nan_to_num(0, 0, 0);
  const at::Tensor spread = affine.scale.abs().reciprocal().nan_to_num(1, 1, 1);
  const double ratio = (centre.abs() / spread).max().item<double>();
  if (ratio < kLeastRatio || ratio <= (part.centre.abs() / part.spread).max().item<double>()) return;
  part.centre.copy_(centre.expand_as(part.centre));
  part.spread.copy_(spread.expand_as(part.spread));
  all.ratio = std::max(all.ratio, ratio);
}

// The part of `value` that a slice or a split hands on as its output `port`.
at::Tensor part_of(const graph::Node& node, int32_t port, at::Tensor value) {
  if (node.op() == Op::split)
    return value.split_with_sizes(node.attrs().ints(Attr::sizes), node.attrs().i(Attr::axis))
        .at(static_cast<size_t>(port));
  const auto &axes = node.attrs().ints(Attr::axes), &starts = node.attrs().ints(Attr::starts),
             &ends = node.attrs().ints(Attr::ends), &steps = node.attrs().ints(Attr::steps);
  for (size_t k = 0; k < axes.size(); ++k)
    value = value.slice(axes[k], starts[k], ends[k], steps.empty() ? 1 : steps[k]);
  return value;
}

void look_at(const Graph& graph, Value value, Around& all, const Around& part) {
  for (const Use& use : graph.node(value.node).uses) {
    if (use.port != value.port) continue;
    const graph::Node& node = graph.node(use.user);
    if (node.op() != Op::slice && node.op() != Op::split) {
      look_at_reader(graph, use, all, part);
      continue;
    }
    for (int32_t port = 0; port < static_cast<int32_t>(node.info->outputs.size()); ++port) {
      Around inner = part;
      inner.centre = part_of(node, port, part.centre);
      inner.spread = part_of(node, port, part.spread);
      look_at(graph, {use.user, port}, all, inner);
    }
  }
}

}  // namespace

std::optional<TensorMap> centred_inputs(const Graph& graph, uint64_t seed) {
  auto inputs = random_inputs(graph, seed);
  bool any = false;
  for (const NodeId id : graph.inputs()) {
    const auto& info = *graph.node(id).info;
    at::Tensor& input = inputs.at(info.name);
    if (!ops::is_float(info.outputs[0].dtype) || input.numel() == 0) continue;
    Around around(input);
    look_at(graph, {id, 0}, around, around);
    if (around.ratio == 0) continue;
    any = true;
    input = (around.centre + around.spread * input.to(at::kDouble)).to(input.scalar_type());
  }
  return any ? std::optional(std::move(inputs)) : std::nullopt;
}

}  // namespace rlgo::exec
