#include "core/gpu/program.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "core/base/error.h"
#include "core/cost/cost.h"
#include "core/evaluate/constants.h"
#include "core/gpu/lower.h"
#include "core/graph/editor.h"

namespace rlgo::gpu {
namespace {

using graph::NodeId;
using ops::Op;

class Maker : public Steps {
 public:
  explicit Maker(const graph::Graph& graph) : graph_(graph), first_(static_cast<size_t>(graph.id_bound()), kNone) {}

  Program make() {
    for (const NodeId id : graph_.inputs()) {
      const auto& info = *graph_.node(id).info;
      program_.inputs.push_back({info.name, make_buffers(id), info.outputs[0]});
    }
    make_constants();
    for (const NodeId id : graph_.order()) {
      if (graph_.node(id).constant || graph_.node(id).op() == Op::input) continue;
      if (graph_.node(id).op() == Op::reshape) {
        first_[static_cast<size_t>(id)] = buffer_of(graph_.node(id).inputs[0]);
        continue;
      }
      make_buffers(id);
      name_ = cost::signature(graph_, id);
      lower({*graph_.node(id).info, operands(graph_.node(id).inputs), outputs(id), *this});
    }
    for (const auto& output : graph_.outputs())
      program_.outputs.push_back({output.name, buffer_of(output.value), graph_.type(output.value)});
    place();
    return std::move(program_);
  }

  void add(const Step& step) override {
    program_.steps.push_back(step);
    program_.names.push_back(name_);
  }
  Operand temporary(ops::TensorType type) override {
    const int64_t bytes = type.bytes();
    return {new_buffer(bytes), std::move(type)};
  }

 private:
  int new_buffer(int64_t bytes) {
    program_.bytes.push_back(bytes);
    return static_cast<int>(program_.bytes.size()) - 1;
  }
  // One for each output of the node; the first.
  int make_buffers(NodeId id) {
    const auto& types = graph_.node(id).info->outputs;
    first_[static_cast<size_t>(id)] = static_cast<int>(program_.bytes.size());
    for (const auto& type : types) {
      if (!type.is_static()) fail("--target cuda: the sizes of '{}' are not known", graph_.node(id).info->name);
      new_buffer(type.bytes());
    }
    return first_[static_cast<size_t>(id)];
  }
  int buffer_of(graph::Value value) const { return first_[static_cast<size_t>(value.node)] + value.port; }
  template <typename Values>
  std::vector<Operand> operands(const Values& values) const {
    std::vector<Operand> all;
    for (const auto& value : values) all.push_back({buffer_of(value), graph_.type(value)});
    return all;
  }
  std::vector<Operand> outputs(NodeId id) const {
    std::vector<graph::Value> values;
    for (int32_t p = 0; p < static_cast<int32_t>(graph_.node(id).info->outputs.size()); ++p) values.push_back({id, p});
    return operands(values);
  }

  void make_constants() {
    const auto read = evaluate::read_constants(graph_);
    const std::unordered_set<NodeId> wanted(read.begin(), read.end());
    evaluate::compute_constants(
        graph_, read, evaluate::Precision::wider, {},
        [&](NodeId id, const evaluate::Tensors&, const evaluate::Tensors& out) {
          if (!wanted.contains(id)) return;
          const int first = make_buffers(id);
          for (size_t p = 0; p < out.size(); ++p)
            keep(first + static_cast<int>(p), graph_.type({id, static_cast<int32_t>(p)}), out[p]);
        });
    for (const NodeId id : read) {
      const auto& info = *graph_.node(id).info;
      if (info.op == Op::weight) keep(make_buffers(id), info.outputs[0], evaluate::Tensor::of(*info.blob));
    }
  }
  void keep(int buffer, const ops::TensorType& type, const evaluate::Tensor& value) {
    program_.constants.push_back({buffer, value.dtype() == type.dtype ? value : evaluate::cast(value, type.dtype)});
  }

  // First fit: a buffer takes the lowest place that no buffer alive at the same time has.
  void place() {
    const auto n = program_.bytes.size();
    std::vector<int> begin(n, std::numeric_limits<int>::max()), end(n, -1);
    const auto lives = [&](int buffer, int at) {
      if (buffer == kNone) return;
      const auto b = static_cast<size_t>(buffer);
      begin[b] = std::min(begin[b], at);
      end[b] = std::max(end[b], at);
    };
    const auto last = static_cast<int>(program_.steps.size());
    for (int s = 0; s < last; ++s) {
      lives(program_.steps[static_cast<size_t>(s)].out, s);
      for (const int buffer : program_.steps[static_cast<size_t>(s)].in) lives(buffer, s);
    }
    // A run repeats: inputs and constants stay, outputs are read at the end.
    for (const auto& input : program_.inputs) lives(input.buffer, 0), lives(input.buffer, last);
    for (const auto& constant : program_.constants) lives(constant.buffer, 0), lives(constant.buffer, last);
    for (const auto& output : program_.outputs) lives(output.buffer, last);
    std::vector<size_t> order;
    for (size_t b = 0; b < n; ++b) {
      if (end[b] >= 0) order.push_back(b);
    }
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return begin[a] < begin[b]; });
    program_.offsets.assign(n, 0);
    std::vector<size_t> placed;  // by offset, those that may still be alive
    for (const size_t b : order) {
      std::erase_if(placed, [&](size_t other) { return end[other] < begin[b]; });
      const int64_t size = (std::max<int64_t>(program_.bytes[b], 1) + kAlignment - 1) / kAlignment * kAlignment;
      int64_t offset = 0;
      auto at = placed.begin();
      for (; at != placed.end() && program_.offsets[*at] - offset < size; ++at)
        offset = std::max(offset, program_.offsets[*at] + (std::max<int64_t>(program_.bytes[*at], 1) + kAlignment - 1) /
                                                              kAlignment * kAlignment);
      program_.offsets[b] = offset;
      placed.insert(at, b);
      program_.arena_bytes = std::max(program_.arena_bytes, offset + size);
    }
  }

  const graph::Graph& graph_;
  std::vector<int> first_;  // by node
  std::string name_;        // of the operator that adds steps
  Program program_;
};

}  // namespace

Program make_program(const graph::Graph& graph) { return Maker(graph).make(); }

graph::Graph single_operator(const graph::Graph& graph, NodeId id) {
  const auto& node = graph.node(id);
  graph::Editor editor(std::string(ops::name(node.op())));
  std::vector<graph::Value> inputs;
  for (auto type : graph.input_types(id)) {
    type.open = nullptr;  // it is measured at these sizes alone
    inputs.push_back(editor.add_input(fmt::format("x{}", inputs.size()), type));
  }
  std::string reason;
  const auto added = editor.try_add(node.op(), inputs, node.attrs(), &reason);
  if (!added) fail("cannot measure {}: {}", ops::name(node.op()), reason);
  for (int32_t p = 0; p < static_cast<int32_t>(node.info->outputs.size()); ++p)
    editor.add_output(fmt::format("y{}", p), {*added, p});
  return std::move(*editor.finish());
}

}  // namespace rlgo::gpu
