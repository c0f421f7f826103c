// One converter per operator of ai.onnx that rlgo knows (opset 7 and later); the table in converters.cc names them all.
// The family files (convert_*.cc) hold them. Each returns false where this use of the operator cannot be expressed.
#pragma once

#include "core/onnx/onnx_node.h"

namespace rlgo::onnx_io {

// convert_elementwise.cc
bool convert_binary(const Call& call, Maker& maker);   // Add Sub Mul Div PRelu
bool convert_compare(const Call& call, Maker& maker);  // Equal Less LessOrEqual Greater GreaterOrEqual And Or
bool convert_where(const Call& call, Maker& maker);
bool convert_pow(const Call& call, Maker& maker);
bool convert_variadic(const Call& call, Maker& maker);  // Sum Min Max
bool convert_unary(const Call& call, Maker& maker);     // Relu Sigmoid Tanh Erf Sqrt Exp Log Neg Abs HardSwish Not
bool convert_gelu(const Call& call, Maker& maker);
bool convert_clip(const Call& call, Maker& maker);
bool convert_leaky_relu(const Call& call, Maker& maker);
bool convert_hard_sigmoid(const Call& call, Maker& maker);
bool convert_cast(const Call& call, Maker& maker);
bool convert_identity(const Call& call, Maker& maker);  // Identity, Dropout at inference
bool convert_dropout(const Call& call, Maker& maker);
// convert_linear.cc
bool convert_conv(const Call& call, Maker& maker);
bool convert_conv_transpose(const Call& call, Maker& maker);
bool convert_matmul(const Call& call, Maker& maker);
bool convert_gemm(const Call& call, Maker& maker);
bool convert_max_pool(const Call& call, Maker& maker);
bool convert_average_pool(const Call& call, Maker& maker);
bool convert_global_average_pool(const Call& call, Maker& maker);
bool convert_batch_norm(const Call& call, Maker& maker);
// convert_shape.cc
bool convert_reshape(const Call& call, Maker& maker);  // Reshape Flatten Squeeze Unsqueeze
bool convert_transpose(const Call& call, Maker& maker);
bool convert_concat(const Call& call, Maker& maker);
bool convert_split(const Call& call, Maker& maker);
bool convert_slice(const Call& call, Maker& maker);
bool convert_pad(const Call& call, Maker& maker);
bool convert_gather(const Call& call, Maker& maker);
bool convert_expand(const Call& call, Maker& maker);
bool convert_resize(const Call& call, Maker& maker);
bool convert_constant_of_shape(const Call& call, Maker& maker);
// convert_reduce.cc
bool convert_reduce(const Call& call, Maker& maker);  // ReduceMean ReduceSum ReduceMax
bool convert_softmax(const Call& call, Maker& maker);
bool convert_layer_norm(const Call& call, Maker& maker);

}  // namespace rlgo::onnx_io
