#include "learner/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "core/base/file.h"
#include "replay/h5.h"
#include "tests/replay/store.h"

namespace rlgo::learner {
namespace {

namespace fs = std::filesystem;
using replay::file_names;
using replay::TempFolder;
using replay::write_bytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string bytes_of(std::initializer_list<float> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(float)};
}

Checkpoint make_checkpoint() {
  Checkpoint c;
  c.tensors["policy/w"] = {"float32", {2, 3}, bytes_of({1, -2, 3, 4.5f, 0, 6})};
  c.tensors["policy/b"] = {"float32", {}, bytes_of({7})};
  c.tensors["half"] = {"bfloat16", {2}, std::string("\x80\x3f\x00\xc0", 4)};
  c.tensors["mask"] = {"bool", {3}, std::string("\1\0\1", 3)};
  c.tensors["none"] = {"int64", {0, 4}, ""};
  c.texts = {{"config", "a = 1\nb = größer\n"}, {"zeros", std::string("x\0y", 3)}, {"empty", ""}};
  c.counters = {{"epoch", 12}, {"lowest", std::numeric_limits<int64_t>::min()}};
  c.numbers = {{"best_us", 0.1}, {"inf", std::numeric_limits<double>::infinity()}};
  c.streams = {{"agent", Rng({1, 2}).state()}, {"env", Rng({3}).state()}};
  return c;
}

TEST(Checkpoint, AllComesBack) {
  const TempFolder folder;
  save(make_checkpoint(), folder / "c.h5");
  EXPECT_EQ(load(folder / "c.h5"), make_checkpoint());
  Checkpoint empty;
  save(empty, folder / "e.h5");
  EXPECT_EQ(load(folder / "e.h5"), empty);
}

TEST(Checkpoint, TravelsAsBytes) {
  const std::string bytes = encode(make_checkpoint());
  EXPECT_EQ(decode_checkpoint(bytes), make_checkpoint());
  EXPECT_THROW(decode_checkpoint(bytes.substr(0, bytes.size() - 1)), Error);
  EXPECT_THROW(decode_checkpoint(bytes + "x"), Error);
}

TEST(Checkpoint, RandomStreamsGoOn) {
  const TempFolder folder;
  Rng rng({5});
  rng.next();
  Checkpoint c;
  c.streams["r"] = rng.state();
  save(c, folder / "c.h5");
  Rng resumed(load(folder / "c.h5").streams.at("r"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(resumed.next(), rng.next());
}

TEST(Checkpoint, RefusesTensorsThatDoNotFit) {
  const TempFolder folder;
  Checkpoint c;
  c.tensors["w"] = {"float32", {3}, "12345678"};
  EXPECT_THAT([&] { save(c, folder / "c.h5"); },
              ThrowsMessage<Error>(HasSubstr("tensor 'w': 8 bytes, its shape needs 12")));
  c.tensors["w"] = {"complex64", {1}, "12345678"};
  EXPECT_THAT([&] { save(c, folder / "c.h5"); }, ThrowsMessage<Error>(HasSubstr("unknown tensor type 'complex64'")));
  c.tensors["w"] = {"int8", {-1}, ""};
  EXPECT_THAT([&] { save(c, folder / "c.h5"); }, ThrowsMessage<Error>(HasSubstr("negative dimension")));
  EXPECT_TRUE(file_names(folder).empty());
}

TEST(Checkpoint, TruncatedAnywhereIsRefused) {
  const TempFolder folder;
  const auto path = folder / "c.h5";
  save(make_checkpoint(), path);
  const std::string good = read_file(path);
  for (size_t size = 0; size < good.size(); size += 97) {
    write_bytes(path, good.substr(0, size));
    EXPECT_THAT([&] { load(path); }, ThrowsMessage<Error>(HasSubstr(path.string()))) << size;
  }
  write_bytes(path, good.substr(0, good.size() - 1));
  EXPECT_THAT([&] { load(path); }, ThrowsMessage<Error>(HasSubstr("truncated or altered")));
  write_bytes(path, good + "x");
  EXPECT_THAT([&] { load(path); }, ThrowsMessage<Error>(HasSubstr("truncated or altered")));
}

TEST(Checkpoint, AnyFlippedBitIsRefused) {
  const TempFolder folder;
  const auto path = folder / "c.h5";
  save(make_checkpoint(), path);
  const std::string good = read_file(path);
  Rng rng({8});
  for (int i = 0; i < 400; ++i) {
    std::string bad = good;
    const size_t at =
        i < 100 ? rng.below(600) : rng.below(good.size());  // the checksum and HDF5's superblock more often
    bad[at] ^= static_cast<char>(1 << rng.below(8));
    write_bytes(path, bad);
    EXPECT_THROW(load(path), Error) << at;
  }
}

TEST(Checkpoint, OtherKindsAndVersionsAreRefused) {
  const TempFolder folder;
  const auto path = folder / "c.h5";
  EXPECT_THAT([&] { load(path); }, ThrowsMessage<Error>(HasSubstr("c.h5: no such file")));
  replay::h5::Writer rollouts("test");
  rollouts.save(path, "rollouts");
  EXPECT_THAT([&] { load(path); }, ThrowsMessage<Error>(HasSubstr("not a file of rlgo checkpoint")));
  replay::h5::Writer newer("test");
  newer.attribute("format", std::string_view("rlgo-checkpoint"));
  newer.attribute("version", int64_t{9});
  newer.save(path, "checkpoint");
  EXPECT_THAT([&] { load(path); },
              ThrowsMessage<Error>(HasSubstr("version 9 of the checkpoint format; this program reads version 2")));
}

TEST(CheckpointFolder, KeepsTheLastAndTheBest) {
  const TempFolder folder;
  write_bytes(folder / "checkpoint-00000000.h5.tmp-1", "of a killed run");
  const CheckpointFolder checkpoints(folder, 2);
  const double scores[] = {5, 3, 4, 4, 6};
  for (int64_t i = 0; i < 5; ++i) checkpoints.save(make_checkpoint(), i, scores[i]);
  EXPECT_THAT(file_names(folder),
              ElementsAre("checkpoint-00000001.h5", "checkpoint-00000003.h5", "checkpoint-00000004.h5"));
  EXPECT_EQ(checkpoints.best(), folder / "checkpoint-00000001.h5");
  checkpoints.save(make_checkpoint(), 5, 3);  // as good, and newer
  EXPECT_THAT(file_names(folder), ElementsAre("checkpoint-00000004.h5", "checkpoint-00000005.h5"));
  EXPECT_EQ(load(*checkpoints.best()).numbers.at("score"), 3);
}

TEST(CheckpointFolder, OthersFilesStay) {
  const TempFolder folder;
  write_bytes(folder / "checkpoint-00000001.h5", "somebody's");
  write_bytes(folder / "notes.tmp-old", "somebody's");
  const CheckpointFolder checkpoints(folder, 1);
  for (int64_t i = 2; i < 5; ++i) checkpoints.save(make_checkpoint(), i);
  EXPECT_THAT(file_names(folder), ElementsAre("checkpoint-00000001.h5", "checkpoint-00000004.h5", "notes.tmp-old"));
}

TEST(CheckpointFolder, ARunThatContinuesKnowsItsOwn) {
  const TempFolder folder;
  const CheckpointFolder first(folder, 2);
  for (int64_t i = 2; i < 5; ++i) first.save(make_checkpoint(), i);
  write_bytes(folder / "checkpoint-00000001.h5", "somebody's");
  const auto texts = latest(folder).checkpoint->texts;
  EXPECT_EQ(texts.at(kOwnCheckpoints), "2,3,4");
  const CheckpointFolder second(folder, 2, texts);
  second.save(make_checkpoint(), 5);
  EXPECT_THAT(file_names(folder),
              ElementsAre("checkpoint-00000001.h5", "checkpoint-00000004.h5", "checkpoint-00000005.h5"));
}

// Hashing all kept files at each checkpoint would read gigabytes: what was written is known.
TEST(CheckpointFolder, DoesNotReadAgainWhatItKnows) {
  const TempFolder folder;
  const CheckpointFolder checkpoints(folder, 2);
  const auto first = checkpoints.save(make_checkpoint(), 1, 3.0);
  std::ofstream(first) << "damaged";
  checkpoints.save(make_checkpoint(), 2, 4.0);
  checkpoints.save(make_checkpoint(), 3, 5.0);
  EXPECT_EQ(checkpoints.best(), first);
  EXPECT_NE(CheckpointFolder(folder, 2).best(), first) << "a new object looks at the files";
}

TEST(CheckpointFolder, WithoutScoresOnlyTheLast) {
  const TempFolder folder;
  const CheckpointFolder checkpoints(folder / "new" / "folder", 1);
  for (int64_t i = 0; i < 3; ++i) checkpoints.save({}, i);
  EXPECT_THAT(file_names(checkpoints.folder()), ElementsAre("checkpoint-00000002.h5"));
  EXPECT_FALSE(checkpoints.best());
  EXPECT_THROW(checkpoints.save({}, -1), Error);
  EXPECT_THROW(CheckpointFolder(folder, 0), Error);
}

TEST(CheckpointFolder, LatestPassesOverBrokenOnes) {
  const TempFolder folder;
  EXPECT_EQ(latest(folder / "none").number, -1);
  const CheckpointFolder checkpoints(folder, 5);
  for (int64_t i = 1; i <= 3; ++i) {
    Checkpoint c;
    c.counters["epoch"] = i;
    checkpoints.save(c, i);
  }
  const std::string good = read_file(folder / "checkpoint-00000003.h5");
  write_bytes(folder / "checkpoint-00000003.h5", good.substr(0, good.size() - 10));
  write_bytes(folder / "checkpoint-x.h5", good);
  const Latest found = latest(folder);
  EXPECT_EQ(found.number, 2);
  EXPECT_EQ(found.path, folder / "checkpoint-00000002.h5");
  EXPECT_EQ(found.checkpoint->counters.at("epoch"), 2);
  ASSERT_EQ(found.refused.size(), 1u);
  EXPECT_THAT(found.refused[0].reason, HasSubstr("checkpoint-00000003.h5: truncated or altered"));
  checkpoints.save(make_checkpoint(), 3);  // the run continues from 2 and writes 3 again
  EXPECT_EQ(latest(folder).number, 3);
}

}  // namespace
}  // namespace rlgo::learner
