#include "core/gpu/gpu.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/plugin.h"
#include "core/evaluate/kernels.h"
#include "core/exec/driver.h"

namespace rlgo::gpu {
namespace {

constexpr size_t kErrorSize = 1024;
constexpr int kMostNodes = 2000;  // of a CUDA graph: they take a millisecond to launch

#ifdef RLGO_WITH_CUDNN
const RlgoGpuPlugin& plugin() {
  constexpr const char* kFile = "rlgo_core_gpu_cuda.so";
  const auto entry =
      reinterpret_cast<RlgoGpuPluginFunction>(plugin_function("cuDNN plug-in", kFile, "rlgo_gpu_plugin"));
  const RlgoGpuPlugin* found = entry();
  if (found->version != kRlgoGpuPluginVersion)
    fail("{} has version {}, this program needs {}: build both again", kFile, found->version, kRlgoGpuPluginVersion);
  return *found;
}
#else
const RlgoGpuPlugin& plugin() {
  fail("this rlgo was built without CUDA and cuDNN: build it where a toolkit with cuDNN is installed (RLGO_CUDA=on)");
}
#endif

constexpr const char* kRemedy = "take another --target";

}  // namespace

exec::Device gpu_for(std::string_view device) {
  const auto index = static_cast<int>(exec::gpu_number(device).value_or(0));
  exec::CudaState state;
  state.user = "--target cuda";
  state.otherwise = kRemedy;
  state.driver = exec::look_at_driver();
  state.gpus = static_cast<int>(state.driver.gpus.size());
  // The driver first: without one, what the plug-in lacks does not matter.
  std::string reason = exec::why_no_gpu(state, index);
  if (!reason.empty()) fail("--target cuda: {}", reason);
  try {
    state.runtime_version = plugin().runtime_version;
  } catch (const Error& e) {
    fail("--target cuda: {}; install what is missing (cuDNN 9, CUDA 13) and name its folder in LD_LIBRARY_PATH, or {}",
         e.what(), kRemedy);
  }
  reason = exec::why_no_gpu(state, index);
  if (!reason.empty()) fail("--target cuda: {}", reason);
  return {exec::Device::Kind::cuda, index};
}

Gpu::Gpu(const exec::Device& device) : plugin_(plugin()) {
  std::array<char, kErrorSize> error{};
  if (plugin_.open(device.index, &session_, error.data(), error.size()) != kRlgoGpuDone)
    fail("--target cuda on {}: {}", exec::to_string(device), error.data());
}

Gpu::~Gpu() { plugin_.close(session_); }

LoadedProgram::LoadedProgram(const Gpu& gpu, const Program& program) : plugin_(gpu.plugin_), program_(program) {
  std::vector<const char*> names;
  for (const auto& name : program_.names) names.push_back(name.c_str());
  const RlgoGpuProgram plain{program_.steps.data(),   names.data(),          program_.steps.size(),
                             program_.offsets.data(), program_.bytes.data(), program_.bytes.size(),
                             program_.arena_bytes};
  std::array<char, kErrorSize> error{};
  check(plugin_.load(gpu.session_, &plain, &loaded_, error.data(), error.size()), error.data());
  try {
    for (const auto& [buffer, value] : program_.constants)
      check(plugin_.copy_in(loaded_, buffer, value.raw(), error.data(), error.size()), error.data());
  } catch (...) {
    plugin_.unload(loaded_);
    throw;
  }
  program_.constants.clear();
}

LoadedProgram::~LoadedProgram() { plugin_.unload(loaded_); }

void LoadedProgram::check(int status, const char* error) const {
  if (status == kRlgoGpuNoMemory)
    fail(
        "--target cuda: the GPU has no room for {} MiB and the work space next to it ({}); free its memory, take a "
        "smaller model or another GPU (--device cuda:N)",
        program_.arena_bytes >> 20, error);
  if (status != kRlgoGpuDone) fail("--target cuda: {}", error);
}

void LoadedProgram::set_inputs(const evaluate::TensorMap& inputs) {
  std::array<char, kErrorSize> error{};
  for (const auto& input : program_.inputs) {
    const auto found = inputs.find(input.name);
    if (found == inputs.end()) fail("input '{}' is missing", input.name);
    const auto& value = found->second;
    const auto right = value.dtype() == input.type.dtype ? value : evaluate::cast(value, input.type.dtype);
    RLGO_CHECK(right.elements() == input.type.elements());
    check(plugin_.copy_in(loaded_, input.buffer, right.raw(), error.data(), error.size()), error.data());
  }
}

void LoadedProgram::choose() {
  std::array<char, kErrorSize> error{};
  check(plugin_.choose(loaded_, error.data(), error.size()), error.data());
}

evaluate::TensorMap LoadedProgram::run() {
  std::array<char, kErrorSize> error{};
  check(plugin_.run(loaded_, error.data(), error.size()), error.data());
  evaluate::TensorMap outputs;
  for (const auto& output : program_.outputs) {
    evaluate::Tensor value(output.type.dtype, output.type.shape);
    check(plugin_.copy_out(loaded_, output.buffer, value.raw(), error.data(), error.size()), error.data());
    outputs[output.name] = value;
  }
  return outputs;
}

double LoadedProgram::time_us(int runs) {
  std::array<char, kErrorSize> error{};
  double us = 0;
  check(plugin_.time(loaded_, runs, &us, error.data(), error.size()), error.data());
  return us / runs;
}

std::string LoadedProgram::describe() const {
  std::string text(1 << 16, '\0');
  plugin_.describe(loaded_, text.data(), text.size());
  return text.c_str();
}

int LoadedProgram::most_runs() const {
  return std::max(1, kMostNodes / std::max(1, static_cast<int>(program_.steps.size())));
}

}  // namespace rlgo::gpu
