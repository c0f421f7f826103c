// The file of timed graphs: read back exactly, and nothing wrong taken from it.
#include "core/optimise/timed_graphs.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"

namespace rlgo::optimise {
namespace {

const cost::TableOrigin kOrigin{"measured:x, timed in x", "some cpu", 1};
const std::string kHeader =
    "# rlgo timed graphs, version 1\n# model measured:x, timed in x\n# device some cpu\n# threads "
    "1\nmodel\tgraph\tsum\tratio\tfeatures\n";
const std::string kHashes = "00000000000000aa\t00000000000000bb\t";

struct File {
  TemporaryFolder folder{"rlgo-timed"};
  std::filesystem::path path = folder.path() / "timed.tsv";

  // The error of loading a file with this text, without its name.
  std::string error_of(const std::string& text, cost::TableOrigin origin = kOrigin) const {
    atomic_write(path, text);
    TimedGraphs timed(std::move(origin));
    try {
      timed.load(path);
    } catch (const Error& e) {
      EXPECT_TRUE(timed.graphs().empty());
      return std::string(e.what()).substr(path.string().size());
    }
    return "no error";
  }
};

TEST(TimedGraphs, ReadBackExactly) {
  const File file;
  TimedGraphs timed(kOrigin), again(kOrigin);
  timed.add({0xaa, 0xfedcba9876543210, 1.0 / 3, 0.1, {{"price:conv2d+", -1e-17}, {"#00ff", 2.5}}});
  timed.add({0xaa, 2, 0.9, 0.8, {}});
  timed.save(file.path);
  again.load(file.path);
  ASSERT_EQ(again.graphs().size(), 2u);
  EXPECT_EQ(again.graphs()[0].graph, 0xfedcba9876543210);
  EXPECT_EQ(again.graphs()[0].sum, 1.0 / 3);
  EXPECT_EQ(again.graphs()[0].features, timed.graphs()[0].features);
  EXPECT_EQ(again.graphs()[1].ratio, 0.8);
}

TEST(TimedGraphs, LaterTimesReplaceEarlierOnes) {
  TimedGraphs timed(kOrigin);
  timed.add({1, 2, 0.9, 0.8, {}});
  timed.add({1, 2, 0.9, 0.7, {}});
  timed.add({3, 2, 0.9, 0.6, {}});
  ASSERT_EQ(timed.graphs().size(), 2u);
  EXPECT_EQ(timed.graphs()[0].ratio, 0.7);
}

TEST(TimedGraphs, TheModelsOwnComeLast) {
  TimedGraphs timed(kOrigin);
  timed.add({1, 2, 0.5, 0.75, {}});
  timed.add({9, 2, 0.5, 0.625, {}});
  EXPECT_EQ(timed.examples(1)[0].value, 0.125);
  EXPECT_EQ(timed.examples(1)[1].value, 0.25);
}

TEST(TimedGraphs, KeepsTheLatest) {
  TimedGraphs timed(kOrigin);
  for (uint64_t k = 0; k <= TimedGraphs::kMost; ++k) timed.add({1, k, 1, 1, {}});
  EXPECT_EQ(timed.graphs().size(), TimedGraphs::kMost);
  EXPECT_EQ(timed.graphs()[0].graph, 1u);
}

TEST(TimedGraphs, HostileFilesAreNamedWithTheLine) {
  const File file;
  EXPECT_EQ(file.error_of("GIF89a"), ":1: the last line is cut off");
  EXPECT_EQ(file.error_of("#\n"),
            ":1: not a table of timed graphs of this version: expected '# rlgo timed graphs, version 1'");
  EXPECT_EQ(file.error_of(kHeader + kHashes + "1\t1\n"), ":6: 4 columns instead of 5");
  EXPECT_EQ(file.error_of(kHeader + "aa\tbb\t1\t1\t\n"), ":6: a column is empty or not a number");
  EXPECT_EQ(file.error_of(kHeader + kHashes + "1\t-1\t\n"), ":6: a time of -1 of the unmodified graph's");
  EXPECT_EQ(file.error_of(kHeader + kHashes + "0\t1\t\n"), ":6: a sum of 0 of the unmodified graph's");
  EXPECT_EQ(file.error_of(kHeader + kHashes + "1\t1\ta\n"), ":6: 'a' is no feature (name=value)");
  EXPECT_EQ(file.error_of(kHeader + kHashes + "1\t1\ta=1 a=2\n"), ":6: feature a is listed twice");
  EXPECT_EQ(file.error_of(kHeader + kHashes + "1\t1\ta=1e9\n"), ":6: feature a is 1000000000");
  EXPECT_EQ(file.error_of(kHeader + kHashes + "1\t1\t=1\n"), ":6: a feature called ''");
  EXPECT_EQ(file.error_of(kHeader + kHashes + "1\t1\ta=1"), ":6: the last line is cut off");
}

TEST(TimedGraphs, AnotherRuntimesTimesAreRefused) {
  const File file;
  EXPECT_EQ(file.error_of(kHeader, {"measured:y", "some cpu", 2}),
            ": the costs were measured with model 'measured:x, timed in x', device 'some cpu', 1 thread; this run "
            "needs model 'measured:y', device 'some cpu', 2 threads");
}

TEST(TimedGraphs, WhatCannotBeWrittenIsNotTaken) {
  TimedGraphs timed(kOrigin);
  EXPECT_THROW(timed.add({1, 2, 1, 1, {{"a b", 1}}}), Error);
  EXPECT_THROW(timed.add({1, 2, 1, 0, {}}), Error);
}

}  // namespace
}  // namespace rlgo::optimise
