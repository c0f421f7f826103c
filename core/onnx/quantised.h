// Rewrites of quantised models: QuantizeLinear, DequantizeLinear, and operators on integers that stand for real
// numbers.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/onnx.h"

namespace onnx {
class ModelProto;
}

namespace rlgo::onnx_io {

// The rewrites by name. Each keeps every output bit for bit, by ONNX's definition of the operators; a runtime may fuse
// other operators afterwards, and its fused kernels may round otherwise. So each is one whole-model choice, which a
// measurement and a comparison in the target decide.
//   s8-weights-F, u8-weights-F   constant weights w, zero point z of u8 become w - 128, z - 128 of s8, or back; F is
//   the
//                                kernel that reads them: conv, matmul, conv-integer, matmul-integer
//   u8-activations               values of s8 between integer operators become u8, their zero points 128 larger
//   dead-quantised               Q(DQ(q)) is q; a Relu or Clip that the range of the quantisation makes redundant goes
//   quantised-moves              operators that move elements (and MaxPool, Pad, Resize nearest) work on integers: in
//                                front of DQ, behind Q; with dead-quantised
//   clip-behind-quantise         Q(Relu(x)) and Q(Clip(x)) are a Clip of Q(x), so that Q can be fused with what makes x
std::span<const std::string_view> quantised_rewrites();
// The one of them that is meant to change what the runtime fuses, and so, usually, how it rounds.
bool changes_rounding(std::string_view rewrite);

// Makes these rewrites in the main graph wherever they apply. Scales and zero points must be constants, scales normal
// numbers in single precision. Models with standard operators of their own stay as they are.
std::vector<Change> rewrite_quantised(onnx::ModelProto& model, const std::set<std::string>& names);
// What the model is like, and which rewrites apply. The model is left as it was; weights are not copied.
QuantisedReport look_at_quantised(const onnx::ModelProto& model);
// The model of a file with these rewrites, as another file. For models that are timed and thrown away.
void write_requantised(const std::filesystem::path& model, const std::set<std::string>& names,
                       const std::filesystem::path& out);

}  // namespace rlgo::onnx_io
