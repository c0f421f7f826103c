#include "core/onnx/safe_schemas.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "core/onnx/constant.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {
namespace {

// Attributes that are divided by.
constexpr auto kDivisors =
    std::to_array<const char*>({"blocksize", "kv_num_heads", "num_heads", "q_num_heads", "strides"});

// Operators that slide a window over input 0. `weights`: the input that holds the kernel, -1 where there is none.
struct Window {
  const char* op;
  int weights;
};
constexpr auto kWindows = std::to_array<Window>({{"AveragePool", -1},
                                                 {"Conv", 1},
                                                 {"ConvInteger", 1},
                                                 {"ConvTranspose", 1},
                                                 {"DeformConv", 1},
                                                 {"LpPool", -1},
                                                 {"MaxPool", -1},
                                                 {"MaxUnpool", 1},
                                                 {"QLinearConv", 3}});

// Inputs from `first` on hold sizes, axes, positions or repeats: one number for each axis of some tensor, or two.
struct ShapeInputs {
  const char* op;
  size_t first;
};
constexpr auto kShapeInputs = std::to_array<ShapeInputs>({{"AffineGrid", 1},
                                                          {"CenterCropPad", 1},
                                                          {"Col2Im", 1},
                                                          {"ConstantOfShape", 0},
                                                          {"Expand", 1},
                                                          {"MaxUnpool", 2},
                                                          {"Pad", 1},
                                                          {"Reshape", 1},
                                                          {"Resize", 1},
                                                          {"Slice", 1},
                                                          {"Squeeze", 1},
                                                          {"Tile", 1},
                                                          {"Unsqueeze", 1},
                                                          {"Upsample", 1}});
constexpr int64_t kMostNumbers = 256;            // in such an input
constexpr int64_t kLargestWindowed = 1LL << 31;  // extent that a window moves along: ONNX counts in a loop

template <typename Table>
auto* row_of(const Table& table, const onnx::OpSchema& schema) {
  const auto found = std::ranges::find_if(table, [&](const auto& row) { return schema.Name() == row.op; });
  return found == table.end() ? nullptr : &*found;
}

// Null where the input is left out, is no tensor or has no rank.
const onnx::TensorShapeProto* shape_of(const onnx::InferenceContext& context, size_t input) {
  if (input >= context.getNumInputs()) return nullptr;
  const auto* type = context.getInputType(input);
  return type && type->has_tensor_type() && type->tensor_type().has_shape() ? &type->tensor_type().shape() : nullptr;
}

// Inference functions read the tensor type of what they take for a tensor, also where the file has a sequence there.
void check_kinds(const onnx::OpSchema& schema, const onnx::InferenceContext& context) {
  const auto& formal = schema.inputs();
  for (size_t k = 0; k < context.getNumInputs() && !formal.empty(); ++k) {
    const auto* type = context.getInputType(k);
    if (!type || type->has_tensor_type() || type->value_case() == onnx::TypeProto::VALUE_NOT_SET) continue;
    const auto& allowed = formal[std::min(k, formal.size() - 1)].GetTypes();
    const auto is_tensor = [](const auto* name) { return name->starts_with("tensor("); };
    if (std::ranges::all_of(allowed, is_tensor)) fail_type_inference("input ", k, " is no tensor");
  }
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

void check_windows(const Window& window, onnx::InferenceContext& context) {
  const auto* x = shape_of(context, 0);
  if (!x) return;
  if (x->dim_size() < 2) fail_shape_inference("a window over a tensor of rank ", x->dim_size());
  for (const auto& dim : x->dim()) {
    if (dim.has_dim_value() && (dim.dim_value() < 0 || dim.dim_value() > kLargestWindowed))
      fail_shape_inference("a window over an extent of ", dim.dim_value());
  }
  const auto* w = window.weights < 0 ? nullptr : shape_of(context, static_cast<size_t>(window.weights));
  if (w && w->dim_size() != x->dim_size())
    fail_shape_inference("weights of rank ", w->dim_size(), " for a tensor of rank ", x->dim_size());
  for (const char* name : {"dilations", "kernel_shape", "output_padding", "output_shape", "pads", "strides"}) {
    const auto* list = context.getAttribute(name);
    const int expected = (x->dim_size() - 2) * (std::string_view(name) == "pads" ? 2 : 1);
    // ConvTranspose's output_shape may name batch and channels too.
    if (list && list->ints_size() != expected && !(std::string_view(name) == "output_shape"))
      fail_shape_inference(list->ints_size(), " ", name, " for a tensor of rank ", x->dim_size());
  }
}

void check_shape_inputs(size_t first, const onnx::InferenceContext& context) {
  for (size_t k = first; k < context.getNumInputs(); ++k) {
    const auto* shape = shape_of(context, k);
    if (!shape || shape->dim_size() != 1 || !shape->dim(0).has_dim_value()) continue;
    if (shape->dim(0).dim_value() < 0 || shape->dim(0).dim_value() > kMostNumbers)
      fail_shape_inference("input ", k, " has ", shape->dim(0).dim_value(), " numbers");
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

bool is_of_floats(const onnx::InferenceContext& context) {
  const auto* type = context.getInputType(0);
  return type != nullptr && ops::is_float(type_of(*type).dtype);
}

// Runtimes count the elements in the type's own precision, ONNX in double: -0.37 to 0.96 by 0.01 are 134 or 133.
void infer_range_of_floats(onnx::InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  auto* shape = context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
  shape->clear_dim();
  shape->add_dim();
}

// A slice from behind whose end is the largest number: nothing by the operator's definition, everything in ONNX
// Runtime.
bool is_unclear_slice(const onnx::InferenceContext& context) {
  if (context.getNumInputs() < 5) return false;
  const auto *ends = context.getInputData(2), *steps = context.getInputData(4);
  if (ends == nullptr || steps == nullptr) return false;
  const auto numbers = [](const onnx::TensorProto& tensor) {
    return constant_from_bytes(tensor_type_of(tensor), copy_bytes(tensor)).ints;
  };
  const auto end = numbers(*ends), step = numbers(*steps);
  for (size_t k = 0; k < std::min(end.size(), step.size()); ++k) {
    if (step[k] < 0 && end[k] >= std::numeric_limits<int32_t>::max()) return true;
  }
  return false;
}

// ONNX passes numbers of shapes on as dimensions, 160 bytes each.
constexpr int64_t kMostPropagated = 1024;

bool propagates_little(const onnx::DataPropagationContext& context) {
  const auto is_small = [](const onnx::TypeProto* type) {
    if (type == nullptr || !type->has_tensor_type()) return true;
    int64_t count = 1;
    for (const auto& dim : type->tensor_type().shape().dim()) {
      if (__builtin_mul_overflow(count, std::max<int64_t>(dim.dim_value(), 1), &count)) return false;
    }
    return count <= kMostPropagated;
  };
  bool small = true;
  for (size_t k = 0; k < context.getNumInputs(); ++k) small = small && is_small(context.getInputType(k));
  for (size_t k = 0; k < context.getNumOutputs(); ++k) small = small && is_small(context.getOutputType(k));
  return small;
}

void infer_rank_alone(onnx::InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  const auto* shape = shape_of(context, 0);
  if (shape == nullptr) return;
  auto* result = context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
  result->clear_dim();
  for (int d = 0; d < shape->dim_size(); ++d) result->add_dim();
}

}  // namespace

struct SafeSchemas::Registry final : public onnx::ISchemaRegistry {
  // NOLINTNEXTLINE(google-default-arguments)
  const onnx::OpSchema* GetSchema(const std::string& op, const int version, const std::string& domain) const override {
    const auto* schema = onnx::OpSchemaRegistry::Schema(op, version, domain);
    if (!schema || !schema->has_type_and_shape_inference_function()) return schema;
    auto& copy = copies[schema];
    if (!copy) {
      copy = std::make_unique<onnx::OpSchema>(*schema);
      copy->TypeAndShapeInferenceFunction([schema](onnx::InferenceContext& context) { infer(*schema, context); });
      if (schema->has_data_propagation_function()) {
        copy->PartialDataPropagationFunction([schema](onnx::DataPropagationContext& context) {
          if (propagates_little(context)) schema->GetDataPropagationFunction()(context);
        });
      }
    }
    return copy.get();
  }
  mutable std::unordered_map<const onnx::OpSchema*, std::unique_ptr<onnx::OpSchema>> copies;
};

SafeSchemas::SafeSchemas() : registry_(std::make_unique<Registry>()) {}
SafeSchemas::~SafeSchemas() = default;
const onnx::ISchemaRegistry& SafeSchemas::registry() const { return *registry_; }

void infer(const onnx::OpSchema& schema, onnx::InferenceContext& context) {
  check_kinds(schema, context);
  check_divisors(context);
  if (const auto* window = row_of(kWindows, schema)) check_windows(*window, context);
  if (const auto* inputs = row_of(kShapeInputs, schema)) check_shape_inputs(inputs->first, context);
  if (schema.attributes().contains("axis")) check_axis(schema, context);
  if (schema.Name() == "Split") check_split(context);
  if (schema.Name() == "Scan") check_scan(context);
  if (schema.Name() == "Range" && is_of_floats(context)) return infer_range_of_floats(context);
  if (schema.Name() == "Slice" && is_unclear_slice(context)) return infer_rank_alone(context);
  schema.GetTypeAndShapeInferenceFunction()(context);
}

}  // namespace rlgo::onnx_io
