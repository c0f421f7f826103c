// One converter per operator of ai.onnx that rlgo knows (opset 7 and later); the table in operator_table.cc names them
// all. The family files (convert_*.cc) hold them. Each returns false where this use of the operator cannot be
// expressed.
#pragma once

#include "core/onnx/onnx_node.h"

namespace rlgo::onnx_io {

// convert_elementwise.cc
bool convert_greater(const OnnxNode& node, Maker& maker);  // Greater GreaterOrEqual
bool convert_pow(const OnnxNode& node, Maker& maker);
bool convert_variadic(const OnnxNode& node, Maker& maker);  // Sum Min Max
bool convert_gelu(const OnnxNode& node, Maker& maker);
bool convert_clip(const OnnxNode& node, Maker& maker);
bool convert_cast(const OnnxNode& node, Maker& maker);
bool convert_identity(const OnnxNode& node, Maker& maker);  // Identity, Dropout at inference
bool convert_dropout(const OnnxNode& node, Maker& maker);
// convert_linear.cc
bool convert_conv(const OnnxNode& node, Maker& maker);
bool convert_conv_transpose(const OnnxNode& node, Maker& maker);
bool convert_matmul(const OnnxNode& node, Maker& maker);
bool convert_gemm(const OnnxNode& node, Maker& maker);
bool convert_max_pool(const OnnxNode& node, Maker& maker);
bool convert_average_pool(const OnnxNode& node, Maker& maker);
bool convert_global_average_pool(const OnnxNode& node, Maker& maker);
bool convert_batch_norm(const OnnxNode& node, Maker& maker);
// convert_shape.cc
bool convert_reshape(const OnnxNode& node, Maker& maker);  // Reshape Flatten Squeeze Unsqueeze
bool convert_transpose(const OnnxNode& node, Maker& maker);
bool convert_concat(const OnnxNode& node, Maker& maker);
bool convert_split(const OnnxNode& node, Maker& maker);
bool convert_slice(const OnnxNode& node, Maker& maker);
bool convert_pad(const OnnxNode& node, Maker& maker);
bool convert_gather(const OnnxNode& node, Maker& maker);
bool convert_expand(const OnnxNode& node, Maker& maker);
bool convert_constant_of_shape(const OnnxNode& node, Maker& maker);
// convert_index.cc
bool convert_depth_to_space(const OnnxNode& node, Maker& maker);
bool convert_scatter(const OnnxNode& node, Maker& maker);  // ScatterElements ScatterND
bool convert_cumsum(const OnnxNode& node, Maker& maker);
bool convert_trilu(const OnnxNode& node, Maker& maker);
bool convert_one_hot(const OnnxNode& node, Maker& maker);
// convert_reduce.cc
bool convert_reduce(const OnnxNode& node, Maker& maker);   // Reduce*
bool convert_softmax(const OnnxNode& node, Maker& maker);  // Softmax LogSoftmax
bool convert_layer_norm(const OnnxNode& node, Maker& maker);
bool convert_lrn(const OnnxNode& node, Maker& maker);     // convert_lrn.cc
bool convert_resize(const OnnxNode& node, Maker& maker);  // convert_resize.cc
// convert_sequence.cc
bool convert_attention(const OnnxNode& node, Maker& maker);
bool convert_recurrent(const OnnxNode& node, Maker& maker);  // RNN GRU LSTM
// convert_composed.cc
bool convert_einsum(const OnnxNode& node, Maker& maker);
bool convert_global_max_pool(const OnnxNode& node, Maker& maker);
bool convert_tile(const OnnxNode& node, Maker& maker);

}  // namespace rlgo::onnx_io
