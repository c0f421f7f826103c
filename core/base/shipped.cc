#include "core/base/shipped.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace rlgo {
namespace fs = std::filesystem;

fs::path shipped_file(const std::vector<std::string>& places) {
  std::error_code error;
  const fs::path program = code_path();
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    for (const auto& place : places) {
      if (fs::exists(folder / place, error)) return folder / place;
    }
    if (folder == folder.parent_path()) break;
  }
  fail("{} was not found in any folder above {}", join(places, " or "), program.string());
}

fs::path shipped_config(const std::string& name) {
  return shipped_file({"configs/" + name, "share/rlgo/configs/" + name});
}

}  // namespace rlgo
