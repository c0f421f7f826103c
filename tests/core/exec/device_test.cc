#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "core/exec/device_tools.h"

namespace rlgo::exec {
namespace {

// What LibTorch is told does not need a GPU.
TEST(Tune, OnePrecisionForConvolutionsAndProducts) {
  auto& torch = at::globalContext();
  torch.setAllowTF32CuDNN(true);
  tune({Device::Kind::cuda, 0});
  EXPECT_FALSE(torch.allowTF32CuDNN());
  EXPECT_FALSE(torch.allowTF32CuBLAS());
  EXPECT_TRUE(torch.benchmarkCuDNN());
  tune({Device::Kind::cuda, 0}, true);
  EXPECT_FALSE(torch.benchmarkCuDNN());
  EXPECT_TRUE(torch.deterministicCuDNN());
  EXPECT_TRUE(torch.deterministicAlgorithms());
  tune({Device::Kind::cuda, 0});
  EXPECT_FALSE(torch.deterministicAlgorithms());
}

}  // namespace
}  // namespace rlgo::exec
