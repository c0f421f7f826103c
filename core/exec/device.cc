#include "core/exec/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <torch/cuda.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/device_tools.h"

namespace rlgo::exec {
namespace {

// Opens libtorch_cuda.so (next to libtorch_cpu.so, or on the loader's path), which registers itself with LibTorch and
// stays open to the end of the process.
void open_torch_cuda(CudaState& state) {
  std::filesystem::path beside;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&torch::cuda::is_available), &info) != 0 && info.dli_fname) {
    beside = std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
  }
  std::error_code error;
  state.torch_has_part = std::filesystem::exists(beside, error);
  if (dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL)) return;
  const char* reason = dlerror();
  state.torch_missing = reason ? reason : "libtorch_cuda.so cannot be opened";
  if (!state.torch_has_part && dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL)) state.torch_missing.clear();
}

struct Silent : c10::WarningHandler {
  void process(const c10::Warning& /*warning*/) override {}
};

CudaState look_at_cuda() {
  CudaState state;
  state.driver = look_at_driver();
  if (!state.driver.missing.empty() || state.driver.gpus.empty()) return state;
  open_torch_cuda(state);
  if (!state.torch_missing.empty()) return state;
  const auto version = reinterpret_cast<int (*)(int*)>(dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion"));
  if (version != nullptr) version(&state.runtime_version);
  Silent silent;  // LibTorch's warnings: why_no_gpu() states more
  const c10::WarningUtils::WarningHandlerGuard guard(&silent);
  if (torch::cuda::is_available())
    state.gpus = static_cast<int>(torch::cuda::device_count());  // NOLINT(bugprone-signed-char-misuse): a number
  return state;
}

// The text behind "key   : " in the first line of a /proc file that starts with `key`, or "".
std::string proc_field(const std::filesystem::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos)
      return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

}  // namespace

std::string to_string(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : fmt::format("cuda:{}", device.index);
}

std::string describe(const Device& device) {
  const auto model =
      device.kind == Device::Kind::cpu ? proc_field("/proc/cpuinfo", "model name") : gpu_of(device).model;
  return model.empty() ? to_string(device) : model;
}

std::optional<int64_t> gpu_number(std::string_view word) {
  constexpr std::string_view kPrefix = "cuda:";
  if (word == "cuda") return 0;
  if (!word.starts_with(kPrefix)) return {};
  const auto index = parse_int(word.substr(kPrefix.size()));
  return index && *index >= 0 && *index <= 127 ? index : std::nullopt;
}

bool is_device_word(std::string_view word) { return word == "auto" || word == "cpu" || gpu_number(word).has_value(); }

Device resolve_device(std::string_view word, std::string* remark) {
  if (word == "cpu") return {};
  const auto index = word == "auto" ? 0 : gpu_number(word);
  if (!index) fail("device '{}': use auto, cpu, cuda or cuda:N", word);
  const auto state = look_at_cuda();
  if (const auto reason = why_no_gpu(state, static_cast<int>(*index)); !reason.empty()) {
    if (word != "auto") fail("device '{}': {}", word, reason);
    if (remark != nullptr && (!state.driver.gpus.empty() || has_nvidia_gpu()))
      *remark = "this machine has an NVIDIA GPU, but --device auto takes the CPU: " + reason;
    return {};
  }
  const Device device{Device::Kind::cuda, static_cast<int>(*index)};
  tune(device);
  return device;
}

std::vector<Gpu> usable_gpus(std::string_view word) {
  const auto first = resolve_device(word);
  if (first.kind == Device::Kind::cpu) return {};
  auto gpus = look_at_driver().gpus;
  gpus.resize(std::min(gpus.size(), static_cast<size_t>(torch::cuda::device_count())));
  if (word != "auto" && word != "cuda") return {gpus.at(static_cast<size_t>(first.index))};
  return gpus;
}

int gpu_count() { return static_cast<int>(usable_gpus("auto").size()); }

Gpu gpu_of(const Device& device) {
  for (auto& gpu : look_at_driver().gpus) {
    if (gpu.index == device.index) return gpu;
  }
  return {device.index, to_string(device), {}};
}

DeviceLock device_lock(const Device& device) { return DeviceLock(gpu_of(device).address); }

DeviceLock::Hold claim(const Device& device) {
  if (device.kind == Device::Kind::cpu) return {};
  std::string holder;
  auto hold = device_lock(device).claim(holder);
  if (!hold)
    fail(
        "device '{}': another run of rlgo trains on this GPU ({}); wait for its end, take another --device cuda:N, or "
        "use --device cpu",
        to_string(device), holder);
  return hold;
}

Device take_device(std::string_view word, DeviceLock::Hold& hold, std::string& remark) {
  const auto device = resolve_device(word, &remark);
  try {
    hold = claim(device);
  } catch (const Error& e) {
    if (word != "auto") throw;
    remark = fmt::format("--device auto takes the CPU: {}", e.what());
    return {};
  }
  return device;
}

int64_t device_peak_bytes(const Device& device) {
  if (device.kind == Device::Kind::cpu) return 0;
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  const auto stats =
      c10::getDeviceAllocator(c10::DeviceType::CUDA)->getDeviceStats(static_cast<c10::DeviceIndex>(device.index));
  return stats.reserved_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)].peak;
}

void tune(const Device& device, bool deterministic) {
  if (device.kind != Device::Kind::cuda) return;
  at::globalContext().setBenchmarkCuDNN(!deterministic);
  at::globalContext().setDeterministicCuDNN(deterministic);
  at::globalContext().setDeterministicAlgorithms(deterministic, /*warn_only=*/true);
  // LibTorch's own choice is TF32 for convolutions and float32 for products of matrices: prices of the two, and
  // results of graphs that turn one into the other, could not be compared.
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setAllowTF32CuBLAS(false);
}

void set_threads(int threads) { at::set_num_threads(threads); }

}  // namespace rlgo::exec
