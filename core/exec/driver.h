// What NVIDIA's driver reports, asked without LibTorch: it is opened only here, on demand.
#pragma once

#include <string>
#include <vector>

namespace rlgo::exec {

// A GPU as CUDA counts them in this process (CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER included).
struct Gpu {
  int index = 0;
  std::string address;  // on the bus, "0000:41:00.0": the same in all processes of a machine
  std::string model;    // "NVIDIA A100-SXM4-40GB"
};

struct Driver {
  std::string missing;    // why libcuda.so.1 does not load or start, or ""
  int version = 0;        // the newest CUDA that it runs: 13000 is 13.0
  std::vector<Gpu> gpus;  // of this process
};
Driver look_at_driver();

// Whether the machine has an NVIDIA GPU, whatever the driver reports: a display device of NVIDIA's on the bus.
bool has_nvidia_gpu();

// What can be in the way of a GPU.
struct CudaState {
  Driver driver;
  std::string torch_missing;   // why LibTorch's CUDA part does not load, or ""
  bool torch_has_part = true;  // its file is there
  int runtime_version = 0;     // the CUDA that LibTorch was built with: 13000
  int gpus = 0;                // that LibTorch sees
  // Who uses the GPU, and what to do where that is none.
  std::string user = "LibTorch", otherwise = "use --device cpu";
};
// Why GPU number `index` cannot be used and what to do, one line; "" where it can.
std::string why_no_gpu(const CudaState& state, int index);

}  // namespace rlgo::exec
