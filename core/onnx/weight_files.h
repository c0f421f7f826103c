// Contents of weights in files that several models of one folder share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace onnx {
class ModelProto;
}

namespace rlgo::onnx_io {

// For models that are tried and thrown away: large weights that they have in common are written once. Nothing is
// flushed to the disk. Not thread-safe.
class WeightFiles {
 public:
  static constexpr int64_t kLeastBytes = 1 << 20;  // smaller weights are in the models
  struct File {
    std::string name;       // in the folder
    int64_t denormals = 0;  // so many numbers of it were set to zero
  };
  // The models are in `folder`, which must live as long.
  explicit WeightFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const std::filesystem::path& folder() const { return folder_; }
  // By what its contents are made from. Null: there is none yet.
  const File* find(uint64_t key) const;
  // Throws WriteError where there is no room.
  const File& add(uint64_t key, const std::string& bytes, int64_t denormals);

 private:
  std::filesystem::path folder_;
  std::unordered_map<uint64_t, File> files_;
};

// As long as this lives, initialisers of the model whose contents are in files are inputs instead: ONNX's checks of a
// message know no folder to look for files in.
class FilesAsInputs {
 public:
  explicit FilesAsInputs(onnx::ModelProto& model);
  ~FilesAsInputs();
  FilesAsInputs(const FilesAsInputs&) = delete;
  FilesAsInputs& operator=(const FilesAsInputs&) = delete;

 private:
  struct Saved;
  std::unique_ptr<Saved> saved_;
};

}  // namespace rlgo::onnx_io
