#include "learner/session/learners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/rng.h"

namespace rlgo::learner {
namespace {

using testing::HasSubstr;

LearnerPlace place(const std::string& host, const std::vector<std::string>& addresses) {
  LearnerPlace result{host, {}, ""};
  for (const auto& address : addresses)
    result.gpus.push_back({static_cast<int>(result.gpus.size()), address, "NVIDIA H100"});
  return result;
}

size_t distinct(const std::vector<LearnerPlace>& places, const LearnerDevices& devices) {
  std::set<std::string> taken;
  for (size_t i = 0; i < places.size(); ++i)
    taken.insert(places[i].host + places[i].gpus.at(static_cast<size_t>(devices.devices[i].index)).address);
  return taken.size();
}

// The most learners that can have a GPU of their own: the best of all assignments in turn.
size_t best(const std::vector<LearnerPlace>& places, size_t at = 0, std::set<std::string> taken = {}) {
  if (at == places.size()) return taken.size();
  size_t most = 0;
  for (const auto& gpu : places[at].gpus) {
    auto with = taken;
    with.insert(places[at].host + gpu.address);
    most = std::max(most, best(places, at + 1, with));
  }
  return most;
}

// Whatever each process sees of its host: nobody shares a GPU where it can be helped, and NCCL is used only then.
TEST(ChooseDevices, AsFewAsPossibleShareAGpu) {
  Rng rng({5});
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<LearnerPlace> places;
    for (uint64_t i = 0; i < 1 + rng.below(5); ++i) {
      std::vector<std::string> all = {"01", "02", "03", "04"}, seen;
      for (const auto& address : all) {
        if (rng.below(3) == 0) seen.push_back(address);
      }
      if (seen.empty()) seen.push_back(all[rng.below(4)]);
      std::rotate(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(rng.below(seen.size())), seen.end());
      places.push_back(place(rng.below(2) == 0 ? "a" : "b", seen));
    }
    const auto devices = choose_devices(places);
    ASSERT_EQ(distinct(places, devices), best(places));
    EXPECT_EQ(devices.nccl, distinct(places, devices) == places.size());
    EXPECT_EQ(static_cast<size_t>(std::ranges::count(devices.own, true)), distinct(places, devices));
  }
}

// Slurm shows each rank its own GPU as number 0, or all ranks all of them.
TEST(ChooseDevices, ByAddressNotByCount) {
  EXPECT_TRUE(choose_devices({place("a", {"02"}), place("a", {"01"})}).nccl);
  const auto crossed = choose_devices({place("a", {"01", "02"}), place("a", {"01"})});
  EXPECT_TRUE(crossed.nccl);
  EXPECT_EQ(crossed.devices[0].index, 1);
  EXPECT_THAT(choose_devices({place("a", {"01"}), place("a", {"01"})}).why_not, HasSubstr("2 learners share 1 GPU"));
  EXPECT_TRUE(choose_devices({place("a", {"01"}), place("b", {"01"})}).nccl);  // the same address on another host
}

TEST(ChooseDevices, MoreLearnersThanGpusIsAnErrorWhereEachAsksForOne) {
  const std::vector two = {place("a", {"01"}), place("a", {"01"})};
  EXPECT_TRUE(choose_devices({place("a", {"01", "02"}), place("a", {"01"})}, "cuda").nccl);
  EXPECT_FALSE(choose_devices(two, "cuda:0").nccl);
  try {
    choose_devices(two, "cuda");
    FAIL() << "two learners, one GPU";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "--device cuda: 2 learners share 1 GPU; use fewer --learners, --device auto or cuda:N to share one, "
                 "or --device cpu");
  }
}

TEST(ChooseDevices, NamesWhatIsInTheWay) {
  EXPECT_THAT(choose_devices({place("a", {"01"}), place("b", {})}).why_not, HasSubstr("b has no GPU"));
  auto places = std::vector{place("a", {"01"}), place("b", {"01"})};
  places[1].gpus[0].model = "NVIDIA A100";
  EXPECT_THAT(choose_devices(places).remark, HasSubstr("differ (NVIDIA A100, NVIDIA H100)"));
  places[1].why_no_nccl = "libnccl.so.2 is missing";
  EXPECT_THAT(choose_devices(places).why_not, HasSubstr("libnccl.so.2 is missing"));
}

// A GPU's number on the command line is an error where it is not there, for each learner (here: no GPU at all).
TEST(LearnerPlace, TheNumberOfAGpuCounts) {
  EXPECT_THROW(learner_place({2, "cuda:126", 1}), Error);
  EXPECT_TRUE(learner_place({2, "cpu", 1}).gpus.empty());
}

}  // namespace
}  // namespace rlgo::learner
