#include "learner/session/scale_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rlgo::learner {
namespace {

using testing::Contains;
using testing::Not;

std::vector<std::string> command(const std::string& launcher) {
  ScaleJobOptions options;
  options.actors = 7;
  options.launcher = launcher;
  options.program = "rlgo";
  return command_of(options, "run.cfg");
}

// Each launcher has a word of its own for the number of ranks; srun needs an option to connect them.
TEST(ScaleJob, MpirunAndSrunStartItsRanks) {
  const auto mpirun = command("mpirun --hostfile hosts"), srun = command("/usr/bin/srun"),
             own = command("srun --mpi=pmix_v4");
  EXPECT_EQ(*(std::ranges::find(mpirun, "-np") + 1), "8");
  EXPECT_EQ(*(std::ranges::find(srun, "-n") + 1), "8");
  EXPECT_THAT(srun, Contains("--mpi=pmix"));
  EXPECT_THAT(srun, Not(Contains("-np")));
  EXPECT_THAT(own, Not(Contains("--mpi=pmix")));
}

}  // namespace
}  // namespace rlgo::learner
