#include "learner/session/whole_timings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/optimise/fake_runtime.h"

namespace rlgo::learner {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kHere = "fake 1.0, paper, 1 thread";

std::shared_ptr<cost::Runtime> fake() { return std::make_shared<optimise::FakeRuntime>("fake 1.0"); }

TEST(WholeTimings, RanksThatTimeUnderSomethingElseAreRefused) {
  EXPECT_EQ(timed_under(env::Reward::latency, *fake()), kHere);
  EXPECT_EQ(timed_under(env::Reward::measured, *fake()), "");
  EXPECT_NO_THROW(timer_of(fake(), env::Reward::latency, 3, kHere));
  EXPECT_THAT([] { timer_of(fake(), env::Reward::latency, 3, "fake 1.1, paper, 1 thread"); },
              ThrowsMessage<Error>(HasSubstr("rank 0 times graphs under fake 1.1, paper, 1 thread, this rank under ")));
}

TEST(WholeTimings, CheckpointsOfOtherProcessorsAreRefused) {
  Checkpoint checkpoint;
  EXPECT_NO_THROW(expect_timed_under(checkpoint, "", "c.h5"));  // of another reward
  EXPECT_THROW(expect_timed_under(checkpoint, kHere, "c.h5"), Error);
  checkpoint.texts["timed_under"] = kHere;
  EXPECT_NO_THROW(expect_timed_under(checkpoint, kHere, "c.h5"));
  EXPECT_THAT(
      [&] { expect_timed_under(checkpoint, "fake 1.0, paper, 2 threads", "c.h5"); },
      ThrowsMessage<Error>(HasSubstr("c.h5: made under fake 1.0, paper, 1 thread, this run is under fake 1.0")));
}

TEST(WholeTimings, CountsStepsByWhatCameOfThem) {
  using enum mdp::WholeTimed;
  mdp::Trajectory trajectory;
  for (const auto timing : {shown, within_noise, no, failed, within_noise}) {
    trajectory.steps.emplace_back().info.timing = timing;
  }
  WholeTimings timings;
  timings.add(trajectory);
  timings.add(trajectory);
  EXPECT_EQ(to_text(timings), "8 graphs timed: 2 differed from the one before, 4 were within noise, 2 failed");
}

}  // namespace
}  // namespace rlgo::learner
