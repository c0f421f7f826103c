#include "learner/session/gpu_sizes.h"

#include <gtest/gtest.h>

namespace rlgo::learner {
namespace {

TEST(GpuSizes, ReplaceThoseThatNobodySet) {
  LoopOptions loop;
  PpoOptions ppo;
  WorldTrainerOptions world;
  ppo.minibatch = 300;
  const auto note = fit_gpu([](const std::string& key) { return key != "ppo.minibatch"; }, loop, ppo, world);
  EXPECT_EQ(note, "sizes for a GPU: --train.steps-per-epoch 8192 --wm.batch 64 --ppo.distinct-rows false");
  EXPECT_EQ(loop.steps_per_epoch, 8192);
  EXPECT_EQ(ppo.minibatch, 300);
  EXPECT_EQ(world.batch, 64);
  EXPECT_FALSE(ppo.distinct_rows);
  EXPECT_EQ(fit_gpu([](const std::string&) { return false; }, loop, ppo, world), "");
}

TEST(GpuSizes, AreNotForACpuNorForLearnersThatMayHaveNone) {
  EXPECT_FALSE(learns_on_gpu({.learners = 1, .device = "cpu"}));
  EXPECT_FALSE(learns_on_gpu({.learners = 2, .device = "auto"}));
  EXPECT_FALSE(learns_on_gpu({.learners = 1, .device = "cuda:99"}));  // reported by the run
}

}  // namespace
}  // namespace rlgo::learner
