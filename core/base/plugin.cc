#include "core/base/plugin.h"

#include <dlfcn.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo {

void* plugin_function(const std::string& what, const std::string& file, const std::string& symbol) {
  const auto folder = program_path().parent_path();
  void* library = nullptr;
  std::string why;
  for (const auto& place : {std::filesystem::path(file), folder / "plugins" / file, folder / ".." / "plugins" / file,
                            folder / ".." / ".." / "bin" / "plugins" / file}) {
    library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    why += fmt::format("{}{}", why.empty() ? "" : "; ", dlerror());
  }
  if (library == nullptr) fail("the {} does not load: {}", what, why);
  void* const found = dlsym(library, symbol.c_str());
  if (found == nullptr) fail("{} is no {} of rlgo: {}", file, what, dlerror());
  return found;
}

}  // namespace rlgo
