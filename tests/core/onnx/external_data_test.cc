// Weights in files next to the model: which files are read, and that none is removed or replaced.
#include "core/onnx/weight_files.h"
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

using ops::DType;
using ops::TensorType;

// A product with weights drawn from that seed; exported with its weights in a file of their own.
void export_large(const fs::path& path, uint64_t seed, const ExportOptions& options = {.external_above_bytes = 1000}) {
  graph::Editor editor("g");
  const auto x = editor.add_input("x", TensorType(DType::f32, {1, 300}));
  const auto w = editor.add_weight("w", graph::Blob::seeded(TensorType(DType::f32, {300, 2}), seed, 0.1));
  editor.add_output("y", editor.op(ops::Op::matmul, {x, w}));
  export_graph(*editor.finish(), {}, path, kDefaultOpset, options);
}

fs::path data_of(const fs::path& model) { return model.parent_path() / external_data_of(model).at(0); }

uint64_t hash_of(const fs::path& model) { return import_model(model).graph.hash(); }

TEST(StoredData, EarlierResultsKeepTheirs) {
  const Folder folder;
  export_large(folder / "faster.onnx", 1);
  fs::copy(folder / "faster.onnx", folder / "copy.onnx");
  fs::rename(folder / "faster.onnx", folder / "model.onnx");
  const auto hash = hash_of(folder / "model.onnx");
  export_large(folder / "faster.onnx", 2);
  export_large(folder / "faster.onnx", 3, {});
  EXPECT_EQ(hash_of(folder / "model.onnx"), hash);
  EXPECT_EQ(hash_of(folder / "copy.onnx"), hash);
  EXPECT_EQ(folder.files(), 5);
}

TEST(StoredData, TheSameContentsAreWrittenOnce) {
  const Folder folder;
  export_large(folder / "g.onnx", 1);
  const auto bytes = read_file(folder / "g.onnx");
  export_large(folder / "g.onnx", 1);
  EXPECT_EQ(read_file(folder / "g.onnx"), bytes);
  EXPECT_EQ(folder.files(), 2);
}

// Models that are tried and thrown away.
TEST(WeightFiles, ModelsOfOneFolderShareLargeWeights) {
  const Folder folder;
  const auto model = [&](const std::string& name, ops::Op op, const ExportOptions& options) {
    graph::Editor editor("g");
    const auto x = editor.add_input("x", TensorType(DType::f32, {1, 600}));
    const auto w = editor.add_weight("w", graph::Blob::seeded(TensorType(DType::f32, {600, 600}), 1, 0.1));
    const auto b = editor.add_weight("b", graph::Blob::seeded(TensorType(DType::f32, {600}), 2, 0.1));
    editor.add_output("y", editor.op(op, {editor.op(ops::Op::add, {editor.op(ops::Op::matmul, {x, w}), b})}));
    export_graph(*editor.finish(), {}, folder / name, kDefaultOpset, options);
  };
  ExportOptions shared;
  shared.weight_files = std::make_shared<WeightFiles>(folder / ".");
  model("a.onnx", ops::Op::relu, shared);
  model("b.onnx", ops::Op::tanh, shared);
  EXPECT_EQ(folder.files(), 3);
  EXPECT_EQ(stored_bytes(folder / "a.onnx") - static_cast<int64_t>(fs::file_size(folder / "a.onnx")), 4 * 600 * 600);
  model("whole.onnx", ops::Op::tanh, {});
  EXPECT_EQ(hash_of(folder / "b.onnx"), hash_of(folder / "whole.onnx"));
  EXPECT_NE(hash_of(folder / "a.onnx"), hash_of(folder / "b.onnx"));
}

TEST(StoredData, OtherContentsOfThatNameStay) {
  const Folder folder;
  export_large(folder / "g.onnx", 1);
  const fs::path data = data_of(folder / "g.onnx");
  const auto hash = hash_of(folder / "g.onnx");
  atomic_write(data, std::string(2400, 'x'));
  export_large(folder / "g.onnx", 1);
  EXPECT_EQ(read_file(data), std::string(2400, 'x'));
  EXPECT_NE(data_of(folder / "g.onnx"), data);
  EXPECT_EQ(hash_of(folder / "g.onnx"), hash);
}

// Soft and hard ones, whatever they lead to.
TEST(StoredData, LinksOfThatNameAreNotFollowed) {
  for (const bool hard : {false, true}) {
    const Folder folder;
    export_large(folder / "g.onnx", 1);
    const fs::path data = data_of(folder / "g.onnx");
    fs::rename(data, folder / "weights.bin");
    hard ? fs::create_hard_link(folder / "weights.bin", data) : fs::create_symlink("weights.bin", data);
    export_large(folder / "g.onnx", 1);
    EXPECT_NE(data_of(folder / "g.onnx"), data);
    EXPECT_EQ(folder.files(), 4);
  }
}

TEST(StoredData, WhatIsNotVerifiedReplacesNothing) {
  const Folder folder;
  export_large(folder / "g.onnx", 1, {});
  const auto hash = hash_of(folder / "g.onnx");
  const auto refuse = [&](const fs::path& written) {
    EXPECT_NE(hash_of(written), hash);
    fail("not good");
  };
  EXPECT_THROW(export_large(folder / "g.onnx", 2, {.verify = refuse}), Error);
  EXPECT_EQ(hash_of(folder / "g.onnx"), hash);
  EXPECT_EQ(folder.files(), 1);
}

// As the cache of the Hugging Face hub: the names of a model and its weights are links into a folder of blobs.
class Hub {
 public:
  explicit Hub(const char* model = "../blobs/aaaa") {
    fs::create_directories(folder_ / "blobs");
    fs::create_directories(folder_ / "snapshot");
    export_large(folder_ / "blobs/m.onnx", 1);
    location_ = external_data_of(folder_ / "blobs/m.onnx").at(0);
    fs::rename(folder_ / "blobs/m.onnx", folder_ / "blobs/aaaa");
    fs::rename(folder_ / ("blobs/" + location_), folder_ / "blobs/bbbb");
    fs::create_symlink(model, folder_ / "snapshot/m.onnx");
  }
  void link_data(const std::string& to, const char* in = "snapshot/") {
    fs::create_symlink(to, folder_ / (in + location_));
  }
  fs::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  Folder folder_;
  std::string location_;
};

TEST(LinkedModels, DataMayLieBesideTheFileBehindTheLink) {
  Hub hub;
  hub.link_data("../blobs/bbbb");
  const auto model = import_model(hub / "snapshot/m.onnx");
  EXPECT_EQ(model.graph.size(), 3U);
  ASSERT_EQ(model.report.data_files.size(), 1U);
  EXPECT_EQ(model.report.data_files[0].filename(), "bbbb");
}

TEST(LinkedModels, AndHaveItsNameThere) {
  Hub hub;
  hub.link_data("bbbb", "blobs/");
  EXPECT_EQ(import_model(hub / "snapshot/m.onnx").graph.size(), 3U);
}

TEST(LinkedModels, DataElsewhereAreRefused) {
  Hub hub;
  fs::create_directory(hub / "other");
  fs::rename(hub / "blobs/bbbb", hub / "other/bbbb");
  hub.link_data("../other/bbbb");
  EXPECT_NE(import_error(hub / "snapshot/m.onnx").find("leads outside the model's folder"), std::string::npos);
  fs::remove(hub / "snapshot/m.onnx");
  fs::copy(hub / "blobs/aaaa", hub / "snapshot/m.onnx");  // no link: only its own folder counts
  fs::rename(hub / "other/bbbb", hub / "blobs/bbbb");
  EXPECT_NE(import_error(hub / "snapshot/m.onnx").find("is missing"), std::string::npos);
}

TEST(LinkedModels, ChainsOfLinksAreFollowed) {
  Hub hub("m-1.onnx");
  fs::create_symlink("../blobs/aaaa", hub / "snapshot/m-1.onnx");
  hub.link_data("../blobs/bbbb");
  EXPECT_EQ(import_model(hub / "snapshot/m.onnx").graph.size(), 3U);
}

}  // namespace
}  // namespace rlgo::onnx_io::test
