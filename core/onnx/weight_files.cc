#include "core/onnx/weight_files.h"

#include <onnx/onnx_pb.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/write_error.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {

const WeightFiles::File* WeightFiles::find(uint64_t key) const {
  const auto at = files_.find(key);
  return at == files_.end() ? nullptr : &at->second;
}

const WeightFiles::File& WeightFiles::add(uint64_t key, const std::string& bytes, int64_t denormals) {
  const std::string name = "weight-" + hex(key) + ".data";
  std::ofstream file(folder_ / name, std::ios::binary | std::ios::trunc);
  if (!(file << bytes) || !file.flush())
    throw WriteError(fmt::format("{}: cannot be written: {}", (folder_ / name).string(), std::strerror(errno)));
  return files_[key] = {name, denormals};
}

struct FilesAsInputs::Saved {
  onnx::ModelProto& model;
  google::protobuf::RepeatedPtrField<onnx::TensorProto> all;  // initialisers
  int inputs;                                                 // that the model has
};

FilesAsInputs::FilesAsInputs(onnx::ModelProto& model) : saved_(new Saved{model, {}, model.graph().input_size()}) {
  auto& graph = *model.mutable_graph();
  std::unordered_set<std::string> inputs;
  for (const auto& input : graph.input()) inputs.insert(input.name());
  graph.mutable_initializer()->Swap(&saved_->all);
  for (auto& tensor : saved_->all) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) {
      graph.add_initializer()->Swap(&tensor);
    } else if (!inputs.contains(tensor.name())) {
      auto& input = *graph.add_input();
      input.set_name(tensor.name());
      set_type(*input.mutable_type(), tensor_type_of(tensor));
    }
  }
}

FilesAsInputs::~FilesAsInputs() {
  auto& graph = *saved_->model.mutable_graph();
  graph.mutable_input()->DeleteSubrange(saved_->inputs, graph.input_size() - saved_->inputs);
  int next = 0;
  for (auto& tensor : saved_->all) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) tensor.Swap(graph.mutable_initializer(next++));
  }
  graph.mutable_initializer()->Swap(&saved_->all);
}

}  // namespace rlgo::onnx_io
