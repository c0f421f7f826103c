// One writer per operator whose ONNX form needs more than a name. The table is in operator_table.cc.
#pragma once

#include <string>
#include <string_view>

#include "core/onnx/writer.h"

namespace rlgo::onnx_io {

// write_op.cc
void write_min_max(Writer& writer, const OutNode& node);
void write_clip(Writer& writer, const OutNode& node);
void write_cast(Writer& writer, const OutNode& node);
void write_fill(Writer& writer, const OutNode& node);
void write_literal(Writer& writer, const OutNode& node);
// write_linear.cc
void write_conv2d(Writer& writer, const OutNode& node);
void write_conv_transpose(Writer& writer, const OutNode& node);
void write_matmul(Writer& writer, const OutNode& node);
void write_pool(Writer& writer, const OutNode& node);
// write_norm.cc; the activations are also what stands behind a fused conv2d or matmul
void write_activation(Writer& writer, std::string_view act, const std::string& input, ops::DType dtype,
                      const std::string& output);
void write_gelu(Writer& writer, const OutNode& node);
void write_hard_swish(Writer& writer, const OutNode& node);
void write_reduce(Writer& writer, const OutNode& node);
void write_softmax(Writer& writer, const OutNode& node);
void write_layer_norm(Writer& writer, const OutNode& node);
void write_mish(Writer& writer, const OutNode& node);
void write_swish(Writer& writer, const OutNode& node);
// write_sequence.cc
void write_attention(Writer& writer, const OutNode& node);
void write_recurrent(Writer& writer, const OutNode& node);
// write_shape.cc
void write_split(Writer& writer, const OutNode& node);
void write_reshape(Writer& writer, const OutNode& node);
void write_expand(Writer& writer, const OutNode& node);
void write_resize(Writer& writer, const OutNode& node);
void write_slice(Writer& writer, const OutNode& node);
void write_pad(Writer& writer, const OutNode& node);
// write_index.cc
void write_depth_to_space(Writer& writer, const OutNode& node);
void write_scatter(Writer& writer, const OutNode& node);  // scatter_elements scatter_nd
void write_cumsum(Writer& writer, const OutNode& node);
void write_trilu(Writer& writer, const OutNode& node);
void write_one_hot(Writer& writer, const OutNode& node);

}  // namespace rlgo::onnx_io
