// Runs graphs with LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "core/base/deadline.h"
#include "core/evaluate/run_plan.h"
#include "core/exec/device.h"
#include "core/exec/kernels.h"
#include "core/exec/values.h"
#include "core/graph/graph.h"

namespace rlgo::exec {

struct InterpreterOptions {
  Device device;
  Precision precision = Precision::native;
  // Shared with other interpreters of the same device; a store of its own where there is none.
  std::shared_ptr<WeightStore> weights;
  // Where weights take more in double precision, the large ones are kept as they are, and made double where they are
  // read.
  int64_t most_wide_bytes = int64_t{512} << 20;
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
  TensorMap run(const TensorMap& inputs) const { return run(inputs, {}); }
  // Called with each value that is computed (no constants, no inputs), in topological order, before anything reads it.
  // What it leaves in the tensor is what readers get.
  using Observer = std::function<void(graph::Value value, at::Tensor& tensor)>;
  TensorMap run(const TensorMap& inputs, const Observer& observe) const;
  // Converts inputs once, so that run() neither copies nor converts them.
  TensorMap prepare(const TensorMap& inputs) const;

 private:
  void load_constants(const InterpreterOptions& options);

  graph::Graph graph_;
  evaluate::RunPlan plan_;
  Device device_;
  Precision precision_;
  Deadline deadline_;
  Tensors constants_;  // by slot; undefined where computed
  std::unordered_set<evaluate::Slot>
      narrow_;  // constants that are made double where they are read: there are too many bytes of them
};

}  // namespace rlgo::exec
