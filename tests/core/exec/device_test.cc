#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/exec/device_tools.h"
#include "core/exec/launches.h"

namespace rlgo::exec {
namespace {

// What LibTorch is given does not need a GPU.
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

TEST(Launches, ARunOfMoreOperatorsCountsMore) {
  const at::Tensor x = at::ones({4, 4});
  const int one = count_operators([&] { at::mm(x, x); });
  EXPECT_GE(one, 1);
  EXPECT_EQ(count_operators([&] {
              for (int i = 0; i < 3; ++i) at::mm(x, x);
            }),
            3 * one);
}

// Two jobs on one GPU (of a number that no machine has, so that this disturbs nobody).
TEST(Claim, ASecondJobIsAnErrorThatNamesTheFirst) {
  const Device gpu{Device::Kind::cuda, 126};
  const auto first = claim(gpu);
  ASSERT_TRUE(first);
  try {
    claim(gpu);
    FAIL() << "two jobs have it";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::MatchesRegex("device 'cuda:126': another run of rlgo trains on this GPU .host .*, "
                                                "process [0-9]+.; wait for its end, take another --device cuda:N, or "
                                                "use --device cpu"));
  }
  EXPECT_FALSE(claim({}));  // many share the CPU
}

TEST(DeviceWord, NamesADevice) {
  for (const char* word : {"auto", "cpu", "cuda", "cuda:0", "cuda:7"}) EXPECT_TRUE(is_device_word(word)) << word;
  for (const char* word : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:128", "cuda:0 "})
    EXPECT_FALSE(is_device_word(word)) << word;
}

}  // namespace
}  // namespace rlgo::exec
