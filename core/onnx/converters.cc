#include "core/onnx/converters.h"

#include <algorithm>
#include <array>

namespace rlgo::onnx_io {
namespace {

struct Row {
  std::string_view op;
  Converter convert;
};

constexpr auto kRows = std::to_array<Row>({
    {"Abs", convert_unary},
    {"Add", convert_binary},
    {"And", convert_compare},
    {"AveragePool", convert_average_pool},
    {"BatchNormalization", convert_batch_norm},
    {"Cast", convert_cast},
    {"Clip", convert_clip},
    {"Concat", convert_concat},
    {"ConstantOfShape", convert_constant_of_shape},
    {"Conv", convert_conv},
    {"ConvTranspose", convert_conv_transpose},
    {"Div", convert_binary},
    {"Dropout", convert_dropout},
    {"Equal", convert_compare},
    {"Erf", convert_unary},
    {"Exp", convert_unary},
    {"Expand", convert_expand},
    {"Flatten", convert_reshape},
    {"Gather", convert_gather},
    {"Gelu", convert_gelu},
    {"Gemm", convert_gemm},
    {"GlobalAveragePool", convert_global_average_pool},
    {"Greater", convert_compare},
    {"GreaterOrEqual", convert_compare},
    {"HardSigmoid", convert_hard_sigmoid},
    {"HardSwish", convert_unary},
    {"Identity", convert_identity},
    {"LayerNormalization", convert_layer_norm},
    {"LeakyRelu", convert_leaky_relu},
    {"Less", convert_compare},
    {"LessOrEqual", convert_compare},
    {"Log", convert_unary},
    {"MatMul", convert_matmul},
    {"Max", convert_variadic},
    {"MaxPool", convert_max_pool},
    {"Min", convert_variadic},
    {"Mul", convert_binary},
    {"Neg", convert_unary},
    {"Not", convert_unary},
    {"Or", convert_compare},
    {"PRelu", convert_binary},
    {"Pad", convert_pad},
    {"Pow", convert_pow},
    {"ReduceMax", convert_reduce},
    {"ReduceMean", convert_reduce},
    {"ReduceSum", convert_reduce},
    {"Relu", convert_unary},
    {"Reshape", convert_reshape},
    {"Resize", convert_resize},
    {"Sigmoid", convert_unary},
    {"Slice", convert_slice},
    {"Softmax", convert_softmax},
    {"Split", convert_split},
    {"Sqrt", convert_unary},
    {"Squeeze", convert_reshape},
    {"Sub", convert_binary},
    {"Sum", convert_variadic},
    {"Tanh", convert_unary},
    {"Transpose", convert_transpose},
    {"Unsqueeze", convert_reshape},
    {"Where", convert_where},
});
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op));

}  // namespace

Converter find_converter(std::string_view op) {
  const auto row = std::ranges::lower_bound(kRows, op, {}, &Row::op);
  return row != kRows.end() && row->op == op ? row->convert : nullptr;
}

}  // namespace rlgo::onnx_io
