#include "core/rulegen/check/input_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/ops/moves.h"

namespace rlgo::rulegen {
namespace {

using ops::DType;
using ops::Op;

// Whole powers are there for negative bases too.
bool is_whole_power(const graph::Graph& graph, const graph::Node& pow) {
  const graph::Node& exponent = graph.node(pow.inputs[1].node);
  if (exponent.op() != Op::fill) return false;
  const double number = exponent.attrs().f(ops::Attr::value);
  return number == std::floor(number);
}

bool wants_positive(const graph::Graph& graph, const graph::Node& user, int32_t input) {
  const Op op = user.op();
  return op == Op::sqrt || op == Op::log || op == Op::reciprocal || op == Op::reduce_log_sum ||
         (op == Op::pow && input == 0 && !is_whole_power(graph, user)) || (op == Op::batch_norm && input == 4) ||
         (op == Op::div && input == 1);
}

template <class T>
void read(const std::string& bytes, std::vector<double>& out) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    out.push_back(static_cast<double>(value));
  }
}

std::vector<double> contents(const graph::Blob& blob) {
  std::vector<double> out;
  const DType dtype = blob.type().dtype;
  if (!blob.available() || (ops::is_float(dtype) && blob.type().elements() != 1)) return out;
  if (dtype == DType::f32) read<float>(blob.load(), out);
  if (dtype == DType::f64) read<double>(blob.load(), out);
  if (dtype == DType::i64) read<int64_t>(blob.load(), out);
  if (dtype == DType::i32) read<int32_t>(blob.load(), out);
  return out;
}

uint64_t random_bits(const Draw& draw, uint64_t key, size_t element) {
  return hash_combine(hash_combine(draw.seed, key), element);
}

// What all readers of indices allow, also behind operators that move them.
int64_t end_of_places(const graph::Graph& graph, graph::NodeId id) {
  int64_t end = std::numeric_limits<int64_t>::max();
  for (const auto& use : graph.node(id).uses) {
    const auto& user = graph.node(use.user);
    if (ops::holds_places(user.op(), static_cast<size_t>(use.input))) {
      const auto types = graph.input_types(use.user);
      end = std::min(end, ops::places_end(user.op(), types[0], types[1], user.attrs()));
    } else if (ops::moves_only(user.op()) || user.op() == Op::expand) {
      end = std::min(end, end_of_places(graph, use.user));
    }
  }
  return end;
}

}  // namespace

uint64_t leaf_key(const graph::Graph& graph, graph::NodeId id) {
  const auto& node = graph.node(id);
  return node.op() == Op::input ? hash_string(node.info->name, 1) : hash_combine(2, node.info->blob->content_hash());
}

InputValues::InputValues(const graph::Graph& graph) {
  constexpr int64_t kNoGather = 8;
  for (graph::NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    if (node.op() != Op::input && node.op() != Op::weight) continue;
    Input& leaf = inputs_[leaf_key(graph, id)];
    if (node.op() == Op::weight) leaf.known = contents(*node.info->blob);
    if (!ops::is_float(node.info->outputs[0].dtype)) leaf.bound = kNoGather;
    for (const auto& use : node.uses) {
      const auto& user = graph.node(use.user);
      leaf.positive = leaf.positive || wants_positive(graph, user, use.input);
    }
    if (leaf.bound > 0) leaf.bound = std::min(leaf.bound, end_of_places(graph, id));
  }
}

const InputValues::Input& InputValues::find(const graph::Graph& graph, graph::NodeId id) const {
  static const Input kFree;
  const auto held = inputs_.find(leaf_key(graph, id));
  return held == inputs_.end() ? kFree : held->second;
}

// `free`(hash of the leaf, element) is a free number.
template <class R, class Free>
TensorOf<R> InputValues::filled(R& ring, const Draw& draw, const graph::Graph& graph, graph::NodeId id,
                                Free free) const {
  const Input& leaf = find(graph, id);
  const uint64_t key = leaf_key(graph, id);
  TensorOf<R> tensor;
  tensor.type = graph.type({id, 0});
  tensor.data.resize(static_cast<size_t>(tensor.type.elements()));
  for (size_t k = 0; k < tensor.data.size(); ++k) {
    if (!leaf.known.empty()) {
      tensor.data[k] = ring.number(leaf.known[k]);
    } else if (leaf.bound > 0) {
      tensor.data[k] =
          ring.integer(static_cast<int64_t>(random_bits(draw, key, k) % static_cast<uint64_t>(leaf.bound)));
    } else {
      tensor.data[k] = free(key, k);
    }
  }
  return tensor;
}

TensorOf<PrimeRing> InputValues::prime(PrimeRing& ring, const Draw& draw, const graph::Graph& graph,
                                       graph::NodeId id) const {
  const bool positive = find(graph, id).positive;
  return filled(ring, draw, graph, id, [&](uint64_t key, size_t k) {
    const uint64_t bits = random_bits(draw, key, k);
    const auto magnitude = static_cast<int64_t>(bits >> 41) + 1;  // of 2^23
    return ring.free(!positive && static_cast<int>(bits % 100) < draw.negative_percent ? -magnitude : magnitude);
  });
}

TensorOf<PolyRing> InputValues::polynomial(PolyRing& ring, const Draw& draw, const graph::Graph& graph,
                                           graph::NodeId id) const {
  return filled(ring, draw, graph, id, [&](uint64_t key, size_t k) { return ring.variable(hash_combine(key, k)); });
}

TensorOf<Z3Ring> InputValues::term(Z3Ring& ring, const Draw& draw, const graph::Graph& graph, graph::NodeId id) const {
  return filled(ring, draw, graph, id, [&](uint64_t key, size_t k) { return ring.variable(hash_combine(key, k)); });
}

}  // namespace rlgo::rulegen
