#include "core/verify/fold.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/evaluate/constants.h"
#include "core/ops/folding.h"
#include "core/verify/constant_values.h"
#include "core/verify/folded_size.h"
#include "core/verify/numbers.h"

namespace rlgo::verify {
namespace {

using evaluate::computation;
using graph::Graph;
using graph::NodeId;
using ops::Op;

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

namespace {

double largest_of(const Tensor& tensor) {
  double largest = 0;
  each_number(tensor, [&](int64_t, double number) {
    const double size = std::abs(number);
    largest = size > largest || std::isnan(size) ? size : largest;
  });
  return largest;
}

// Throws Error where a rewrite drew constants together that round what stood between them.
void check_sum(const graph::Node& node, const Tensors& in, const Tensors& out) {
  if ((node.op() != Op::add && node.op() != Op::sub) || !has_floats(out[0])) return;
  if (ops::cancels(std::max(largest_of(in[0]), largest_of(in[1])), largest_of(out[0])))
    fail("numbers that the model adds and takes away again, to round what stands between, would cancel");
}

// Whether each number of it counts: as a factor or divisor, where in a sum of products only the large ones do.
bool is_factor(const Graph& graph, NodeId id) {
  return std::ranges::any_of(graph.node(id).uses, [&](const graph::Use& use) {
    const auto& reader = graph.node(use.user);
    return !reader.constant && (reader.op() == Op::mul || reader.op() == Op::div);
  });
}

// Numbers that are denormal, or become 0 though they are not.
bool has_denormals(const Tensor& exact, double least) {
  return any_number(exact, [least](double number) { return number != 0 && std::abs(number) < least; });
}

double least_of(ops::DType dtype) {
  return dtype == ops::DType::f16 ? 0x1p-14 : dtype == ops::DType::f64 ? 0x1p-1022 : 0x1p-126;
}

// Throws Error where a result lies outside the range of its type: a factor of 1e25 * 1e25 is no float, and 0 times it
// is no number. `each`: no number of it may be denormal.
void check_range(const Tensor& exact, const ops::TensorType& type, bool sources_are_finite, bool each) {
  if (!ops::is_float(type.dtype) || exact.elements() == 0) return;
  const double least = least_of(type.dtype);
  bool lost = false, infinite = false, same = true;
  double largest = 0;
  evaluate::visit_float(type.dtype, [&]<typename T>() {
    each_number(exact, [&](int64_t, double wide) {
      const auto narrow = static_cast<double>(static_cast<T>(wide));
      lost = lost || (std::isfinite(wide) && !std::isfinite(narrow));
      infinite = infinite || !std::isfinite(wide);
      same = same && narrow == wide;
      largest = std::max(largest, or_zero(std::abs(wide)));
    });
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
    return info.op != Op::weight || !ops::is_float(info.outputs[0].dtype) || holds(Tensor::of(*info.blob));
  });
}

bool is_finite(const Tensor& weight) {
  return !any_number(weight, [](double number) { return !std::isfinite(number); });
}
bool is_normal(const Tensor& weight) { return !has_denormals(weight, least_of(weight.dtype())); }

// check_range() of an output of the node, with what its weights were before.
void check_result(const Graph& graph, NodeId id, const Tensor& exact, const ops::TensorType& type) {
  const bool finite = is_finite(exact);
  const bool each = ops::is_float(type.dtype) && is_factor(graph, id) && has_denormals(exact, least_of(type.dtype)) &&
                    is_made_of(graph, id, is_normal);
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

std::shared_ptr<const graph::Blob> to_blob(const Tensor& tensor, const ops::TensorType& type) {
  const Tensor own = evaluate::cast(tensor, type.dtype);
  RLGO_CHECK(own.shape() == type.shape);
  return graph::Blob::bytes(type, std::string(static_cast<const char*>(own.raw()), static_cast<size_t>(own.bytes())));
}

std::unordered_map<NodeId, FoldedBlobs::Blobs> fold(const Graph& graph, NodeId first_new, FoldedBlobs* known,
                                                    const std::unordered_set<NodeId>& without) {
  auto left = unfoldable(graph);
  left.merge(left_for_size(graph, left, first_new));
  std::unordered_map<NodeId, FoldedBlobs::Blobs> blobs;
  auto wanted = evaluate::read_constants(graph, left);
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
  const auto moved = evaluate::moved_weights(graph);
  const std::unordered_set<NodeId> asked(missing.begin(), missing.end());
  evaluate::compute_constants(graph, missing, Precision::wider, {},
                              [&](NodeId id, const Tensors& in, const Tensors& out) {
                                check_sum(graph.node(id), in, out);
                                if (!asked.contains(id) || graph.node(id).op() == Op::weight) return;
                                const auto& types = graph.node(id).info->outputs;
                                for (size_t p = 0; p < out.size(); ++p) {
                                  if (!moved.contains(id)) check_result(graph, id, out[p], types[p]);
                                  blobs[id].push_back(to_blob(out[p], types[p]));
                                }
                                if (known != nullptr) known->keep(keys.at(id), blobs[id]);
                              });
  for (NodeId id : wanted) {
    if (graph.node(id).op() == Op::weight) blobs[id] = {graph.node(id).info->blob};
  }
  return blobs;
}

}  // namespace rlgo::verify
