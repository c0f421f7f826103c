// ONNX's shape inference trusts some attributes of a file. These schemas check them first.
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
  // ONNX's schemas, some of them with checks in front of their inference functions. Lives as long as this object.
  const onnx::ISchemaRegistry& registry() const;

 private:
  struct Registry;
  std::unique_ptr<Registry> registry_;
};

// Throws onnx::InferenceError where the operator's attributes would lead its inference function astray.
void check_before_inference(const onnx::OpSchema& schema, onnx::InferenceContext& context);

}  // namespace rlgo::onnx_io
