#include "core/cost/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/core/cost/graphs.h"

namespace rlgo::cost {
namespace {

namespace fs = std::filesystem;
const TableOrigin kOrigin{"measured:cpu", "some cpu", 1};
const std::string kHeader =
    "# rlgo cost table, version 1\n# model measured:cpu\n# device some cpu\n# threads "
    "1\nsignature\tus\tspread_us\tsamples\n";

class TableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / ("rlgo_table_" + std::string(info->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ / "costs.tsv";
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The error of loading a file with this text.
  std::string error_of(const std::string& text, TableOrigin origin = kOrigin) {
    atomic_write(path_, text);
    TableCost table(std::move(origin));
    try {
      table.load(path_);
    } catch (const Error& e) {
      EXPECT_EQ(table.size(), 0u);
      return std::string(e.what()).substr(path_.string().size());
    }
    return "no error";
  }

  fs::path folder_, path_;
};

TEST_F(TableTest, AsksOnceAndKeepsTheAnswer) {
  int asked = 0;
  TableCost table(kOrigin, [&](const Graph&, NodeId) { return Measured{2.5 + asked++, 0.1, 7}; });
  const Graph g = small_graph();
  EXPECT_EQ(table.op_us(g, only(g, Op::relu)), 2.5);
  EXPECT_EQ(table.op_us(g, only(g, Op::relu)), 2.5);
  EXPECT_EQ(table.op_us(g, only(g, Op::matmul)), 3.5);
  EXPECT_EQ(table.op_us(g, only(g, Op::weight)), 0.0);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(table.find("relu (f32[4,16])")->samples, 7);
  EXPECT_EQ(table.name(), "measured:cpu");
}

TEST_F(TableTest, UnknownOperatorWithoutAskingIsAnError) {
  TableCost table(kOrigin);
  const Graph g = small_graph();
  EXPECT_THROW(table.op_us(g, only(g, Op::relu)), Error);
  EXPECT_TRUE(table.insert("relu (f32[4,16])", {4.0, 0.0, 1}));
  EXPECT_EQ(table.op_us(g, only(g, Op::relu)), 4.0);
}

TEST_F(TableTest, FirstValueStays) {
  TableCost table(kOrigin);
  EXPECT_TRUE(table.insert("a", {1.0, 0.0, 1}));
  EXPECT_FALSE(table.insert("a", {2.0, 0.0, 1}));
  EXPECT_EQ(table.find("a")->us, 1.0);
  EXPECT_EQ(table.find("b"), nullptr);
}

TEST_F(TableTest, AReferenceIsNoPrice) {
  TableCost table(kOrigin);
  table.insert("reference: conv2d (f32[1])!", {1.0, 0.0, 1});
  table.insert("a", {2.0, 0.0, 1});
  EXPECT_EQ(table.priced(), 1u);
  EXPECT_EQ(table.size(), 2u);
}

TEST_F(TableTest, NewEntriesSinceAMark) {
  TableCost table(kOrigin);
  table.insert("b", {1.0, 0.0, 1});
  const size_t mark = table.size();
  table.insert("a", {2.0, 0.0, 1});
  table.insert("b", {3.0, 0.0, 1});
  const auto fresh = table.entries().subspan(mark);
  ASSERT_EQ(fresh.size(), 1u);
  EXPECT_EQ(fresh[0].signature, "a");
}

TEST_F(TableTest, NumbersReadBackExactly) {
  TableCost table(kOrigin);
  table.insert("tanh (f32[1])", {1.0 / 3.0, 1e-9, 30});
  table.insert("relu (f32[1])", {12345678.9, 0.0, 1});
  table.save(path_);
  TableCost copy(kOrigin);
  EXPECT_EQ(copy.load(path_), 2u);
  EXPECT_EQ(copy.find("tanh (f32[1])")->us, 1.0 / 3.0);
  EXPECT_EQ(copy.find("tanh (f32[1])")->spread_us, 1e-9);
  EXPECT_EQ(copy.find("relu (f32[1])")->us, 12345678.9);
  EXPECT_EQ(copy.load(path_), 0u);
}

TEST_F(TableTest, FileDoesNotDependOnTheOrderOfInsertion) {
  TableCost table(kOrigin);
  table.insert("b", {1.0, 0.0, 1});
  table.insert("a", {2.0, 0.5, 3});
  table.save(path_);
  EXPECT_EQ(read_file(path_), kHeader + "a\t2\t0.5\t3\nb\t1\t0\t1\n");
}

TEST_F(TableTest, DamagedFilesAreErrorsByLine) {
  EXPECT_EQ(error_of(""), ":1: not a cost table of this version: expected '# rlgo cost table, version 1'");
  EXPECT_EQ(error_of("# rlgo cost table, version 1\n"), ":2: expected '# model ...'");
  EXPECT_EQ(error_of(kHeader + "a\t1\t0\n"), ":6: 3 columns instead of 4");
  EXPECT_EQ(error_of(kHeader + "a\t1\t0\t1\nb\tx\t0\t1\n"), ":7: a column is empty or not a number");
  EXPECT_EQ(error_of(kHeader + "a\t-1\t0\t1\n"), ":6: a time of -1 us");
  EXPECT_EQ(error_of(kHeader + "a\tnan\t0\t1\n"), ":6: a time of nan us");
  EXPECT_EQ(error_of(kHeader + "a\t1\t0\t1\na\t1\t0\t1\n"), ":7: 'a' is listed twice");
  EXPECT_EQ(error_of(kHeader + "a\t1\t0\t1"), ":6: the last line is cut off");
  EXPECT_EQ(error_of(kHeader), "no error");
}

TEST_F(TableTest, OtherOriginIsAnErrorThatNamesBoth) {
  EXPECT_EQ(error_of(kHeader, {"measured:cuda", "some gpu", 2}),
            ": the costs were measured with model 'measured:cpu', device 'some cpu', 1 thread; this run needs model "
            "'measured:cuda', device 'some gpu', 2 threads");
  EXPECT_THROW(TableCost(kOrigin).load(folder_ / "absent.tsv"), Error);
}

TEST_F(TableTest, BadMeasurementsAreErrors) {
  TableCost table(kOrigin, [](const Graph&, NodeId) { return Measured{NAN, 0, 1}; });
  const Graph g = small_graph();
  EXPECT_THROW(table.op_us(g, only(g, Op::relu)), Error);
  EXPECT_THROW(table.insert("a\tb", {1, 0, 1}), Error);
  EXPECT_THROW(table.insert("", {1, 0, 1}), Error);
  EXPECT_THROW(table.insert("a", {1, -1, 1}), Error);
  EXPECT_EQ(table.size(), 0u);
}

TEST_F(TableTest, DeviceNameWithALineBreakReadsBack) {
  const TableOrigin origin{"m", "two\nlines", 4};
  TableCost(origin).save(path_);
  EXPECT_EQ(TableCost(origin).load(path_), 0u);
}

}  // namespace
}  // namespace rlgo::cost
