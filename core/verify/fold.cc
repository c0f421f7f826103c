#include "core/exec/fold.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/exec/constants.h"
#include "core/exec/folded_size.h"
#include "core/exec/kernels.h"
#include "core/ops/folding.h"
#include "core/ops/moves.h"

namespace rlgo::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using ops::Op;

bool is_read(const Graph& graph, NodeId id, const std::unordered_set<NodeId>& left) {
  return graph.is_output(id) || std::ranges::any_of(graph.node(id).uses, [&](const graph::Use& use) {
           return !graph.node(use.user).constant || left.contains(use.user);
         });
}

// The wanted nodes that are no weights, and all that they are computed from, in topological order.
std::vector<NodeId> computation(const Graph& graph, const std::vector<NodeId>& wanted) {
  std::vector<bool> needed(static_cast<size_t>(graph.id_bound()), false);
  for (NodeId id : wanted) needed[id] = graph.node(id).op() != Op::weight;
  std::vector<NodeId> nodes;
  const auto order = graph.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!needed[*it]) continue;
    nodes.push_back(*it);
    for (const auto& input : graph.node(*it).inputs) needed[input.node] = true;
  }
  std::ranges::reverse(nodes);
  return nodes;
}

}  // namespace

std::unordered_set<NodeId> left_unfolded(const Graph& graph) {
  std::unordered_set<NodeId> left;
  double flops = 0;
  for (NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    if (!node.constant) continue;
    const bool of_left = std::ranges::any_of(node.inputs, [&](const auto& input) { return left.contains(input.node); });
    if (of_left || flops + node.info->work.flops > ops::kMostFoldedFlops) {
      left.insert(id);
    } else {
      flops += node.info->work.flops;
    }
  }
  return left;
}

std::unordered_set<NodeId> unfoldable(const Graph& graph) {
  auto left = left_unfolded(graph);
  left.merge(too_large(graph));
  return left;
}

std::vector<NodeId> read_constants(const Graph& graph, const std::unordered_set<NodeId>& left) {
  std::vector<NodeId> result;
  for (NodeId id : graph.order()) {
    if (graph.node(id).constant && !left.contains(id) && is_read(graph, id, left)) result.push_back(id);
  }
  return result;
}

namespace {

constexpr int64_t kPiece = 1 << 20;  // elements

// Calls back with one piece of the tensor after the other, in double precision: all of it at once would be a copy of
// several times its bytes.
template <typename Visit>
void each_piece(const at::Tensor& tensor, const Visit& visit) {
  const at::Tensor flat = tensor.reshape({-1});
  for (int64_t at = 0; at < flat.numel(); at += kPiece)
    visit(flat.slice(0, at, std::min(at + kPiece, flat.numel())).to(at::kDouble));
}

double largest_of(const at::Tensor& tensor) {
  double largest = 0;
  each_piece(tensor, [&](const at::Tensor& piece) {
    const auto size = piece.abs().max().item<double>();
    largest = size > largest || std::isnan(size) ? size : largest;
  });
  return largest;
}

// Constants that weights are moved to: their numbers are in the model, and large ones take seconds to look at.
std::unordered_set<NodeId> moved_weights(const Graph& graph) {
  std::unordered_set<NodeId> moved;
  for (const NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    const bool moves = ops::moves_only(node.op()) && node.op() != Op::pad &&  // its value is a number of its own
                       std::ranges::all_of(node.inputs, [&](const auto& input) { return moved.contains(input.node); });
    if (node.op() == Op::weight || (node.constant && moves)) moved.insert(id);
  }
  return moved;
}

// Throws Error where a rewrite drew constants together that round what stood between them.
void check_sum(const graph::Node& node, const Tensors& in, const Tensors& out) {
  if ((node.op() != Op::add && node.op() != Op::sub) || !at::isFloatingType(out[0].scalar_type())) return;
  if (ops::cancels(std::max(largest_of(in[0]), largest_of(in[1])), largest_of(out[0])))
    fail("numbers that the model adds and takes away again, to round what stands between, would cancel");
}

// Calls back with each of `wanted` that is no weight, as soon as it is computed. `of_rewrites`: throws Error where a
// sum cancels (ops::cancels), for then a rewrite drew together what rounds a number between. What only moves weights is
// of their own type, all else as `precision` holds it.
void compute(const Graph& graph, const std::vector<NodeId>& wanted, bool of_rewrites, Precision precision,
             const std::function<void(NodeId, Tensors)>& found) {
  const c10::InferenceMode inference;
  const auto nodes = computation(graph, wanted);
  const auto moved = moved_weights(graph);
  std::unordered_map<NodeId, NodeId> last_reader;
  for (NodeId id : nodes) {
    for (const auto& input : graph.node(id).inputs) last_reader[input.node] = id;
  }
  std::unordered_map<NodeId, Tensors> values;
  for (NodeId id : nodes) {
    const auto& node = graph.node(id);
    Tensors in;
    Call call{.in = {}, .info = *node.info};
    call.precision = moved.contains(id) ? Precision::native : precision;
    for (const auto& input : node.inputs)
      in.push_back(values.at(input.node)[input.port].to(to_torch(graph.type(input).dtype, call.precision)));
    call.in = in;
    Tensors out = run_kernel(call);
    if (of_rewrites) check_sum(node, in, out);
    for (const auto& input : node.inputs) {
      if (last_reader.at(input.node) == id) values.erase(input.node);
    }
    if (node.op() != Op::weight &&
        std::ranges::binary_search(wanted, graph.position(id), {}, [&](NodeId w) { return graph.position(w); })) {
      found(id, out);
    }
    if (last_reader.contains(id)) values[id] = std::move(out);
  }
}

}  // namespace

std::unordered_map<NodeId, Tensors> compute_constants(const Graph& graph) {
  std::unordered_map<NodeId, Tensors> kept;
  compute(graph, read_constants(graph), false, Precision::f64,
          [&](NodeId id, Tensors out) { kept[id] = std::move(out); });
  return kept;
}

namespace {

// Whether each number of it counts: as a factor or divisor, where in a sum of products only the large ones do.
bool is_factor(const Graph& graph, NodeId id) {
  return std::ranges::any_of(graph.node(id).uses, [&](const graph::Use& use) {
    const auto& reader = graph.node(use.user);
    return !reader.constant && (reader.op() == Op::mul || reader.op() == Op::div);
  });
}

// Numbers that are denormal, or become 0 though they are not.
bool has_denormals(const at::Tensor& exact, double least) {
  bool found = false;
  each_piece(exact, [&](const at::Tensor& piece) {
    const at::Tensor size = piece.abs();
    found = found || at::logical_and(size > 0, size < least).any().item<bool>();
  });
  return found;
}

double least_of(at::ScalarType dtype) {
  return dtype == at::kHalf ? 0x1p-14 : dtype == at::kDouble ? 0x1p-1022 : 0x1p-126;
}

// Throws Error where a result lies outside the range of its type: a factor of 1e25 * 1e25 is no float, and 0 times it
// is no number. `each`: no number of it may be denormal.
void check_range(const at::Tensor& exact, const ops::TensorType& type, bool sources_are_finite, bool each) {
  if (!ops::is_float(type.dtype) || exact.numel() == 0) return;
  const auto dtype = to_torch(type.dtype);
  const double least = least_of(dtype);
  bool lost = false, infinite = false, same = true;
  double largest = 0;
  each_piece(exact, [&](const at::Tensor& wide) {
    const at::Tensor narrow = wide.to(dtype).to(at::kDouble), finite = wide.isfinite();
    lost = lost || at::logical_and(finite, narrow.isfinite().logical_not()).any().item<bool>();
    infinite = infinite || !finite.all().item<bool>();
    same = same && at::equal(narrow, wide);
    largest = std::max(largest, at::where(finite, wide.abs(), at::zeros_like(wide)).max().item<double>());
  });
  if (lost || (sources_are_finite && infinite))
    fail("what a rewrite makes of the weights does not fit into {}: it would be infinite", ops::name(type.dtype));
  if ((each && has_denormals(exact, least)) || (largest > 0 && largest < least && !same))
    fail("what a rewrite makes of the weights does not fit into {}: it would be denormal, with fewer digits",
         ops::name(type.dtype));
}

// Whether arithmetic made the node of weights of which `holds` is true.
template <typename Holds>
bool is_made_of(const Graph& graph, NodeId id, const Holds& holds) {
  const auto nodes = computation(graph, {id});
  if (std::ranges::none_of(nodes, [&](NodeId source) { return is_rounded(graph, source); })) return false;
  return std::ranges::all_of(nodes, [&](NodeId source) {
    const auto& info = *graph.node(source).info;
    return info.op != Op::weight || !ops::is_float(info.outputs[0].dtype) || holds(to_tensor(*info.blob));
  });
}

bool is_finite(const at::Tensor& weight) { return weight.isfinite().all().item<bool>(); }
bool is_normal(const at::Tensor& weight) { return !has_denormals(weight, least_of(weight.scalar_type())); }

// check_range() of an output of the node, with what its weights were before.
void check_result(const Graph& graph, NodeId id, const at::Tensor& exact, const ops::TensorType& type) {
  const bool finite = is_finite(exact);
  const bool each = ops::is_float(type.dtype) && is_factor(graph, id) &&
                    has_denormals(exact, least_of(to_torch(type.dtype))) && is_made_of(graph, id, is_normal);
  check_range(exact, type, !finite && is_made_of(graph, id, is_finite), each);
}

// What each of these is computed from, and whether it is looked at as a factor.
std::unordered_map<NodeId, uint64_t> keys_of(const Graph& graph, const std::vector<NodeId>& wanted) {
  std::unordered_map<NodeId, uint64_t> of_values, keys;
  for (const NodeId id : computation(graph, wanted)) {
    uint64_t key = graph.node(id).info->local_hash;
    for (const auto& input : graph.node(id).inputs)
      key = hash_combine(hash_combine(key, of_values.at(input.node)), static_cast<uint64_t>(input.port));
    of_values[id] = key;
  }
  for (const NodeId id : wanted) {
    if (of_values.contains(id)) keys[id] = hash_combine(of_values.at(id), is_factor(graph, id) ? 1 : 0);
  }
  return keys;
}

}  // namespace

const FoldedBlobs::Blobs* FoldedBlobs::find(uint64_t key) const {
  const auto at = blobs_.find(key);
  if (at == blobs_.end()) return nullptr;
  ++found_;
  return &at->second;
}

void FoldedBlobs::keep(uint64_t key, Blobs blobs) {
  const auto bytes_of = [](const Blobs& some) {
    int64_t sum = 0;
    for (const auto& blob : some) sum += blob->type().bytes();
    return sum;
  };
  const int64_t bytes = bytes_of(blobs);
  if (bytes > most_bytes_ || blobs_.contains(key)) return;
  while (bytes_ + bytes > most_bytes_) {
    const auto oldest = blobs_.find(order_.front());
    bytes_ -= bytes_of(oldest->second);
    blobs_.erase(oldest);
    order_.pop_front();
  }
  bytes_ += bytes;
  blobs_.emplace(key, std::move(blobs));
  order_.push_back(key);
}

std::unordered_map<NodeId, FoldedBlobs::Blobs> fold(const Graph& graph, NodeId first_new, FoldedBlobs* known,
                                                    const std::unordered_set<NodeId>& without) {
  auto left = unfoldable(graph);
  left.merge(left_for_size(graph, left, first_new));
  std::unordered_map<NodeId, FoldedBlobs::Blobs> blobs;
  auto wanted = read_constants(graph, left);
  std::erase_if(wanted, [&](NodeId id) { return without.contains(id); });
  const auto keys = known != nullptr ? keys_of(graph, wanted) : std::unordered_map<NodeId, uint64_t>();
  auto missing = wanted;
  if (known != nullptr) {
    std::erase_if(missing, [&](NodeId id) {
      const auto* kept = graph.node(id).op() == Op::weight ? nullptr : known->find(keys.at(id));
      if (kept != nullptr) blobs[id] = *kept;
      return kept != nullptr;
    });
  }
  const auto moved = moved_weights(graph);
  compute(graph, missing, true, Precision::wider, [&](NodeId id, const Tensors& tensors) {
    const auto& types = graph.node(id).info->outputs;
    for (size_t p = 0; p < tensors.size(); ++p) {
      if (!moved.contains(id)) check_result(graph, id, tensors[p], types[p]);
      blobs[id].push_back(to_blob(tensors[p], types[p]));
    }
    if (known != nullptr) known->keep(keys.at(id), blobs[id]);
  });
  for (NodeId id : wanted) {
    if (graph.node(id).op() == Op::weight) blobs[id] = {graph.node(id).info->blob};
  }
  return blobs;
}

}  // namespace rlgo::exec
