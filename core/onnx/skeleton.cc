#include "core/onnx/skeleton.h"

#include <onnx/onnx_pb.h>

namespace rlgo::onnx_io {

Skeleton::Skeleton() : model(std::make_unique<onnx::ModelProto>()) {}
Skeleton::~Skeleton() = default;

}  // namespace rlgo::onnx_io
