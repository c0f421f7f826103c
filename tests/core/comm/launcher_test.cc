#include "core/comm/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace rlgo::comm {
namespace {

Launch look(std::map<std::string, std::string> environment) {
  return look_at_launcher([&](const char* name) {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
  });
}

TEST(Launcher, SrunWithoutMpiIsAProblem) {
  const auto lost = look({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}});
  EXPECT_FALSE(lost.mpi);
  EXPECT_EQ(lost.rank, 2);
  EXPECT_THAT(lost.problem, testing::HasSubstr("srun started 4 processes without MPI"));
  EXPECT_THAT(lost.problem, testing::HasSubstr("srun --mpi=pmix"));
}

TEST(Launcher, WhatIsOneRunIsNone) {
  EXPECT_EQ(look({}).problem, "");
  EXPECT_EQ(look({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}).problem, "");  // a batch script
  EXPECT_EQ(look({{"SLURM_STEP_NUM_TASKS", "1"}}).problem, "");                 // an interactive step
  const auto pmix = look({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}, {"PMIX_RANK", "2"}});
  EXPECT_TRUE(pmix.mpi);
  EXPECT_EQ(pmix.size, 4);
  EXPECT_EQ(pmix.problem, "");
  // mpirun's ranks run in steps that srun made for its daemons.
  const auto mpirun =
      look({{"SLURM_STEP_NUM_TASKS", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_RANK", "5"}});
  EXPECT_EQ(mpirun.size, 8);
  EXPECT_EQ(mpirun.rank, 5);
  EXPECT_EQ(mpirun.problem, "");
}

}  // namespace
}  // namespace rlgo::comm
