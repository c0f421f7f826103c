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
    std::string name = (std::filesystem::temp_directory_path() / (stem + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
      fail("cannot make a temporary folder in {}", std::filesystem::temp_directory_path().string());
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
