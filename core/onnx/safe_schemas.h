// ONNX's shape inference trusts attributes, ranks and sizes of a file. These schemas check them first. What they do not
// know of is caught by reading in a child process (core/base/isolate.h).
#pragma once

#include <memory>

namespace onnx {
class ISchemaRegistry;
class OpSchema;
struct InferenceContext;
}  // namespace onnx

namespace rlgo::onnx_io {

class SafeSchemas {
 public:
  SafeSchemas();
  ~SafeSchemas();
  // ONNX's schemas with checks in front of their inference functions. Lives as long as this object.
  const onnx::ISchemaRegistry& registry() const;

 private:
  struct Registry;
  std::unique_ptr<Registry> registry_;
};

// ONNX's inference of one operator. Throws onnx::InferenceError where the operator's attributes or inputs would lead it
// astray. What it computes with other rounding than runtimes do, the length of a Range of floats, it leaves open.
void infer(const onnx::OpSchema& schema, onnx::InferenceContext& context);

}  // namespace rlgo::onnx_io
