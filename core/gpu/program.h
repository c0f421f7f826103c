// A graph as a GPU runs it: steps over buffers of one arena, whose places are reused where lifetimes allow it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/evaluate/tensor.h"
#include "core/gpu/steps.h"
#include "core/graph/graph.h"

namespace rlgo::gpu {

constexpr int64_t kAlignment = 256;  // of buffers, bytes: cuBLASLt's fastest kernels ask for no more

struct Program {
  struct Port {  // an input or output of the graph
    std::string name;
    int buffer = kNone;
    ops::TensorType type;
  };
  struct Constant {
    int buffer = kNone;
    evaluate::Tensor value;
  };
  std::vector<int64_t> bytes, offsets;  // of the buffers
  std::vector<Step> steps;
  std::vector<std::string> names;  // of the operators that the steps belong to
  std::vector<Port> inputs, outputs;
  std::vector<Constant> constants;  // weights, and what depends on them alone
  int64_t arena_bytes = 0;
};

// Throws Error that names the operator for which there is no kernel, or the weight whose contents are absent.
Program make_program(const graph::Graph& graph);

// A graph of one operator of another graph, all of whose inputs are inputs.
graph::Graph single_operator(const graph::Graph& graph, graph::NodeId id);

}  // namespace rlgo::gpu
