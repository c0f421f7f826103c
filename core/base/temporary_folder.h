// A folder that is gone with the object.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/error.h"

namespace rlgo {

class TemporaryFolder {
 public:
  // Throws Error where it cannot be made.
  explicit TemporaryFolder(const std::string& stem) {
    const auto refuse = [](const std::filesystem::path& parent) {
      fail("{}: no temporary folder can be made there; set TMPDIR to a writable folder", parent.string());
    };
    std::filesystem::path parent;
    try {
      parent = std::filesystem::temp_directory_path();
    } catch (const std::filesystem::filesystem_error& e) {
      refuse(e.path1());
    }
    std::string name = (parent / (stem + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) refuse(parent);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rlgo
