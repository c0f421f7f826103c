// Runs graphs without LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/evaluate/kernels.h"
#include "core/evaluate/run_plan.h"

namespace rlgo::evaluate {

// Contents of weights, made once and shared by several interpreters (of the graphs before and after a rewrite, for
// example). Not thread-safe.
class WeightStore {
 public:
  // As `dtype`. Throws Error where contents are absent.
  Tensor load(const graph::Blob& blob, ops::DType dtype);
  size_t size() const { return tensors_.size(); }

 private:
  std::unordered_map<uint64_t, Tensor> tensors_;  // by content hash mixed with types
};

struct InterpreterOptions {
  Precision precision = Precision::native;
  // Shared with other interpreters; a store of its own where there is none.
  std::shared_ptr<WeightStore> weights = {};
  // Large weights that only products and convolutions read are kept as they are, and widened as they are read. Where
  // all weights take more in double precision, all large ones are kept so.
  int64_t most_wide_bytes = int64_t{512} << 20;
  // Looked at before and within each operator of a run, which then ends with Stopped.
  Deadline deadline = {};
  int threads = 1;
};

// A graph made ready to run: weights are loaded, what depends on weights alone is computed. Not thread-safe.
class Interpreter {
 public:
  // Throws Error where contents of weights are absent, Stopped at the deadline.
  explicit Interpreter(graph::Graph graph, const InterpreterOptions& options = {});
  const graph::Graph& graph() const { return graph_; }

  // Outputs by name. `inputs` has every input of the graph; floats may come in another float type. Intermediate values
  // are freed after their last use. Throws Error for a missing input or one of another type than the graph states, and
  // where a kernel fails; Stopped at the deadline.
  TensorMap run(const TensorMap& inputs) const { return run(inputs, {}); }
  // Called with each value that is computed (no constants, no inputs), in topological order, before anything reads it.
  // What it leaves in the tensor is what readers get; the tensor may share its elements with others.
  using Observer = std::function<void(graph::Value value, Tensor& tensor)>;
  TensorMap run(const TensorMap& inputs, const Observer& observe) const;
  // Converts inputs once, so that run() neither copies nor converts them.
  TensorMap prepare(const TensorMap& inputs) const;

 private:
  void load_constants(const InterpreterOptions& options);
  // A constant that is kept narrow is made double.
  Tensor read(const Tensors& values, Slot from) const;

  graph::Graph graph_;
  RunPlan plan_;
  Precision precision_;
  Run run_;
  Tensors constants_;  // by slot; undefined where computed
  std::unordered_set<Slot> narrow_;
};

}  // namespace rlgo::evaluate
