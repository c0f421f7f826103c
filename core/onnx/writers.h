// One writer per operator whose ONNX form needs more than a name. The table is in write_op.cc.
#pragma once

#include <string>
#include <string_view>

#include "core/onnx/writer.h"

namespace rlgo::onnx_io {

// write_linear.cc
void write_conv2d(Writer& writer, const OutNode& node);
void write_conv_transpose(Writer& writer, const OutNode& node);
void write_matmul(Writer& writer, const OutNode& node);
void write_pool(Writer& writer, const OutNode& node);
// write_norm.cc; the activations are also what stands behind a fused conv2d or matmul
void write_activation(Writer& writer, std::string_view act, const std::string& input, ops::DType dtype,
                      const std::string& output);
void write_gelu(Writer& writer, const std::string& input, ops::DType dtype, std::string_view approximate,
                const std::string& output);
void write_hard_swish(Writer& writer, const std::string& input, const std::string& output);
void write_reduce(Writer& writer, const OutNode& node);
void write_softmax(Writer& writer, const OutNode& node);
void write_layer_norm(Writer& writer, const OutNode& node);
// write_shape.cc
void write_split(Writer& writer, const OutNode& node);
void write_reshape(Writer& writer, const OutNode& node);
void write_expand(Writer& writer, const OutNode& node);
void write_resize(Writer& writer, const OutNode& node);
void write_slice(Writer& writer, const OutNode& node);
void write_pad(Writer& writer, const OutNode& node);

}  // namespace rlgo::onnx_io
