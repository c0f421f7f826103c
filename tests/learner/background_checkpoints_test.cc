#include "learner/background_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/replay/store.h"

namespace rlgo::learner {
namespace {

using replay::file_names;
using replay::TempFolder;
using testing::ElementsAre;

Checkpoint of_epoch(int64_t epoch) {
  Checkpoint c;
  c.counters["epoch"] = epoch;
  c.tensors["w"] = {"uint8", {100000}, std::string(100000, static_cast<char>('a' + epoch))};
  return c;
}

TEST(BackgroundCheckpoints, WritesAllInOrderAndKeepsTheLastAndTheBest) {
  const TempFolder folder;
  BackgroundCheckpoints checkpoints(folder, 2);
  const double scores[] = {5, 3, 4, 4, 6};
  for (int64_t i = 0; i < 5; ++i) checkpoints.save(of_epoch(i), i, scores[i]);
  checkpoints.close();
  checkpoints.close();
  EXPECT_THAT(file_names(folder),
              ElementsAre("checkpoint-00000001.h5", "checkpoint-00000003.h5", "checkpoint-00000004.h5"));
  EXPECT_EQ(latest(folder).checkpoint->tensors, of_epoch(4).tensors);
}

TEST(BackgroundCheckpoints, TheSnapshotIsTakenAtTheCall) {
  const TempFolder folder;
  BackgroundCheckpoints checkpoints(folder, 9);
  Checkpoint c = of_epoch(1);
  checkpoints.save(c, 1);
  c.tensors["w"].bytes.assign(100000, '!');
  checkpoints.save(c, 2);
  checkpoints.close();
  EXPECT_EQ(load(folder / "checkpoint-00000001.h5").tensors, of_epoch(1).tensors);
}

TEST(BackgroundCheckpoints, EndsWithWhatItWasGivenOnDisk) {
  const TempFolder folder;
  BackgroundCheckpoints(folder, 9).save(of_epoch(7), 7);
  EXPECT_EQ(latest(folder).number, 7);
}

// What the thread meets is reported at the next call and at the end, again and again; what was on disk stays.
TEST(BackgroundCheckpoints, AFailureIsReportedAtTheNextCheckpointAndAtTheEnd) {
  const TempFolder folder;
  BackgroundCheckpoints checkpoints(folder / "c", 3);
  checkpoints.save(of_epoch(0), 0);
  Checkpoint broken;
  broken.tensors["w"] = {"uint8", {3}, "four"};
  checkpoints.save(broken, 1);
  const auto save = [&] { checkpoints.save(of_epoch(3), 3); };
  // The next one may still find room while the broken one is being written; the one after it waits for that.
  EXPECT_THROW((checkpoints.save(of_epoch(2), 2), save()), Error);
  EXPECT_THROW(save(), Error);
  EXPECT_THROW(checkpoints.close(), Error);
  EXPECT_THAT(file_names(folder / "c"), ElementsAre("checkpoint-00000000.h5"));
}

}  // namespace
}  // namespace rlgo::learner
