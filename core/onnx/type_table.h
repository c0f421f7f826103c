// Types of all values of a model's main graph.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/onnx/constant.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {

class TypeTable {
 public:
  // From declarations, initialisers and ONNX's shape inference with data propagation. The model is left as it was.
  explicit TypeTable(onnx::ModelProto& model);
  TypeTable(TypeTable&&) noexcept;
  ~TypeTable();

  // What the operators' shapes contradict of what the file declares; empty where nothing does. The declarations of
  // values inside and of the outputs' shapes are left out then.
  const std::string& misdeclared() const { return misdeclared_; }
  // Which operators contradict each other, whatever is declared; empty where none do.
  const std::string& contradiction() const { return contradiction_; }
  // Unranked and `other` for an unknown name.
  ops::TensorType type(const std::string& name) const;
  void set(const std::string& name, const ops::TensorType& type);
  // `name` is another name of `other`; nothing changes where nothing is known of that.
  void alias(const std::string& name, const std::string& other);
  // One dimension: its size, else its name, else neither.
  struct Dim {
    int64_t value = ops::kUnknown;
    std::string name;
  };
  // Nothing where not even the rank is known.
  std::optional<std::vector<Dim>> dims(const std::string& name) const;
  void set_dims(const std::string& name, ops::DType dtype, const std::vector<Dim>& dims);
  // Infers the types of the node's outputs once more, now that some inputs are known to be constant: `constant` gives
  // the value of input k, or null. Errors of inference leave all as it was. With `by_dims`, what is inferred of single
  // dimensions counts too. Bodies of If, Loop and Scan
  // up to 64 MiB are gone through; what the file declares in them is not believed.
  void refine(const onnx::NodeProto& node, int version, const std::function<const Constant*(int k)>& constant,
              bool by_dims = false);

 private:
  struct Map;
  std::unique_ptr<Map> map_;
  std::string misdeclared_, contradiction_;
};

}  // namespace rlgo::onnx_io
