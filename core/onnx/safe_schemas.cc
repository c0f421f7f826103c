#include "core/onnx/safe_schemas.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace rlgo::onnx_io {
namespace {

// Attributes that are divided by.
constexpr auto kDivisors =
    std::to_array<const char*>({"blocksize", "kv_num_heads", "num_heads", "q_num_heads", "strides"});

bool needs_checks(const onnx::OpSchema& schema) {
  const auto has = [&](const char* name) { return schema.attributes().contains(name); };
  return has("axis") || std::ranges::any_of(kDivisors, has) || schema.Name() == "Split" || schema.Name() == "Scan";
}

void check_divisors(onnx::InferenceContext& context) {
  for (const char* name : kDivisors) {
    const auto* attribute = context.getAttribute(name);
    if (!attribute) continue;
    const bool is_bad = attribute->ints_size() == 0 && attribute->i() <= 0;
    if (is_bad || std::ranges::any_of(attribute->ints(), [](int64_t v) { return v <= 0; }))
      fail_shape_inference(name, " must be positive");
  }
}

// All axes lie inside the input, or one behind its last (Flatten) or before its first (OneHot).
void check_axis(const onnx::OpSchema& schema, onnx::InferenceContext& context) {
  const auto* axis = context.getAttribute("axis");
  if (!axis || context.getNumInputs() == 0) return;
  const auto* type = context.getInputType(0);
  if (!type || !type->has_tensor_type() || !type->tensor_type().has_shape()) return;
  const int64_t rank = type->tensor_type().shape().dim_size();
  const int64_t slack = schema.Name() == "LayerNormalization" || schema.Name() == "RMSNormalization" ? 0 : 1;
  if (axis->i() < -rank - slack || axis->i() > rank - 1 + slack)
    fail_shape_inference("axis ", axis->i(), " of a tensor of rank ", rank);
}

void check_split(onnx::InferenceContext& context) {
  const auto* parts = context.getAttribute("num_outputs");
  const auto outputs = static_cast<int64_t>(context.getNumOutputs());
  if (parts && parts->i() != outputs) fail_shape_inference(parts->i(), " parts for ", outputs, " outputs");
}

void check_scan(onnx::InferenceContext& context) {
  const auto* scanned = context.getAttribute("num_scan_inputs");
  const auto inputs = static_cast<int64_t>(context.getNumInputs()),
             outputs = static_cast<int64_t>(context.getNumOutputs());
  if (!scanned || scanned->i() < 1 || scanned->i() > inputs)
    fail_shape_inference("num_scan_inputs does not fit ", inputs, " inputs");
  if (inputs - scanned->i() > outputs + 1) fail_shape_inference("more states than outputs");
}

}  // namespace

struct SafeSchemas::Registry final : public onnx::ISchemaRegistry {
  // NOLINTNEXTLINE(google-default-arguments)
  const onnx::OpSchema* GetSchema(const std::string& op, const int version, const std::string& domain) const override {
    const auto* schema = onnx::OpSchemaRegistry::Schema(op, version, domain);
    if (!schema || !needs_checks(*schema) || !schema->has_type_and_shape_inference_function()) return schema;
    auto& copy = copies[schema];
    if (!copy) {
      copy = std::make_unique<onnx::OpSchema>(*schema);
      copy->TypeAndShapeInferenceFunction([schema](onnx::InferenceContext& context) {
        check_before_inference(*schema, context);
        schema->GetTypeAndShapeInferenceFunction()(context);
      });
    }
    return copy.get();
  }
  mutable std::unordered_map<const onnx::OpSchema*, std::unique_ptr<onnx::OpSchema>> copies;
};

SafeSchemas::SafeSchemas() : registry_(std::make_unique<Registry>()) {}
SafeSchemas::~SafeSchemas() = default;
const onnx::ISchemaRegistry& SafeSchemas::registry() const { return *registry_; }

void check_before_inference(const onnx::OpSchema& schema, onnx::InferenceContext& context) {
  check_divisors(context);
  if (schema.attributes().contains("axis")) check_axis(schema, context);
  if (schema.Name() == "Split") check_split(context);
  if (schema.Name() == "Scan") check_scan(context);
}

}  // namespace rlgo::onnx_io
