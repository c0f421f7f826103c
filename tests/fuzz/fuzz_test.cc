// Readers of hostile files: bounded runs with fixed seeds, and every input that once was a fault.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/fuzz/engine.h"

namespace rlgo::fuzz {
namespace {

namespace fs = std::filesystem;

class Readers : public testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const auto& target : targets()) list.push_back(target.name);
  return list;
}
std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, Readers, testing::ValuesIn(names()), test_name);

void expect_clean(const Tally& tally) {
  for (const auto& fault : tally.faults) ADD_FAILURE() << "input " << fault.index << ": " << fault.what;
  for (const auto& stray : tally.strays) ADD_FAILURE() << "changed outside the given folder: " << stray;
}

// Some seeds are refused by design: what is refused is a place to start from, too.
TEST_P(Readers, HalfOfTheSeedsAreAccepted) {
  const Target& target = find_target(GetParam());
  const Corpus seeds = target.seeds();
  uint64_t accepted = 0;
  for (const auto& seed : seeds) {
    const auto tally = run_one(target, seed);
    expect_clean(tally);
    accepted += tally.accepted;
  }
  EXPECT_GE(2 * accepted, seeds.size());
}

TEST_P(Readers, MutatedInputsAreReadOrRefused) {
  const Target& target = find_target(GetParam());
  const auto tally = fuzz(target, target.seeds(), 1, 0, target.ci_inputs, {}, 5);
  expect_clean(tally);
  EXPECT_EQ(tally.inputs, target.ci_inputs);
  EXPECT_GT(tally.accepted, 0u);
  EXPECT_LT(tally.accepted, tally.inputs);
}

TEST_P(Readers, FormerFaults) {
  const Target& target = find_target(GetParam());
  const fs::path folder = fs::path("tests/fuzz/cases") / target.name;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    SCOPED_TRACE(entry.path().string());
    expect_clean(run_one(target, read_file(entry.path())));
  }
}

// The engine itself: what it must notice.
Target synthetic(std::function<void(const std::string&, const fs::path&)> run) {
  return {"made-up", [] { return Corpus{"x"}; }, [](const Corpus&, Rng& rng) { return std::to_string(rng.below(100)); },
          std::move(run)};
}
std::string fault_of(std::function<void(const std::string&, const fs::path&)> run) {
  Limits limits;
  limits.cpu_s = 1;
  limits.wall_s = 3;
  const auto tally = run_one(synthetic(std::move(run)), "x", limits);
  return tally.faults.empty() ? "" : tally.faults[0].what;
}

TEST(Engine, NoticesFaults) {
  EXPECT_EQ(fault_of([](const std::string&, const fs::path&) { fail("refused"); }), "");
  EXPECT_EQ(fault_of([](const std::string&, const fs::path&) { ::raise(SIGSEGV); }), "signal 11");
  EXPECT_EQ(fault_of([](const std::string&, const fs::path&) { throw std::logic_error("no"); }), "exit status 1: no");
  EXPECT_EQ(fault_of([](const std::string&, const fs::path&) {
              for (volatile bool forever = true; forever;) {
              }
            }),
            "more than 1 s of processor time");
  EXPECT_EQ(fault_of([](const std::string&, const fs::path&) { ::pause(); }), "more than 3 s");
}

TEST(Engine, NoticesMemoryAndStrayFiles) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(fault_of([](const std::string&, const fs::path&) {
              try {
                std::vector<char> much(size_t{3} << 30);
                ASSERT_EQ(much[7], 0);
              } catch (const std::bad_alloc&) {
                fail("hidden");
              }
            }),
            "more than 2048 MiB");
#endif
  const auto tally = run_one(synthetic([](const std::string&, const fs::path&) { atomic_write("stray", "x"); }), "x");
  EXPECT_EQ(tally.strays, (std::vector<std::string>{"cwd/stray 1"}));
}

TEST(Engine, GoesOnBehindAFault) {
  const auto target = synthetic([](const std::string& input, const fs::path&) {
    if (input == "7") ::raise(SIGILL);
  });
  const auto tally = fuzz(target, {"x"}, 1, 0, 1000);
  EXPECT_EQ(tally.inputs, 1000u);
  EXPECT_GT(tally.faults.size(), 2u);
  for (const auto& fault : tally.faults) EXPECT_EQ(input_of(target, {"x"}, 1, fault.index), "7");
}

}  // namespace
}  // namespace rlgo::fuzz
