// Changes to the parts of ONNX models: tensors, attributes, types.
#pragma once

#include <onnx/onnx_pb.h>

#include "tests/fuzz/mutate.h"

namespace rlgo::fuzz {

// One of the list's items; null where it is empty.
template <typename List>
auto* any(List* list, Rng& rng) {
  return list->empty() ? nullptr : list->Mutable(static_cast<int>(pick(rng, static_cast<size_t>(list->size()))));
}

// `count` odd numbers as the tensor's contents; its dimensions stay.
void fill_ints(onnx::TensorProto& tensor, int64_t count, Rng& rng);
void change_tensor(onnx::TensorProto& tensor, Rng& rng);
void change_attributes(onnx::NodeProto& node, Rng& rng);
void change_type(onnx::TypeProto& type, Rng& rng);

}  // namespace rlgo::fuzz
