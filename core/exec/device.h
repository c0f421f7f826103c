// Where graphs are run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rlgo::exec {

struct Device {
  enum class Kind { cpu, cuda };  // where tensors lie
  Kind kind = Kind::cpu;
  int index = 0;  // of the GPU; 0 for cpu
  bool operator==(const Device&) const = default;
};

// "cpu", "cuda:0".
std::string to_string(const Device& device);

// The hardware behind it, as the system names it: "AMD EPYC 7B13", "NVIDIA A100-SXM4-40GB"; to_string(device) where the
// system does not report it.
std::string describe(const Device& device);

// The N of "cuda:N", 0 of "cuda"; nothing for another word.
std::optional<int64_t> gpu_number(std::string_view word);

// "cpu", "cuda", "cuda:N" or "auto".
bool is_device_word(std::string_view word);

// Takes "cpu", "cuda", "cuda:N", or "auto" (the first GPU where there is one, the CPU elsewhere). LibTorch's CUDA part
// is opened only here, on demand. Throws Error for an unknown word, and for a GPU that is not there: the message states
// what is missing and what to do. `remark`: set where `auto` is the CPU on a machine that has a GPU, with the reason.
Device resolve_device(std::string_view word, std::string* remark = nullptr);

// LibTorch's number of threads within an operator, >= 1, from here on.
void set_threads(int threads);

}  // namespace rlgo::exec
