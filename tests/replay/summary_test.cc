#include "replay/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/file.h"
#include "replay/compact.h"
#include "replay/parts.h"
#include "replay/writer.h"
#include "tests/replay/store.h"

namespace rlgo::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

void write_store(const std::filesystem::path& folder, int64_t episodes, WriterOptions options,
                 const StoreHeader& header = make_header()) {
  RolloutWriter writer(folder, header, options);
  for (int64_t e = 0; e < episodes; ++e) writer.append(make_trajectory(header.spec, e));
  writer.close();
}

std::vector<int64_t> episodes_in(const std::filesystem::path& folder) {
  std::vector<int64_t> episodes;
  RolloutReader reader(folder);
  while (const auto t = reader.next()) {
    EXPECT_EQ(mdp::encode(*t), mdp::encode(make_trajectory(make_spec(), t->episode)));
    episodes.push_back(t->episode);
  }
  return episodes;
}

TEST(Summary, CountsByHand) {
  const TempFolder folder;
  write_store(folder, 3, {.episodes_per_part = 2});  // four steps each, rewards e + 0, 0.25, 0.5, 0.75
  const Summary s = summarize(folder);
  EXPECT_EQ(s.parts, 2);
  EXPECT_EQ(s.episodes, 3);
  EXPECT_EQ(s.steps, 12);
  EXPECT_EQ(s.terminal, 2);
  EXPECT_EQ(s.no_ops, 2);
  EXPECT_EQ(s.repeated, 0);
  EXPECT_EQ(s.return_min, 1.5);
  EXPECT_EQ(s.return_mean, 5.5);
  EXPECT_EQ(s.return_max, 9.5);
  ASSERT_EQ(s.costs.size(), 2u);  // graphs by turns
  EXPECT_EQ(s.costs.at(0).initial_us, 100);
  EXPECT_EQ(s.costs.at(0).best_us, 98);
  EXPECT_EQ(s.costs.at(1).best_us, 99);
  EXPECT_THAT(s.episodes_by_version, ElementsAre(Pair(-1, 2), Pair(0, 1)));
  EXPECT_THAT(s.episodes_by_rank, ElementsAre(Pair(1, 1), Pair(2, 1), Pair(3, 1)));
  int64_t uses = 0;
  for (const auto& [rule, count] : s.rule_uses) uses += count;
  EXPECT_EQ(uses, 10);
  EXPECT_EQ(s.bytes, std::filesystem::file_size(folder / "part-000-000000.h5") +
                         std::filesystem::file_size(folder / "part-000-000001.h5"));
  ASSERT_EQ(s.headers.size(), 1u);
  EXPECT_EQ(s.headers[0], make_header());
}

TEST(Summary, TextNamesBrokenPartsAndRules) {
  const TempFolder folder;
  write_store(folder, 4, {.episodes_per_part = 2});
  write_store(folder, 2, {.episodes_per_part = 2});  // a resumed run that did two episodes again
  write_bytes(folder / "part-000-000001.h5", "junk");
  const Summary s = summarize(folder);
  EXPECT_EQ(s.repeated, 2);
  EXPECT_EQ(s.broken.size(), 1u);
  const std::string text = to_text(s);
  EXPECT_THAT(text, HasSubstr("graph toy, seed 7, reward step, 3 rules (set 00ff), rlgo abc123"));
  EXPECT_THAT(text, HasSubstr("episodes      4 (2 terminal, 2 truncated, 0 dreamt, 2 repeated)"));
  EXPECT_THAT(text, HasSubstr("cost          100 us at first, 99 us at best"));
  EXPECT_THAT(text, HasSubstr("part-000-000001.h5: not a file of rlgo rollouts"));
  EXPECT_THAT(text, HasSubstr(" rule-"));
}

TEST(Summary, FileFolderAndNothing) {
  const TempFolder folder;
  EXPECT_THAT([&] { summarize(folder); }, ThrowsMessage<Error>(HasSubstr("no rollout parts")));
  EXPECT_THAT([&] { summarize(folder / "x"); }, ThrowsMessage<Error>(HasSubstr("no such file")));
  write_store(folder, 4, {.episodes_per_part = 2});
  EXPECT_EQ(summarize(folder / "part-000-000001.h5").episodes, 2);
}

TEST(Compact, MergesAndIsIdempotent) {
  const TempFolder folder;
  write_store(folder, 7, {.episodes_per_part = 1});
  const Compaction first = compact(folder, 3);
  EXPECT_EQ(first.parts_before, 7);
  EXPECT_EQ(first.parts_after, 3);
  EXPECT_EQ(first.merged, 6);
  EXPECT_LT(first.bytes_after, first.bytes_before);
  EXPECT_THAT(file_names(folder),
              ElementsAre("part-000-000000-000002.h5", "part-000-000003-000005.h5", "part-000-000006.h5"));
  EXPECT_THAT(episodes_in(folder), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  const Compaction second = compact(folder, 3);
  EXPECT_EQ(second.merged, 0);
  EXPECT_EQ(second.parts_after, 3);
  write_store(folder, 1, {});  // numbering continues behind merged parts
  EXPECT_TRUE(std::filesystem::exists(folder / "part-000-000007.h5"));
  compact(folder, 100);
  EXPECT_THAT(file_names(folder), ElementsAre("part-000-000000-000007.h5"));
  EXPECT_THAT(episodes_in(folder), ElementsAre(0, 1, 2, 3, 4, 5, 6, 0));
}

TEST(Compact, KeepsWritersAndHeadersApart) {
  const TempFolder folder;
  auto other = make_header();
  other.git_revision = "def456";
  write_store(folder, 2, {.episodes_per_part = 1});
  write_store(folder, 2, {.episodes_per_part = 1}, other);
  write_store(folder, 2, {.writer = 1, .episodes_per_part = 1});
  compact(folder);
  EXPECT_THAT(file_names(folder),
              ElementsAre("part-000-000000-000001.h5", "part-000-000002-000003.h5", "part-001-000000-000001.h5"));
  EXPECT_EQ(summarize(folder).headers.size(), 2u);
}

// What an interruption can leave: a temporary; the merged file next to all or some of the old ones.
TEST(Compact, InterruptedAnywhereLosesAndDoublesNothing) {
  const TempFolder folder;
  write_store(folder, 4, {.episodes_per_part = 1});
  std::vector<std::string> parts;
  for (const auto& name : file_names(folder)) parts.push_back(read_file(folder / name));
  compact(folder, 4);
  const std::vector<int64_t> all = {0, 1, 2, 3};
  for (size_t kept = 0; kept <= 4; ++kept) {
    for (size_t i = 4 - kept; i < 4; ++i)
      write_bytes(folder / PartName{0, int64_t(i), int64_t(i)}.file_name(), parts[i]);
    write_bytes(folder / "part-000-000000-000003.h5.tmp-77", "half");
    EXPECT_EQ(episodes_in(folder), all) << kept;
    const Compaction done = compact(folder, 4);
    EXPECT_EQ(done.removed_left_overs, static_cast<int64_t>(kept));
    EXPECT_THAT(file_names(folder), ElementsAre("part-000-000000-000003.h5"));
    EXPECT_EQ(episodes_in(folder), all) << kept;
  }
}

TEST(Compact, StopsAtABrokenPartAndRemovesNothing) {
  const TempFolder folder;
  write_store(folder, 3, {.episodes_per_part = 1});
  write_bytes(folder / "part-000-000001.h5", "junk");
  write_bytes(folder / "part-000-000003.h5.tmp-1", "of a writer at work");
  EXPECT_THAT([&] { compact(folder); }, ThrowsMessage<Error>(HasSubstr("part-000-000001.h5")));
  EXPECT_EQ(file_names(folder).size(), 4u);
  EXPECT_THROW(compact(folder, 0), Error);
}

TEST(Schema, DocumentationHasTheTable) {
  const std::string page = read_file("docs/store.md");
  const std::string begin = "<!-- schema: begin -->\n";
  const auto from = page.find(begin);
  const auto to = page.find("<!-- schema: end -->");
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::string table = page.substr(from + begin.size(), to - from - begin.size());
  if (std::getenv("RLGO_UPDATE_DOCS") != nullptr) {
    atomic_write("docs/store.md", page.substr(0, from + begin.size()) + schema_markdown() + page.substr(to));
    GTEST_SKIP() << "docs/store.md updated";
  }
  EXPECT_EQ(table, schema_markdown()) << "update it: RLGO_UPDATE_DOCS=1 test_replay --gtest_filter=Schema.*";
}

TEST(Schema, EveryDatasetIsInTheFileWithTheTypeOfTheTable) {
  const TempFolder folder;
  write_store(folder, 2, {});
  const h5::Reader file(folder / "part-000-000000.h5", kPartKind);
  Columns columns;
  int count = 0;
  for_each_column(columns, [&](auto& values, const ColumnInfo& column) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    EXPECT_EQ(file.info(std::string(column.name)).type, h5::type_of<T>()) << column.name;
    ++count;
  });
  EXPECT_EQ(count, 42);
}

}  // namespace
}  // namespace rlgo::replay
