// Checks of a model file before anything is made from it.
#pragma once

#include <memory>
#include <string>

#include "core/onnx/onnx.h"

namespace onnx {
class ModelProto;
}

namespace rlgo::onnx_io {

// Sizes, ranks, names and nesting against the limits. To be called before anything else looks at the model. Throws
// Error that names the place, the limit and its option.
void check_limits(const onnx::ModelProto& model, const ImportLimits& limits);
// ir_version and operator sets. Throws Error.
void check_versions(const onnx::ModelProto& model);
// Names (each value defined once, before it is used), sizes of tensors, local functions without recursion. Brings the
// nodes of the main graph into topological order where they are not. Throws Error that names the place.
void validate_model(onnx::ModelProto& model);
// The version of the standard operators (ai.onnx) that the model asks for; 0 where it asks for none.
int standard_opset(const onnx::ModelProto& model);
// Writes the domain of the standard operators as "" where it has its other name, "ai.onnx".
void normalise_domains(onnx::ModelProto& model);

// ONNX's own checker; graph inputs and outputs without a shape are let pass. Throws Error. The model is left as it was.
void check_model(onnx::ModelProto& model);

// Runs ONNX's shape inference on the model; the destructor takes away what it added, subgraphs included.
class Inference {
 public:
  explicit Inference(onnx::ModelProto& model);
  ~Inference();
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;
  // Stops at the first contradiction, with what() of it; empty where there is none.
  std::string run_strictly(bool propagate_data);
  // Forgets what was inferred, and what the file states about values inside and about the outputs' shapes.
  void forget_shapes();
  // forget_shapes(), then infers what can be inferred.
  void run_leniently();

 private:
  void take_defaults();
  void declare_sparse();
  struct Saved;
  std::unique_ptr<Saved> saved_;
};

}  // namespace rlgo::onnx_io
