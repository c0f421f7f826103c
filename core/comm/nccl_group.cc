#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/plugin.h"
#include "core/comm/device_group.h"
#include "core/comm/plugin_group.h"

namespace rlgo::comm {

#ifdef RLGO_WITH_CUDA
namespace {

const RlgoNcclPlugin& plugin() {
  constexpr const char* kFile = "rlgo_core_comm_cuda.so";
  const auto entry =
      reinterpret_cast<RlgoNcclPluginFunction>(plugin_function("NCCL plug-in", kFile, "rlgo_nccl_plugin"));
  const RlgoNcclPlugin* found = entry();
  if (found->version != kRlgoNcclPluginVersion)
    fail("{} has version {}, this program needs {}: build both again", kFile, found->version, kRlgoNcclPluginVersion);
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
