#include "core/exec/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>
#include <torch/cuda.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/device_tools.h"

namespace rlgo::exec {
namespace {

// Opens libtorch_cuda.so (beside libtorch_cpu.so, or on the loader's path), which registers itself with LibTorch and
// stays open to the end of the process. Returns what is missing, or "".
std::string open_torch_cuda() {
  std::filesystem::path beside;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&torch::cuda::is_available), &info) != 0 && info.dli_fname) {
    beside = std::filesystem::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
  }
  if (dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL) || dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL)) return {};
  const char* reason = dlerror();
  return reason ? reason : "libtorch_cuda.so cannot be opened";
}

// Why no GPU can be used, or "".
std::string missing_cuda(int index) {
  if (auto reason = open_torch_cuda(); !reason.empty()) {
    return fmt::format(
        "LibTorch's CUDA part does not load ({}); install LibTorch with CUDA and the CUDA libraries that it names, or "
        "use --device cpu",
        reason);
  }
  if (!torch::cuda::is_available()) {
    return "LibTorch sees no usable GPU; check that the NVIDIA driver is installed and `nvidia-smi` lists a GPU, or "
           "use --device cpu";
  }
  const auto devices = static_cast<int>(torch::cuda::device_count());  // NOLINT(bugprone-signed-char-misuse): a number
  if (index >= devices)
    return fmt::format("there is no GPU {}: the machine has {} (0 to {})", index, devices, devices - 1);
  return {};
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

// The model of the index-th GPU as CUDA counts them (CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER included), or "". By
// the driver's library, as LibTorch's headers for it need CUDA's.
std::string gpu_model(int index) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return {};
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  const auto get_name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  std::array<char, 256> text{};
  int device = 0;
  const bool found = init && get && get_name && init(0) == 0 && get(&device, index) == 0 &&
                     get_name(text.data(), static_cast<int>(text.size()), device) == 0;
  return found ? text.data() : "";
}

}  // namespace

std::string to_string(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : fmt::format("cuda:{}", device.index);
}

std::string describe(const Device& device) {
  const auto model =
      device.kind == Device::Kind::cpu ? proc_field("/proc/cpuinfo", "model name") : gpu_model(device.index);
  return model.empty() ? to_string(device) : model;
}

Device resolve_device(std::string_view word) {
  if (word == "cpu") return {};
  if (word == "auto") return missing_cuda(0).empty() ? resolve_device("cuda") : Device{};
  constexpr std::string_view kPrefix = "cuda:";
  std::optional<int64_t> index = 0;
  if (word.starts_with(kPrefix)) {
    index = parse_int(word.substr(kPrefix.size()));
  } else if (word != "cuda") {
    index = std::nullopt;
  }
  if (!index || *index < 0 || *index > 127) fail("device '{}': use auto, cpu, cuda or cuda:N", word);
  if (auto reason = missing_cuda(static_cast<int>(*index)); !reason.empty()) fail("device '{}': {}", word, reason);
  const Device device{Device::Kind::cuda, static_cast<int>(*index)};
  tune(device);
  return device;
}

int gpu_count() { return missing_cuda(0).empty() ? static_cast<int>(torch::cuda::device_count()) : 0; }

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
