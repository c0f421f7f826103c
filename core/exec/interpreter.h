// Runs graphs with LibTorch, in the types of the graph. Checks in double precision are core/evaluate's.
#pragma once

#include <memory>

#include "core/base/deadline.h"
#include "core/evaluate/run_plan.h"
#include "core/exec/device.h"
#include "core/exec/kernels.h"
#include "core/exec/values.h"
#include "core/graph/graph.h"

namespace rlgo::exec {

struct InterpreterOptions {
  Device device;
  // Shared with other interpreters of the same device; a store of its own where there is none.
  std::shared_ptr<WeightStore> weights = {};
  Deadline deadline = {};  // looked at before each operator of a run, which then ends with Stopped
};

// A graph made ready to run: weights are on the device, what depends on weights alone is computed. Runs without
// gradients, with as many threads as LibTorch is set to (ThreadScope). Not thread-safe.
class Interpreter {
 public:
  // Throws Error where contents of weights are absent.
  explicit Interpreter(graph::Graph graph, const InterpreterOptions& options = {});
  const graph::Graph& graph() const { return graph_; }

  // Outputs by name, on the device. `inputs` has every input of the graph, on any device; floats may come in another
  // float type. Intermediate values are let go after their last use. Throws Error for a missing input or one of another
  // type than the graph states, and where a kernel fails; Stopped when the deadline has come.
  TensorMap run(const TensorMap& inputs) const;
  // Converts inputs once, so that run() neither copies nor converts them.
  TensorMap prepare(const TensorMap& inputs) const;

 private:
  void load_constants(const InterpreterOptions& options);

  graph::Graph graph_;
  evaluate::RunPlan plan_;
  Device device_;
  Deadline deadline_;
  Tensors constants_;  // by slot; undefined where computed
};

}  // namespace rlgo::exec
