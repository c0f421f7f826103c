#include "core/exec/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rlgo::exec {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CudaState good() { return {{"", 13000, {{0, "0000:01:00.0", "A"}, {1, "0000:02:00.0", "A"}}}, "", true, 13000, 2}; }

// Each thing that may be missing has a line of its own, with what to do.
TEST(WhyNoGpu, NamesWhatIsMissingAndTheRemedy) {
  EXPECT_EQ(why_no_gpu(good(), 1), "");
  auto state = good();
  state.driver.missing = "libcuda.so.1 is not found";
  EXPECT_THAT(why_no_gpu(state, 0), AllOf(HasSubstr("driver is missing (libcuda.so.1"), HasSubstr("nvidia-smi")));
  state = good();
  state.driver.version = 12080;
  EXPECT_THAT(why_no_gpu(state, 0), HasSubstr("too old: it runs CUDA 12.8, LibTorch needs 13.0; update the driver"));
  state = good();
  state.driver.gpus.clear();
  EXPECT_THAT(why_no_gpu(state, 0), HasSubstr("lists no GPU; check `nvidia-smi` and CUDA_VISIBLE_DEVICES"));
  state = good();
  state.torch_missing = "libtorch_cuda.so: cannot open shared object file";
  state.torch_has_part = false;
  EXPECT_THAT(why_no_gpu(state, 0), HasSubstr("no CUDA part (libtorch_cuda.so); install torch 2.11.0 for CUDA 13.0"));
  state = good();
  state.torch_missing = "libcudnn.so.9: cannot open shared object file: No such file";
  EXPECT_THAT(why_no_gpu(state, 0), HasSubstr("libcudnn.so.9 is missing"));
  EXPECT_EQ(why_no_gpu(good(), 2),
            "there is no GPU 2: this process sees 2, numbered 0 to 1; check CUDA_VISIBLE_DEVICES");
  for (const auto& reason : {why_no_gpu(state, 0), why_no_gpu(good(), 5)}) EXPECT_THAT(reason, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace rlgo::exec
