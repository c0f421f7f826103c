#include "core/onnx/operator_table.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

template <size_t N>
constexpr std::array<OperatorRow, N> by_name(std::array<OperatorRow, N> rows) {
  std::ranges::sort(rows, {}, &OperatorRow::onnx);
  return rows;
}

constexpr auto kRows = by_name(std::to_array<OperatorRow>({
#define RLGO_FUNCTION(name, onnx, since, writer, work, value) {#onnx, Op::name, convert_plain, writer, since},
#include "core/ops/functions.def"
#undef RLGO_FUNCTION
    {"", Op::literal, nullptr, write_literal},
    {"Add", Op::add, convert_plain, write_plain},
    {"And", Op::logical_and, convert_plain, write_plain},
    {"ArgMax", Op::arg_max, convert_plain, write_plain},
    {"ArgMin", Op::arg_min, convert_plain, write_plain},
    {"Attention", Op::attention, convert_attention, write_attention, 23},
    {"AveragePool", Op::avg_pool, convert_average_pool, write_pool},
    {"BatchNormalization", Op::batch_norm, convert_batch_norm, write_plain},
    {"Cast", Op::cast, convert_cast, write_cast},
    {"Celu", Op::celu, convert_plain, write_plain, 12},
    {"Clip", Op::clip, convert_clip, write_clip},
    {"Concat", Op::concat, convert_concat, write_plain},
    {"ConstantOfShape", Op::fill, convert_constant_of_shape, write_fill},
    {"Conv", Op::conv2d, convert_conv, write_conv2d},
    {"ConvTranspose", Op::conv_transpose, convert_conv_transpose, write_conv_transpose},
    {"CumSum", Op::cumsum, convert_cumsum, write_cumsum},
    {"DepthToSpace", Op::depth_to_space, convert_depth_to_space, write_depth_to_space},
    {"Div", Op::div, convert_plain, write_plain},
    {"Dropout", Op::opaque, convert_dropout},
    {"Einsum", Op::opaque, convert_einsum},
    {"Elu", Op::elu, convert_plain, write_plain},
    {"Equal", Op::equal, convert_plain, write_plain},
    {"Expand", Op::expand, convert_expand, write_expand},
    {"Flatten", Op::reshape, convert_reshape},
    {"GRU", Op::recurrent, convert_recurrent, write_recurrent},
    {"Gather", Op::gather, convert_gather, write_plain},
    {"GatherElements", Op::gather_elements, convert_plain, write_plain, 11},
    {"GatherND", Op::gather_nd, convert_plain, write_plain, 12},
    {"Gelu", Op::gelu, convert_gelu, write_gelu},
    {"Gemm", Op::matmul, convert_gemm},
    {"GlobalAveragePool", Op::global_avg_pool, convert_global_average_pool, write_plain},
    {"GlobalMaxPool", Op::opaque, convert_global_max_pool},
    {"Greater", Op::less, convert_greater},
    {"GreaterOrEqual", Op::less_equal, convert_greater},
    {"GroupNormalization", Op::group_norm, convert_plain, write_plain, 21},
    {"HardSigmoid", Op::hard_sigmoid, convert_plain, write_plain},
    {"Identity", Op::opaque, convert_identity},
    {"InstanceNormalization", Op::instance_norm, convert_plain, write_plain},
    {"LRN", Op::opaque, convert_lrn},
    {"LSTM", Op::recurrent, convert_recurrent, write_recurrent},
    {"LayerNormalization", Op::layer_norm, convert_layer_norm, write_layer_norm},
    {"LeakyRelu", Op::leaky_relu, convert_plain, write_plain},
    {"Less", Op::less, convert_plain, write_plain},
    {"LessOrEqual", Op::less_equal, convert_plain, write_plain},
    {"LogSoftmax", Op::log_softmax, convert_softmax, write_softmax},
    {"LpNormalization", Op::lp_norm, convert_plain, write_plain, 1, -1},
    {"MatMul", Op::matmul, convert_matmul, write_matmul},
    {"Max", Op::max, convert_variadic, write_min_max},
    {"MaxPool", Op::max_pool, convert_max_pool, write_pool},
    {"Min", Op::min, convert_variadic, write_min_max},
    {"Mod", Op::mod, convert_plain, write_plain, 10},
    {"Mul", Op::mul, convert_plain, write_plain},
    {"Not", Op::logical_not, convert_plain, write_plain},
    {"OneHot", Op::one_hot, convert_one_hot, write_one_hot},
    {"Or", Op::logical_or, convert_plain, write_plain},
    {"PRelu", Op::prelu, convert_plain, write_plain},
    {"Pad", Op::pad, convert_pad, write_pad},
    {"Pow", Op::pow, convert_pow, write_plain},
    {"RMSNormalization", Op::rms_norm, convert_plain, write_plain, 23, -1},
    {"RNN", Op::recurrent, convert_recurrent, write_recurrent},
    {"ReduceL1", Op::reduce_l1, convert_reduce, write_reduce},
    {"ReduceL2", Op::reduce_l2, convert_reduce, write_reduce},
    {"ReduceLogSum", Op::reduce_log_sum, convert_reduce, write_reduce},
    {"ReduceLogSumExp", Op::reduce_log_sum_exp, convert_reduce, write_reduce},
    {"ReduceMax", Op::reduce_max, convert_reduce, write_reduce},
    {"ReduceMean", Op::reduce_mean, convert_reduce, write_reduce},
    {"ReduceMin", Op::reduce_min, convert_reduce, write_reduce},
    {"ReduceProd", Op::reduce_prod, convert_reduce, write_reduce},
    {"ReduceSum", Op::reduce_sum, convert_reduce, write_reduce},
    {"ReduceSumSquare", Op::reduce_sum_square, convert_reduce, write_reduce},
    {"Reshape", Op::reshape, convert_reshape, write_reshape},
    {"Resize", Op::resize, convert_resize, write_resize},
    {"ScatterElements", Op::scatter_elements, convert_scatter, write_scatter},
    {"ScatterND", Op::scatter_nd, convert_scatter, write_scatter},
    {"Selu", Op::selu, convert_plain, write_plain},
    {"Slice", Op::slice, convert_slice, write_slice},
    {"Softmax", Op::softmax, convert_softmax, write_softmax},
    {"SpaceToDepth", Op::space_to_depth, convert_plain, write_plain},
    {"Split", Op::split, convert_split, write_split},
    {"Squeeze", Op::reshape, convert_reshape},
    {"Sub", Op::sub, convert_plain, write_plain},
    {"Sum", Op::add, convert_variadic},
    {"Swish", Op::swish, convert_plain, write_swish},
    {"ThresholdedRelu", Op::thresholded_relu, convert_plain, write_plain, 10},
    {"Tile", Op::opaque, convert_tile},
    {"Transpose", Op::transpose, convert_transpose, write_plain},
    {"Trilu", Op::trilu, convert_trilu, write_trilu},
    {"Unsqueeze", Op::reshape, convert_reshape},
    {"Where", Op::where, convert_plain, write_plain},
}));

}  // namespace

const OperatorRow* find_operator(std::string_view onnx) {
  const auto row = std::ranges::lower_bound(kRows, onnx, {}, &OperatorRow::onnx);
  return row != kRows.end() && row->onnx == onnx ? row : nullptr;
}

Converter find_converter(std::string_view op) {
  const OperatorRow* row = find_operator(op);
  return row == nullptr ? nullptr : row->convert;
}

const OperatorRow& row_of(Op op) {
  const auto row = std::ranges::find_if(kRows, [op](const auto& r) { return r.op == op && r.write != nullptr; });
  if (row == kRows.end()) fail("internal: no ONNX form of {} (this is a bug of rlgo)", ops::name(op));
  return *row;
}

void write_op(Writer& writer, const OutNode& node) { row_of(node.op).write(writer, node); }

std::string_view onnx_name(Attr attr) {
  switch (attr) {
    case Attr::eps:
      return "epsilon";
    case Attr::group:
      return "num_groups";
    case Attr::order:
      return "p";
    case Attr::diagonal:
      return "k";
    case Attr::select_last:
      return "select_last_index";
    default:
      return ops::name(attr);
  }
}

bool convert_plain(const OnnxNode& node, Maker& maker) {
  const OperatorRow& row = *find_operator(node.op);
  ops::Attrs attrs;
  if (node.op == "GroupNormalization" && node.opset < 21) return false;  // scales are those of groups there
  size_t read = node.has("stash_type") && node.i("stash_type", 0) == 1 ? 1 : 0;
  for (const auto& spec : ops::spec(row.op).attrs) {
    const std::string_view name = onnx_name(spec.key);
    read += node.has(name) ? 1 : 0;
    if (spec.key == Attr::axis) {
      const auto axis = normal_axis(node.i(name, row.default_axis), node.input_types[0].rank());
      if (!axis) return false;
      attrs.set(spec.key, *axis);
    } else if (const auto* number = std::get_if<double>(&spec.fallback)) {
      attrs.set(spec.key, node.f(name, *number));
    } else {
      attrs.set(spec.key, node.i(name, std::get<int64_t>(spec.fallback)));
    }
  }
  if (read != node.attrs.size()) return false;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (!node.has_input(k)) return false;
  }
  maker.out(row.op, node.inputs, attrs);
  return true;
}

// Whole numbers that are the default stay out, as older opsets do not have all of them.
void write_plain(Writer& w, const OutNode& n) {
  const OperatorRow& row = row_of(n.op);
  if (w.opset() < row.since) fail("{} needs opset {}, the model has {}", row.onnx, row.since, w.opset());
  OnnxAttrs attrs;
  for (const auto& spec : ops::spec(n.op).attrs) {
    const std::string_view name = onnx_name(spec.key);
    if (std::holds_alternative<double>(spec.fallback)) {
      attrs.emplace_back(name, static_cast<float>(n.attrs.f(spec.key)));
    } else if (std::holds_alternative<Ints>(spec.fallback)) {
      attrs.emplace_back(name, n.attrs.ints(spec.key));
    } else if (!spec.optional || *n.attrs.find(spec.key) != spec.fallback) {
      attrs.emplace_back(name, n.attrs.i(spec.key));
    }
  }
  w.node(row.onnx, n.inputs, n.outputs, attrs);
}

}  // namespace rlgo::onnx_io
