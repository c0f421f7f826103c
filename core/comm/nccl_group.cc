#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/comm/device_group.h"
#include "core/comm/plugin_group.h"

namespace rlgo::comm {

#ifdef RLGO_WITH_CUDA
namespace {

constexpr const char* kPluginFile = "rlgo_core_comm_cuda.so";

// Where the loader looks (its own name), next to the program (build tree, package's bin), next to a program in
// libexec/rlgo (the package's tests).
std::vector<std::filesystem::path> plugin_places() {
  const auto folder = program_path().parent_path();
  return {kPluginFile, folder / "plugins" / kPluginFile, folder / ".." / "plugins" / kPluginFile,
          folder / ".." / ".." / "bin" / "plugins" / kPluginFile};
}

// The plug-in stays open until the process ends (CUDA does not survive being unloaded).
const RlgoNcclPlugin& plugin() {
  void* library = nullptr;
  std::string why;
  for (const auto& place : plugin_places()) {
    library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    why += fmt::format("{}{}", why.empty() ? "" : "; ", dlerror());
  }
  if (library == nullptr) fail("the NCCL plug-in does not load: {}", why);
  const auto entry = reinterpret_cast<RlgoNcclPluginFunction>(dlsym(library, "rlgo_nccl_plugin"));
  if (entry == nullptr) fail("{} is no NCCL plug-in of rlgo: {}", kPluginFile, dlerror());
  const RlgoNcclPlugin* found = entry();
  if (found->version != kRlgoNcclPluginVersion)
    fail("{} has version {}, this program needs {}: build both again", kPluginFile, found->version,
         kRlgoNcclPluginVersion);
  return *found;
}

}  // namespace

bool built_with_nccl() { return true; }

std::unique_ptr<DeviceGroup> nccl_group(Mailbox& mailbox, std::vector<int> ranks, int device, GroupOptions options) {
  return plugin_group(plugin(), mailbox, std::move(ranks), device, std::move(options));
}

std::string why_no_nccl() {
  try {
    plugin();
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

#else

bool built_with_nccl() { return false; }

std::unique_ptr<DeviceGroup> nccl_group(Mailbox&, std::vector<int>, int, GroupOptions) {
  fail(
      "NCCL was asked for, but this rlgo was built without CUDA: build it where a CUDA toolkit with NCCL is installed "
      "(RLGO_CUDA=on), or sum gradients on the CPU");
}

std::string why_no_nccl() { return "this rlgo was built without CUDA"; }

#endif

}  // namespace rlgo::comm
