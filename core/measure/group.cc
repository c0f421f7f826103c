#include "core/measure/group.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/cost/cost.h"
#include "core/graph/editor.h"
#include "core/measure/numbered.h"

namespace rlgo::measure {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Value;
using ops::Attr;
using ops::Op;

// What an input of a member is, seen from inside.
struct Wire {
  enum class Kind : uint8_t { member, outside, number, constant } kind;
  uint64_t index = 0;  // member: its place; outside: running number; number: hash of the value
};

// Walks a group in order and states what is connected with what.
class Wiring {
 public:
  Wiring(const Graph& graph, std::span<const NodeId> members) : graph_(graph) {
    for (const NodeId id : members) members_.add(id);
  }

  // Of what the member at `place` reads.
  Wire wire(Value in, size_t place) {
    if (const auto at = members_.find(in.node); at && *at < place) return {Wire::Kind::member, *at};
    const Node& node = graph_.node(in.node);
    if (node.constant) {
      const bool number = node.op() == Op::fill || (node.op() == Op::weight && node.info->outputs[0].elements() == 1);
      return number ? Wire{Wire::Kind::number, node.info->local_hash} : Wire{Wire::Kind::constant, 0};
    }
    return {Wire::Kind::outside, outside_.add(in)};
  }

  // Bit p: result p of the member is read outside, or nowhere in the group.
  uint64_t read_outside(NodeId id) const {
    uint64_t bits = 0, inside = 0;
    const Node& node = graph_.node(id);
    for (const auto& use : node.uses) {
      (members_.contains(use.user) ? inside : bits) |= uint64_t{1} << std::min(use.port, 63);
    }
    for (const auto& out : graph_.outputs()) {
      if (out.value.node == id) bits |= uint64_t{1} << std::min(out.value.port, 63);
    }
    if (bits == 0 && inside == 0) bits = 1;
    return bits;
  }

 private:
  const Graph& graph_;
  struct HashOfValue {
    size_t operator()(const Value& value) const {
      return hash_combine(static_cast<uint64_t>(value.node), static_cast<uint64_t>(value.port));
    }
  };
  Numbered<NodeId> members_;
  Numbered<Value, HashOfValue> outside_;
};

// The number that a constant repeats, where it is a 32-bit float.
std::optional<double> number_of(const Node& node) {
  if (node.op() == Op::fill) return node.attrs().f(Attr::value);
  if (node.info->outputs[0].dtype != ops::DType::f32 || !node.info->blob->available()) return std::nullopt;
  float value = 0;
  const std::string bytes = node.info->blob->load();
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::shared_ptr<const graph::Blob> zeros(const ops::TensorType& type) {
  return graph::Blob::bytes(type, std::string(static_cast<size_t>(type.bytes()), '\0'));
}

// Weights that keep numbers near 1, so that no denormal or infinite ones turn up.
std::shared_ptr<const graph::Blob> synthetic(const ops::TensorType& type, const Node& reader, uint64_t seed) {
  if (type.dtype != ops::DType::f32) return zeros(type);
  if (reader.op() == Op::batch_norm) return graph::Blob::seeded(type, seed, 0.1, 0.0, true);
  const double fan =
      type.rank() == 0 || type.elements() == 0
          ? 1.0
          : static_cast<double>(type.elements()) / static_cast<double>(std::max<int64_t>(1, type.shape[0]));
  return graph::Blob::seeded(
      type, seed,
      1.0 / std::sqrt(std::max(1.0, reader.op() == Op::conv2d
                                        ? fan
                                        : static_cast<double>(std::max<int64_t>(1, type.rank() ? type.shape[0] : 1)))),
      0.0);
}

// A group is timed at the sample sizes. What a model knows of its open sizes as a whole (that two extents are equal,
// for example) a part of it does not, so that operators which fit there might not fit in the part.
ops::TensorType at_sample(ops::TensorType type) {
  type.open = nullptr;
  return type;
}

// Copies a group into an editor.
class Copier {
 public:
  Copier(const Graph& graph, std::span<const NodeId> members)
      : graph_(graph), wiring_(graph, members), editor_("group") {
    for (const NodeId id : members) copy(id);
    int count = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      const uint64_t bits = wiring_.read_outside(members[i]);
      for (size_t p = 0; p < graph.node(members[i]).info->outputs.size() && p < 64; ++p) {
        if (bits >> p & 1) editor_.add_output(fmt::format("y{}", count++), {copies_[i], static_cast<int32_t>(p)});
      }
    }
  }
  Graph finish() { return *editor_.finish(); }

 private:
  Value copied(Value in, const Node& reader) {
    const Wire wire = wiring_.wire(in, copies_.size());
    switch (wire.kind) {
      case Wire::Kind::member:
        return {copies_[wire.index], in.port};
      case Wire::Kind::outside:
        if (wire.index == inputs_.size())
          inputs_.push_back(editor_.add_input(fmt::format("x{}", wire.index), at_sample(graph_.type(in))));
        return inputs_[wire.index];
      case Wire::Kind::number:
        if (graph_.node(in.node).op() == Op::fill) return editor_.op(Op::fill, {}, graph_.node(in.node).attrs());
        if (const auto value = number_of(graph_.node(in.node))) {
          if (std::isfinite(*value)) return weight(graph::Blob::seeded(graph_.type(in), 1, 0.0, *value));
          return weight(graph_.node(in.node).info->blob);  // a mask's infinity
        }
        [[fallthrough]];
      case Wire::Kind::constant:
        return weight(synthetic(at_sample(graph_.type(in)), reader, ++constants_));
    }
    return {};
  }
  Value weight(std::shared_ptr<const graph::Blob> blob) {
    return editor_.add_weight(fmt::format("c{}", weights_++), std::move(blob));
  }

  void copy(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<Value> inputs;
    for (const Value& in : node.inputs) inputs.push_back(copied(in, node));
    copies_.push_back(editor_.add(node.op(), inputs, node.attrs()));
  }

  const Graph& graph_;
  Wiring wiring_;
  graph::Editor editor_;
  std::vector<NodeId> copies_;
  std::vector<Value> inputs_;
  uint64_t constants_ = 0;
  int weights_ = 0;
};

}  // namespace

uint64_t group_hash(const Graph& graph, std::span<const NodeId> members) {
  Wiring wiring(graph, members);
  uint64_t h = members.size();
  for (size_t place = 0; place < members.size(); ++place) {
    const NodeId id = members[place];
    const Node& node = graph.node(id);
    h = hash_combine(h, node.info->signature_hash);
    for (const Value& in : node.inputs) {
      const Wire wire = wiring.wire(in, place);
      h = hash_combine(h, wire.index ^ static_cast<uint64_t>(wire.kind) << 62 ^ static_cast<uint64_t>(in.port) << 40);
    }
    h = hash_combine(h, wiring.read_outside(id));
  }
  return h;
}

std::string group_signature(const Graph& graph, std::span<const NodeId> members) {
  Wiring wiring(graph, members);
  std::string text;
  for (size_t place = 0; place < members.size(); ++place) {
    const NodeId id = members[place];
    const Node& node = graph.node(id);
    if (!text.empty()) text += "; ";
    text += ops::name(node.op());
    if (!node.attrs().items().empty()) text += ' ' + ops::to_string(node.attrs());
    text += " (";
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const Value in = node.inputs[k];
      const Wire wire = wiring.wire(in, place);
      const std::string type = ops::to_string(graph.type(in));
      if (k > 0) text += ", ";
      if (wire.kind == Wire::Kind::member) {
        text += in.port == 0 ? fmt::format("%{}", wire.index) : fmt::format("%{}.{}", wire.index, in.port);
      } else if (wire.kind == Wire::Kind::outside) {
        text += fmt::format("x{}:{}", wire.index, type);
      } else if (wire.kind == Wire::Kind::number) {
        const auto value = number_of(graph.node(in.node));
        text += value ? fmt::format("={}:{}", *value, type) : fmt::format("=#{:x}:{}", wire.index, type);
      } else {
        text += "c:" + type;
      }
    }
    text += ')';
    const uint64_t bits = wiring.read_outside(id);
    if (bits != 0) text += bits == 1 ? "!" : fmt::format("!{:x}", bits);
  }
  return text;
}

Graph group_graph(const Graph& graph, std::span<const NodeId> members) { return Copier(graph, members).finish(); }

std::vector<NodeId> members_of_group(const Graph& group) {
  std::vector<NodeId> members;
  for (const NodeId id : group.order()) {
    if (!cost::is_free(group.node(id)) && !group.node(id).constant) members.push_back(id);
  }
  return members;
}

double exact_us(double us) { return std::round(us * 1024.0) / 1024.0; }

Graph measurable(const Graph& group, bool pool_context) {
  graph::Editor editor("group");
  std::unordered_map<NodeId, NodeId> copies;
  bool convolves = false;
  // In the order of the graph's inputs, all of them.
  for (const NodeId id : group.inputs())
    copies[id] = editor.add_input(group.node(id).info->name, group.node(id).info->outputs[0]).node;
  const auto in_context = [&](Value in) {
    const auto& type = group.type(in);
    if (type.dtype != ops::DType::f32 || type.rank() != 4) return Value{copies.at(in.node), in.port};
    const ops::Attrs one = {{Attr::kernel, ops::Ints{1, 1}}};
    return editor.op(Op::max_pool, {{copies.at(in.node), in.port}}, one, kContextName);
  };
  for (const NodeId id : group.order()) {
    const Node& node = group.node(id);
    if (node.op() == Op::input) continue;
    if (node.op() == Op::weight) {
      const auto& blob = node.info->blob;
      copies[id] = editor.add_weight(node.info->name, blob->available() ? blob : zeros(blob->type())).node;
      continue;
    }
    std::vector<Value> inputs;
    for (const Value& in : node.inputs) {
      const bool context = pool_context && convolves && node.op() == Op::add && group.node(in.node).op() == Op::input;
      inputs.push_back(context ? in_context(in) : Value{copies.at(in.node), in.port});
    }
    convolves = convolves || node.op() == Op::conv2d;
    copies[id] = editor.add(node.op(), inputs, node.attrs());
  }
  for (const auto& out : group.outputs()) editor.add_output(out.name, {copies.at(out.value.node), out.value.port});
  return *editor.finish();
}

}  // namespace rlgo::measure
