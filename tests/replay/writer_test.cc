#include "replay/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/base/file.h"
#include "replay/background_writer.h"
#include "replay/parts.h"
#include "replay/reader.h"
#include "tests/replay/store.h"

namespace rlgo::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Writer, EveryFieldComesBackBitForBit) {
  const TempFolder folder;
  const auto spec = make_spec();
  RolloutWriter writer(folder, make_header(), {.episodes_per_part = 2});
  for (int64_t e = 0; e < 5; ++e)
    writer.append(make_trajectory(spec, e, static_cast<int>(e)));  // the first has no steps
  writer.close();
  RolloutReader reader(folder);
  for (int64_t e = 0; e < 5; ++e) {
    const auto read = reader.next();
    ASSERT_TRUE(read);
    EXPECT_EQ(mdp::encode(*read), mdp::encode(make_trajectory(spec, e, static_cast<int>(e)))) << e;
    EXPECT_EQ(reader.part().header(), make_header());
  }
  EXPECT_FALSE(reader.next());
  EXPECT_THAT(file_names(folder), ElementsAre("part-000-000000.h5", "part-000-000001.h5", "part-000-000002.h5"));
}

// Two processes that write one folder as the same writer: each part gets a number of its own.
TEST(Writer, NoPartIsReplaced) {
  const TempFolder folder;
  RolloutWriter first(folder, make_header()), second(folder, make_header());
  for (auto* writer : {&first, &second, &second, &first}) {
    writer->append(make_trajectory(make_spec(), writer->episodes(), 2));
    writer->flush();
  }
  EXPECT_EQ(file_names(folder).size(), 4U);
  int episodes = 0;
  for (RolloutReader reader(folder); reader.next();) ++episodes;
  EXPECT_EQ(episodes, 4);
}

TEST(Writer, SpecWithoutOptionalFeatures) {
  const TempFolder folder;
  const auto spec = make_spec(0, 3, 0, 0);  // no rules, no edge features, no globals
  mdp::Trajectory t = make_trajectory(spec, 2, 1);
  t.steps[0].info.rule = "a name that is no rule's";
  RolloutWriter writer(folder, make_header(spec));
  writer.append(t);
  writer.close();
  EXPECT_EQ(mdp::encode(*RolloutReader(folder).next()), mdp::encode(t));
}

TEST(Writer, LargePartsAreSpilledInPieces) {
  const TempFolder folder;
  const auto spec = make_spec(3, 1000);  // 2.7 MB per episode; pieces of 64 MiB
  RolloutWriter writer(folder, make_header(spec), {.episodes_per_part = 30, .gzip = 0});
  for (int64_t e = 0; e < 30; ++e) writer.append(make_trajectory(spec, e, 2, 225));
  EXPECT_EQ(writer.parts_written(), 1);
  EXPECT_GT(writer.bytes_written(), uint64_t{70} << 20);
  const PartReader part(folder / "part-000-000000.h5");
  for (int64_t e : {0, 13, 24, 25, 29})
    EXPECT_EQ(mdp::encode(part.read(e)), mdp::encode(make_trajectory(spec, e, 2, 225))) << e;
}

TEST(Writer, TimeAndBytesEndParts) {
  const TempFolder folder;
  const auto t = make_trajectory(make_spec(), 1);
  RolloutWriter writer(folder, make_header(), {.seconds_per_part = 10});
  writer.tick(1000);  // nothing open
  writer.append(t);
  writer.tick(1005);  // the first tick after an append starts the part's clock
  writer.tick(1014.9);
  EXPECT_EQ(writer.parts_written(), 0);
  writer.tick(1015);
  EXPECT_EQ(writer.parts_written(), 1);
  writer.append(t);
  writer.tick(1016);
  EXPECT_EQ(writer.parts_written(), 1);
  RolloutWriter small(folder, make_header(), {.writer = 1, .bytes_per_part = 100});
  small.append(t);
  EXPECT_EQ(small.parts_written(), 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "part-001-000000.h5"));
}

TEST(Writer, CloseTwiceAndDestroyWithout) {
  const TempFolder folder;
  {
    RolloutWriter writer(folder, make_header());
    writer.append(make_trajectory(make_spec(), 1));
    writer.flush();
    writer.flush();  // nothing left: no empty part
    writer.close();
    writer.close();
    EXPECT_THAT([&] { writer.append(make_trajectory(make_spec(), 1)); },
                ThrowsMessage<Error>(HasSubstr("store is closed")));
    RolloutWriter second(folder, make_header());
    second.append(make_trajectory(make_spec(), 2));
  }
  EXPECT_THAT(file_names(folder), ElementsAre("part-000-000000.h5", "part-000-000001.h5"));
}

TEST(Writer, ResumeContinuesNumbersAndRemovesOwnTemporaries) {
  const TempFolder folder;
  for (const char* name : {"part-000-000004.h5", "part-000-000005-000009.h5", "part-001-000033.h5",
                           "part-000-000010.h5.tmp-123", "part-001-000034.h5.tmp-124", "part-x.h5", "notes.txt"}) {
    write_bytes(folder / name, "x");
  }
  RolloutWriter writer(folder, make_header());
  writer.append(make_trajectory(make_spec(), 1));
  writer.close();
  EXPECT_TRUE(std::filesystem::exists(folder / "part-000-000010.h5"));
  EXPECT_FALSE(std::filesystem::exists(folder / "part-000-000010.h5.tmp-123"));
  EXPECT_TRUE(std::filesystem::exists(folder / "part-001-000034.h5.tmp-124"));  // another writer's, perhaps alive
}

TEST(Writer, RefusesWhatDoesNotFitItsSpec) {
  const TempFolder folder;
  RolloutWriter writer(folder, make_header());
  auto other = make_trajectory(make_spec(4), 1);
  EXPECT_THAT([&] { writer.append(other); },
              ThrowsMessage<Error>(HasSubstr("episode 1 of rank 2: its observation spec")));
  auto bad = make_trajectory(make_spec(), 1);
  bad.steps[2].observation.counts[0] = 9;
  EXPECT_THAT([&] { writer.append(bad); }, ThrowsMessage<Error>(HasSubstr("episode 1 of rank 2: observation 2")));
  EXPECT_EQ(writer.episodes(), 0);
  writer.append(make_trajectory(make_spec(), 1));
  writer.close();
  EXPECT_EQ(PartReader(folder / "part-000-000000.h5").episodes(), 1);
}

TEST(Writer, RefusesFoldersThatCannotBeWritten) {
  const TempFolder folder;
  write_bytes(folder / "file", "x");
  EXPECT_THAT([&] { RolloutWriter(folder / "file", make_header()); }, ThrowsMessage<Error>(HasSubstr("file")));
  EXPECT_THAT([&] { RolloutWriter(folder, make_header(), {.episodes_per_part = 0}); },
              ThrowsMessage<Error>(HasSubstr("0 episodes per part")));
  EXPECT_THAT([&] { RolloutWriter(folder, make_header(), {.gzip = 10}); },
              ThrowsMessage<Error>(HasSubstr("gzip level 10")));
}

// A limit on the size of files stands in for a full disk: the system refuses the write in the same way.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(Writer, FullDiskIsAnErrorAndLosesNothing) {
  const TempFolder folder;
  const auto spec = make_spec();
  RolloutWriter writer(folder, make_header(), {.episodes_per_part = 1});
  writer.append(make_trajectory(spec, 0));
  {
    const FileSizeLimit full(3000);
    EXPECT_THAT([&] { writer.append(make_trajectory(spec, 1)); },
                ThrowsMessage<Error>(HasSubstr("part-000-000001.h5")));
    EXPECT_THAT([&] { writer.append(make_trajectory(spec, 2)); },
                ThrowsMessage<Error>(HasSubstr("cannot write")));  // not taken
    EXPECT_THAT(file_names(folder), ElementsAre("part-000-000000.h5"));
  }
  writer.append(make_trajectory(spec, 3));  // there is room again
  writer.close();
  RolloutReader reader(folder);
  for (int64_t e : {0, 1, 3}) EXPECT_EQ(mdp::encode(*reader.next()), mdp::encode(make_trajectory(spec, e)));
  EXPECT_FALSE(reader.next());
}

TEST(Writer, FullDiskWhileDestroyedIsQuiet) {
  const TempFolder folder;
  {
    const FileSizeLimit full(3000);
    RolloutWriter writer(folder, make_header());
    writer.append(make_trajectory(make_spec(), 0));
  }
  EXPECT_THAT(file_names(folder), IsEmpty());
}

TEST(Writer, KilledAtAnyMomentAllPartsAreWhole) {
  const TempFolder folder;
  const auto spec = make_spec();
  Rng rng({3});
  for (int round = 0; round < 6; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      RolloutWriter writer(folder, make_header(), {.episodes_per_part = 4});
      for (int64_t e = 0;; ++e) writer.append(make_trajectory(spec, e));
    }
    ASSERT_GT(child, 0);
    const size_t before = list_parts(folder).parts.size();
    while (list_parts(folder).parts.size() < before + 3) ::usleep(500);
    ::usleep(static_cast<useconds_t>(rng.below(5000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  int64_t episodes = 0;
  for (const auto& path : part_paths(folder)) {
    const PartReader part(path);  // would throw
    ASSERT_EQ(part.episodes(), 4);
    for (int64_t i = 0; i < 4; ++i) {
      const auto t = part.read(i);
      EXPECT_EQ(mdp::encode(t), mdp::encode(make_trajectory(spec, t.episode)));
    }
    episodes += 4;
  }
  EXPECT_GE(episodes, 6 * 12);
  RolloutWriter cleaner(folder, make_header());
  for (const auto& name : file_names(folder)) EXPECT_TRUE(parse_part_name(name)) << name;  // no temporaries
}

std::shared_ptr<const mdp::CodedTrajectory> coded(int64_t episode, int steps) {
  auto t = make_trajectory(make_spec(), episode, steps);
  auto codes = mdp::code_observations(t);
  return std::make_shared<const mdp::CodedTrajectory>(mdp::CodedTrajectory{std::move(t), std::move(codes)});
}

TEST(BackgroundWriter, WritesWhatItWasGivenInOrder) {
  const TempFolder folder;
  BackgroundWriter writer(folder, make_header(), {.episodes_per_part = 3}, 2);  // it blocks, and loses nothing
  for (int64_t e = 0; e < 20; ++e) writer.append(coded(e, 2));
  writer.close();
  writer.close();
  EXPECT_EQ(writer.parts_written(), 7);
  RolloutReader reader(folder);
  for (int64_t e = 0; e < 20; ++e) EXPECT_EQ(reader.next()->episode, e);
  EXPECT_FALSE(reader.next());
}

TEST(BackgroundWriter, ReportsWhatItsThreadMet) {
  const TempFolder folder;
  BackgroundWriter writer(folder, make_header(make_spec(5)));
  writer.append(coded(0, 2));  // of another spec
  EXPECT_THAT([&] { writer.close(); }, ThrowsMessage<Error>(HasSubstr("observation spec")));
  EXPECT_THAT([&] { writer.append(coded(1, 2)); }, ThrowsMessage<Error>(HasSubstr("observation spec")));
}

}  // namespace
}  // namespace rlgo::replay
