#include "core/exec/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"

namespace rlgo::exec {
namespace {

namespace fs = std::filesystem;

std::string cuda(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string word_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

// The library that a loader's message names first: "libcudnn.so.9" of "libcudnn.so.9: cannot open shared object file".
std::string library_of(const std::string& message) { return message.substr(0, message.find(':')); }

}  // namespace

Driver look_at_driver() {
  Driver driver;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    driver.missing = "libcuda.so.1 is not found";
    return driver;
  }
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  const auto version = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDeviceGetCount"));
  const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(library, "cuDeviceGet"));
  const auto name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(library, "cuDeviceGetName"));
  const auto address = reinterpret_cast<int (*)(char*, int, int)>(dlsym(library, "cuDeviceGetPCIBusId"));
  if (!init || !version || !count || !get || !name || !address) {
    driver.missing = "libcuda.so.1 is no driver of NVIDIA's";
    return driver;
  }
  version(&driver.version);
  constexpr int kNoDevice = 100;
  const int status = init(0);
  if (status != 0 && status != kNoDevice) driver.missing = fmt::format("it does not start (cuInit: error {})", status);
  int devices = 0;
  if (status != 0 || count(&devices) != 0) return driver;
  for (int i = 0; i < devices; ++i) {
    int device = 0;
    std::array<char, 256> text{};
    Gpu gpu{i, fmt::format("GPU {}", i), {}};
    if (get(&device, i) == 0 && address(text.data(), static_cast<int>(text.size()), device) == 0)
      gpu.address = text.data();
    if (name(text.data(), static_cast<int>(text.size()), device) == 0) gpu.model = text.data();
    driver.gpus.push_back(std::move(gpu));
  }
  return driver;
}

bool has_nvidia_gpu() {
  std::error_code error;
  for (fs::directory_iterator at("/sys/bus/pci/devices", error), end; !error && at != end; at.increment(error)) {
    if (word_in(at->path() / "vendor") == "0x10de" && word_in(at->path() / "class").starts_with("0x03")) return true;
  }
  return false;
}

std::string why_no_gpu(const CudaState& state, int index) {
  const auto& driver = state.driver;
  if (!driver.missing.empty())
    return fmt::format(
        "NVIDIA's driver is missing ({}); install it until `nvidia-smi` lists a GPU (in a container: start that with "
        "--gpus all or --nv), or {}",
        driver.missing, state.otherwise);
  if (driver.gpus.empty())
    return fmt::format("the driver lists no GPU; check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or {}", state.otherwise);
  if (!state.torch_missing.empty() && !state.torch_has_part)
    return "this LibTorch has no CUDA part (libtorch_cuda.so); install torch 2.11.0 for CUDA 13.0 and name its folder "
           "in "
           "RLGO_LIBTORCH, or use --device cpu";
  if (!state.torch_missing.empty())
    return fmt::format(
        "LibTorch's CUDA part does not load: {} is missing ({}); `pip install torch==2.11.0` brings all that it needs, "
        "or add its folder to LD_LIBRARY_PATH, or use --device cpu",
        library_of(state.torch_missing), state.torch_missing);
  if (driver.version / 1000 < state.runtime_version / 1000)
    return fmt::format("NVIDIA's driver is too old: it runs CUDA {}, {} needs {}; update the driver, or {}",
                       cuda(driver.version), state.user, cuda(state.runtime_version), state.otherwise);
  const int devices = std::min(state.gpus, static_cast<int>(driver.gpus.size()));
  if (devices == 0)
    return "LibTorch sees no GPU although the driver lists one; check that `nvidia-smi` works, or use --device cpu";
  if (index >= devices)
    return fmt::format("there is no GPU {}: this process sees {}, numbered {}; check CUDA_VISIBLE_DEVICES", index,
                       devices, devices == 1 ? "0" : fmt::format("0 to {}", devices - 1));
  return {};
}

}  // namespace rlgo::exec
