// Small models from ONNX's text form, for the tests of core/onnx.
#pragma once

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/graph/editor.h"
#include "core/graph/text.h"
#include "core/onnx/onnx.h"

namespace rlgo::onnx_io::test {

namespace fs = std::filesystem;

// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "/rlgo_onnx_XXXXXX";
    if (!mkdtemp(name.data())) fail("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  int files() const { return static_cast<int>(std::distance(fs::directory_iterator(path_), fs::directory_iterator())); }

 private:
  fs::path path_;
};

// `body` is "g (float[2] x) => (float[2] y) { y = Relu(x) }".
inline onnx::ModelProto parse(const std::string& body, int opset = 17, int ir_version = 8) {
  onnx::ModelProto model;
  const std::string text = fmt::format("<ir_version: {}, opset_import: [\"\" : {}]> {}", ir_version, opset, body);
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  if (!status.IsOK()) fail("test model: {}", status.ErrorMessage());
  return model;
}

inline void save(const onnx::ModelProto& model, const fs::path& path) { atomic_write(path, model.SerializeAsString()); }

inline onnx::ModelProto load(const fs::path& path) {
  onnx::ModelProto model;
  if (!model.ParseFromString(read_file(path))) fail("{} cannot be parsed", path.string());
  return model;
}

inline Model import_proto(const onnx::ModelProto& model, const ImportOptions& options = {}) {
  const Folder folder;
  save(model, folder / "m.onnx");
  auto result = import_model(folder / "m.onnx", options);
  result.graph.validate();
  return result;
}

inline Model import_text(const std::string& body, int opset = 17, const ImportOptions& options = {}) {
  return import_proto(parse(body, opset), options);
}

inline onnx::ModelProto export_proto(const Model& model) {
  const Folder folder;
  export_model(*model.skeleton, model.graph, {}, folder / "out.onnx");
  return load(folder / "out.onnx");
}

// The graph's text form without header, inputs, weights and outputs: "%2 = add(%0, %1) : f32[2]\n...".
inline std::string ops_of(const Model& model) {
  std::istringstream lines(graph::to_text(model.graph));
  std::string line, text;
  while (std::getline(lines, line)) {
    if (line.find('(') != std::string::npos) text += line + "\n";
  }
  return text;
}

// Operators of a model's main graph in order: "Conv Relu".
inline std::string op_types(const onnx::ModelProto& model) {
  std::string text;
  for (const auto& node : model.graph().node()) text += (text.empty() ? "" : " ") + node.op_type();
  return text;
}

// The message of the Error that import throws; fails the test where it throws none.
inline std::string import_error(const fs::path& path, const ImportOptions& options = {}) {
  try {
    import_model(path, options);
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << path << " was imported";
  return {};
}

inline std::string import_error(const onnx::ModelProto& model, const ImportOptions& options = {}) {
  const Folder folder;
  save(model, folder / "m.onnx");
  return import_error(folder / "m.onnx", options);
}

}  // namespace rlgo::onnx_io::test
