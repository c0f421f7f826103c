#include "replay/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"
#include "replay/parts.h"
#include "replay/sampler.h"
#include "replay/writer.h"
#include "tests/replay/store.h"

namespace rlgo::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

void write_store(const std::filesystem::path& folder, const std::vector<int>& lengths, int64_t per_part = 2) {
  RolloutWriter writer(folder, make_header(), {.episodes_per_part = per_part});
  for (size_t e = 0; e < lengths.size(); ++e)
    writer.append(make_trajectory(make_spec(), static_cast<int64_t>(e), lengths[e]));
  writer.close();
}

TEST(Parts, NamesHaveOneSpelling) {
  EXPECT_EQ((PartName{2, 12, 12}).file_name(), "part-002-000012.h5");
  EXPECT_EQ((PartName{0, 3, 12}).file_name(), "part-000-000003-000012.h5");
  EXPECT_EQ(parse_part_name("part-000-000003-000012.h5"), (PartName{0, 3, 12}));
  EXPECT_EQ(parse_part_name("part-1000-12345678.h5"), (PartName{1000, 12345678, 12345678}));
  for (const char* bad : {"part-0-3.h5", "part-000-000003-000003.h5", "part-000-000009-000003.h5", "part-000.h5",
                          "part-000-x.h5", "part-.h5", "part-000-000003.h5.tmp-9", "xpart-000-000003.h5",
                          "part-000-000001-000002-000003.h5", "part-0000003.h5"}) {
    EXPECT_FALSE(parse_part_name(bad)) << bad;
  }
}

TEST(Parts, ListIsInOrderWithoutCoveredOnes) {
  const TempFolder folder;
  for (const char* name : {"part-001-000000.h5", "part-000-000010.h5", "part-000-000002.h5",
                           "part-000-000000-000003.h5", "part-000-000000-000001.h5", "part-000-000004.h5"}) {
    write_bytes(folder / name, "x");
  }
  const PartList list = list_parts(folder);
  EXPECT_THAT(list.parts, ElementsAre(PartName{0, 0, 3}, PartName{0, 4, 4}, PartName{0, 10, 10}, PartName{1, 0, 0}));
  EXPECT_THAT(list.covered, ElementsAre(PartName{0, 0, 1}, PartName{0, 2, 2}));
}

TEST(Parts, PathsOfFileFolderAndRun) {
  const TempFolder run;
  std::filesystem::create_directory(run / "rollouts");
  write_store(run / "rollouts", {1, 2, 3});
  EXPECT_EQ(part_paths(run).size(), 2u);
  EXPECT_EQ(part_paths(run / "rollouts"), part_paths(run));
  EXPECT_EQ(part_paths(part_paths(run)[1]).size(), 1u);
  EXPECT_THAT([&] { part_paths(run / "none"); }, ThrowsMessage<Error>(HasSubstr("none: no such file or folder")));
}

TEST(Reader, SlicesOfEpisodes) {
  const TempFolder folder;
  write_store(folder, {3, 5, 4}, 3);
  const PartReader part(folder / "part-000-000000.h5");
  EXPECT_EQ(part.episodes(), 3);
  EXPECT_EQ(part.steps(), 12);
  EXPECT_EQ(part.steps(1), 5);
  const auto whole = make_trajectory(make_spec(), 2, 4);  // terminal
  const auto middle = part.read(2, 1, 2);
  ASSERT_EQ(middle.steps.size(), 2u);
  EXPECT_EQ(middle.steps[0].observation, whole.steps[1].observation);
  EXPECT_EQ(middle.steps[1].reward, whole.steps[2].reward);
  EXPECT_EQ(middle.last, whole.steps[3].observation);
  EXPECT_EQ(middle.last_value_rule, whole.steps[3].value_rule);
  EXPECT_FALSE(middle.terminal);
  const auto end = part.read(2, 2, 2);
  EXPECT_EQ(end.last, whole.last);
  EXPECT_TRUE(end.terminal);
  EXPECT_EQ(part.read(2, 4, 0).last, whole.last);
  EXPECT_THAT([&] { part.read(2, 3, 2); }, ThrowsMessage<Error>(HasSubstr("steps 3 to 5 of an episode of 4")));
  EXPECT_THAT([&] { part.read(3); }, ThrowsMessage<Error>(HasSubstr("episode 3 of 3")));
}

TEST(Reader, NoObservationIsFarFromOneThatIsCodedAgainstItsEpisodesFirst) {
  const TempFolder folder;
  write_store(folder, {3, 70}, 2);
  const h5::Reader file(folder / "part-000-000000.h5", kPartKind);
  const auto base = file.all<int64_t>("observations/base");
  ASSERT_EQ(base.size(), 75u);  // 4 and 71
  EXPECT_THAT(std::vector<int64_t>(base.begin(), base.begin() + 6), ElementsAre(-1, 0, 1, 2, 0, 4));
  EXPECT_EQ(base[4 + 32], 4);
  EXPECT_EQ(base[4 + 33], 4 + 32);
  EXPECT_EQ(base[4 + 64], 4);
  const auto whole = make_trajectory(make_spec(), 1, 70);
  const PartReader part(folder / "part-000-000000.h5");
  for (const int64_t first : {0, 31, 32, 33, 63, 64, 69}) {
    const auto one = part.read(1, first, 1);
    EXPECT_EQ(one.steps[0].observation, whole.steps[static_cast<size_t>(first)].observation) << first;
    EXPECT_EQ(one.last, first == 69 ? whole.last : whole.steps[static_cast<size_t>(first) + 1].observation) << first;
  }
}

TEST(Reader, BrokenPartsAreRefusedByNameOrSkipped) {
  const TempFolder folder;
  write_store(folder, {2, 2, 2, 2, 2, 2, 2, 2});
  const std::string good = read_file(folder / "part-000-000001.h5");
  write_bytes(folder / "part-000-000001.h5", good.substr(0, good.size() / 2));
  write_bytes(folder / "part-000-000002.h5", "\x89HDF\r\n\x1a\n, but not ours");
  RolloutReader strict(folder);
  strict.next();
  strict.next();
  EXPECT_THAT([&] { strict.next(); }, ThrowsMessage<Error>(HasSubstr("part-000-000001.h5: truncated or altered")));
  RolloutReader lenient(folder, true);
  std::vector<int64_t> episodes;
  while (const auto t = lenient.next()) episodes.push_back(t->episode);
  EXPECT_THAT(episodes, ElementsAre(0, 1, 6, 7));
  ASSERT_EQ(lenient.broken().size(), 2u);
  EXPECT_THAT(lenient.broken()[1].reason, HasSubstr("part-000-000002.h5: not a file of rlgo rollouts"));
}

TEST(Reader, NoDamagedByteIsAccepted) {
  const TempFolder folder;
  write_store(folder, {2, 2});
  const auto path = folder / "part-000-000000.h5";
  const std::string good = read_file(path);
  Rng rng({5});
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    if (i % 2 == 0)
      bad.resize(rng.below(good.size()));
    else
      bad[rng.below(good.size())] ^= static_cast<char>(1 << rng.below(8));
    write_bytes(path, bad);
    EXPECT_THROW(PartReader{path}, Error) << i;
  }
}

TEST(Reader, OtherVersionsAndMissingDatasetsAreRefused) {
  const TempFolder folder;
  const auto write = [&](int64_t version, bool header) {
    h5::Writer file("test");
    if (header) {
      write_header(file, make_header());
      file.put_strings("rule_names", {});
    } else {
      file.attribute("format", kFormat);
      file.attribute("version", version);
    }
    file.save(folder / "p.h5", kPartKind);
  };
  write(1, false);
  EXPECT_THAT(
      [&] { PartReader(folder / "p.h5"); },
      ThrowsMessage<Error>(HasSubstr(
          "version 1 of the rollout format; this program reads versions 2 to 5; results/rlgo_results reads all")));
  write(6, false);
  EXPECT_THAT([&] { PartReader(folder / "p.h5"); },
              ThrowsMessage<Error>(HasSubstr("version 6 of the rollout format; this program reads versions 2 to 5")));
  write(2, true);
  EXPECT_THAT([&] { PartReader(folder / "p.h5"); }, ThrowsMessage<Error>(HasSubstr("'episodes/seed': cannot open")));
}

// A part as version 3 had it: without what came later.
void write_version_3(const std::filesystem::path& part, const std::filesystem::path& path) {
  const h5::Reader now(part, kPartKind);
  h5::Writer file("test");
  file.attribute("version", int64_t{3});
  for (const char* name : {"format", "coding", "graph", "git_revision", "rule_set_hash", "reward"})
    file.attribute(name, now.attribute_text(name));
  for (const char* name : {"seed", "spec_hash"}) file.attribute(name, now.attribute_uint(name));
  for (const char* name :
       {"ops", "node_features", "edge_features", "global_features", "xfers", "max_locations", "location_features"})
    file.attribute(name, now.attribute_int(name));
  for (const char* name : {"xfer_names", "rule_names"}) file.put_strings(name, now.strings(name));
  Columns columns;
  for_each_column(columns, [&](auto& values, const ColumnInfo& column) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    const std::string name(column.name);
    if (column.since <= 3) file.append(name, std::span<const T>(now.all<T>(name)), {});
  });
  file.save(path, kPartKind);
}

TEST(Reader, PartsOfVersion3HoldNothingOfHowEpisodesBeganNorOfErrors) {
  const TempFolder folder;
  write_store(folder, {1, 2, 3}, 3);
  const PartReader now(part_paths(folder)[0]);
  write_version_3(part_paths(folder)[0], folder / "old.h5");
  const PartReader old(folder / "old.h5");
  auto expected = now.read(2);
  EXPECT_EQ(expected.beginning.rewrites.size(), 2u);
  expected.beginning = {};
  for (auto& step : expected.steps) {
    step.info.location = step.action.location;
    step.info.measured_ratio = step.info.measured_error = 0;
    step.info.timing = mdp::WholeTimed::no;
  }
  EXPECT_EQ(mdp::encode(old.read(2)), mdp::encode(expected));
}

TEST(Sampler, EpisodesAreUniformAndSeeded) {
  const TempFolder folder;
  write_store(folder, {1, 2, 3, 4, 5});
  Sampler sampler(folder, Rng({1}));
  Sampler same(folder, Rng({1}));
  EXPECT_EQ(sampler.episodes(), 5);
  EXPECT_EQ(sampler.steps(), 15);
  std::vector<int> counts(5);
  for (int i = 0; i < 1000; ++i) {
    const auto t = sampler.episode();
    if (i < 20) {
      EXPECT_EQ(mdp::encode(same.episode()), mdp::encode(t));
    }
    ++counts[static_cast<size_t>(t.episode)];
  }
  for (int count : counts) EXPECT_NEAR(count, 200, 60);  // 4.7 standard deviations
}

TEST(Sampler, SequencesAreUniformOverTheirStarts) {
  const TempFolder folder;
  write_store(folder, {1, 3, 5, 2});
  Sampler sampler(folder, Rng({2}));
  std::map<std::pair<int64_t, float>, int> counts;  // by episode and first value, which shows the step
  for (int i = 0; i < 800; ++i) {
    const auto t = sampler.sequence(3);
    ASSERT_EQ(t.steps.size(), 3u);
    ++counts[{t.episode, t.steps[0].value_rule - 0.5f}];
  }
  ASSERT_EQ(counts.size(), 4u);  // episode 1 from 0; episode 2 from 0, 1, 2
  for (const auto& [start, count] : counts) EXPECT_NEAR(count, 200, 60) << start.first << " " << start.second;
  EXPECT_EQ(sampler.sequence(5).episode, 2);
  EXPECT_THAT([&] { sampler.sequence(6); }, ThrowsMessage<Error>(HasSubstr("no episode of 6 steps")));
  EXPECT_THAT([&] { sampler.sequence(0); }, ThrowsMessage<Error>(HasSubstr("sequence of 0 steps")));
}

// A store that grows: what is known is not read again, what came is found, what went is left out.
TEST(Sampler, RefreshesByWhatIsNew) {
  const TempFolder folder;
  const auto write = [&](int64_t episode) {
    RolloutWriter writer(folder, make_header());
    writer.append(make_trajectory(make_spec(), episode, 3));
  };
  write(0);
  Sampler sampler(folder, Rng({1}), true);
  write(1);
  std::ofstream(folder / "part-000-000000.h5", std::ios::in | std::ios::out) << "altered";  // in its first bytes
  sampler.refresh(Rng({2}));
  EXPECT_EQ(sampler.episodes(), 2) << "the first part was hashed again";
  std::filesystem::remove(folder / "part-000-000000.h5");
  sampler.refresh(Rng({3}));
  EXPECT_EQ(sampler.episodes(), 1);
  EXPECT_EQ(sampler.episode().episode, 1);
}

TEST(Sampler, LeavesOutAPartThatBreaksWhileItIsUsed) {
  const TempFolder folder;
  RolloutWriter writer(folder, make_header(), {.episodes_per_part = 1});
  for (int64_t e = 0; e < 4; ++e) writer.append(make_trajectory(make_spec(), e, 3));
  Sampler sampler(folder, Rng({1}), true);
  std::filesystem::resize_file(folder / "part-000-000002.h5", 1000);
  for (int i = 0; i < 30; ++i) EXPECT_NE(sampler.episode().episode, 2);
  EXPECT_EQ(sampler.episodes(), 3);
  ASSERT_EQ(sampler.broken().size(), 1u);
}

TEST(Sampler, EmptyStoreAndForeignSpecs) {
  const TempFolder folder;
  EXPECT_THAT([&] { Sampler(folder, Rng({1})).episode(); }, ThrowsMessage<Error>(HasSubstr("no episodes")));
  write_store(folder, {1});
  RolloutWriter other(folder, make_header(make_spec(5)), {.writer = 1});
  other.append(make_trajectory(make_spec(5), 0));
  other.close();
  EXPECT_THAT([&] { Sampler(folder, Rng({1})); }, ThrowsMessage<Error>(HasSubstr("spec differs")));
  const Sampler lenient(folder, Rng({1}), true);
  EXPECT_EQ(lenient.episodes(), 1);
  EXPECT_EQ(lenient.broken().size(), 1u);
}

}  // namespace
}  // namespace rlgo::replay
