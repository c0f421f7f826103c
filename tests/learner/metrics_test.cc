#include "learner/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/replay/store.h"

namespace rlgo::learner {
namespace {

using replay::TempFolder;
using replay::write_bytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Metrics, RowsAreOnDiskAtOnce) {
  const TempFolder folder;
  MetricsFile metrics(folder / "m.csv");
  metrics.write({{"epoch", int64_t{1}}, {"loss", 0.1}, {"note", "ok"}});
  EXPECT_EQ(read_file(folder / "m.csv"), "epoch,loss,note\n1,0.1,ok\n");
  metrics.write({{"note", "a, \"b\"\nc"}, {"epoch", int64_t{2}}});  // another order, one missing
  EXPECT_EQ(read_file(folder / "m.csv"), "epoch,loss,note\n1,0.1,ok\n2,,\"a, \"\"b\"\" c\"\n");
}

TEST(Metrics, LaterColumnsAreAppended) {
  const TempFolder folder;
  MetricsFile metrics(folder / "m.csv");
  metrics.write({{"epoch", int64_t{1}}});
  metrics.write({{"new", 2.5}, {"epoch", int64_t{2}}, {"x,y", int64_t{3}}});
  metrics.write({{"epoch", int64_t{3}}});
  EXPECT_EQ(read_file(folder / "m.csv"), "epoch,new,\"x,y\"\n1,,\n2,2.5,3\n3,,\n");
  EXPECT_THAT(MetricsFile(folder / "m.csv").columns(), ElementsAre("epoch", "new", "x,y"));
}

TEST(Metrics, NumbersReadBackExactly) {
  const TempFolder folder;
  MetricsFile metrics(folder / "m.csv");
  const double third = 1.0 / 3;
  metrics.write({{"a", third},
                 {"b", std::numeric_limits<double>::quiet_NaN()},
                 {"c", -std::numeric_limits<double>::infinity()},
                 {"d", 1e300}});
  EXPECT_EQ(read_file(folder / "m.csv"), "a,b,c,d\n0.3333333333333333,nan,-inf,1e+300\n");
  EXPECT_EQ(std::stod("0.3333333333333333"), third);
}

TEST(Metrics, ResumeRenamesAnOldColumn) {
  const TempFolder folder;
  write_bytes(folder / "m.csv", "epoch,waiting_share,loss\n1,0.5,0.1\n");  // old name
  MetricsFile metrics(folder / "m.csv");
  metrics.write({{"epoch", int64_t{2}}, {"waiting_fraction", 0.25}, {"loss", 0.2}});
  EXPECT_EQ(read_file(folder / "m.csv"), "epoch,waiting_fraction,loss\n1,0.5,0.1\n2,0.25,0.2\n");
}

TEST(Metrics, ResumeDropsATornLine) {
  const TempFolder folder;
  const auto path = folder / "m.csv";
  for (const char* torn : {"3", "3,0.", "3,0.5", "3,", "3\n", "3,4,5\n"}) {
    write_bytes(path, std::string("epoch,loss\n1,0.1\n2,0.2\n") + torn);
    MetricsFile metrics(path);
    EXPECT_EQ(metrics.rows(), 2) << torn;
    metrics.write({{"epoch", int64_t{3}}, {"loss", 0.3}});
    EXPECT_EQ(read_file(path), "epoch,loss\n1,0.1\n2,0.2\n3,0.3\n") << torn;
  }
}

TEST(Metrics, TornHeaderAndEmptyFileStartFromScratch) {
  const TempFolder folder;
  for (const char* start : {"", "epo"}) {
    write_bytes(folder / "m.csv", start);
    MetricsFile metrics(folder / "m.csv");
    metrics.write({{"epoch", int64_t{1}}});
    EXPECT_EQ(read_file(folder / "m.csv"), "epoch\n1\n");
  }
}

TEST(Metrics, ResumeDropsRowsAfterTheCheckpoint) {
  const TempFolder folder;
  write_bytes(folder / "m.csv", "epoch,loss\n1,0.1\n2,0.2\n3,0.3\n");
  MetricsFile metrics(folder / "m.csv");
  EXPECT_EQ(metrics.drop_after("none", 0), 0);
  EXPECT_EQ(metrics.drop_after("epoch", 1), 2);
  metrics.write({{"epoch", int64_t{2}}, {"loss", 0.5}});
  EXPECT_EQ(read_file(folder / "m.csv"), "epoch,loss\n1,0.1\n2,0.5\n");
}

TEST(Metrics, ErrorsNameTheFile) {
  const TempFolder folder;
  write_bytes(folder / "m.csv", "epoch,loss\n1\n2,0.2\n");
  EXPECT_THAT([&] { MetricsFile(folder / "m.csv"); },
              ThrowsMessage<Error>(HasSubstr("m.csv: line 2 has 1 cells, the header has 2")));
  EXPECT_THROW(MetricsFile(folder / "no" / "m.csv"), Error);
  MetricsFile metrics(folder / "n.csv");
  EXPECT_THAT([&] { metrics.write({{"a", 1.0}, {"a", 2.0}}); }, ThrowsMessage<Error>(HasSubstr("column 'a' twice")));
  EXPECT_THROW(metrics.write({}), Error);
}

TEST(Metrics, CsvLinesThereAndBack) {
  const std::vector<std::string> cells = {"", "a", "b,c", "\"", "d\"e", " f "};
  EXPECT_EQ(parse_csv_line(csv_line(cells)), cells);
  EXPECT_THAT(parse_csv_line("a,,\"b,\"\"c\""), ElementsAre("a", "", "b,\"c"));
}

}  // namespace
}  // namespace rlgo::learner
