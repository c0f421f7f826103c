#include "learner/session/latency_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/cost/analytic.h"
#include "core/optimise/model.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::learner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LatencyRoles, AreDealtToHosts) {
  const std::vector<int> one(32, 0), two = {0, 0, 0, 1, 1, 1};
  EXPECT_THAT(latency_roles(one, 0).timers, ElementsAre(30, 31));
  EXPECT_EQ(latency_roles(one, 0).searchers.size(), 29u);
  EXPECT_THAT(latency_roles(two, 2).timers, ElementsAre(2, 5));
  EXPECT_THAT(latency_roles(two, 2).searchers, ElementsAre(1, 3, 4));
  EXPECT_THAT(latency_roles(std::vector<int>{0, 0}, 9).timers, ElementsAre(1)) << "rank 0 learns";
}

TEST(LatencyRoles, ATimerHasACoreOfItsOwn) {
  const std::vector<int> nodes = {0, 0, 0, 0};
  const auto roles = latency_roles(nodes, 2);
  const std::vector<int> cores = {0, 1, 4, 5};
  EXPECT_THAT(cores_of(roles, nodes, 0, cores), ElementsAre(0, 1));
  EXPECT_THAT(cores_of(roles, nodes, 1, cores), ElementsAre(0, 1));
  EXPECT_THAT(cores_of(roles, nodes, 2, cores), ElementsAre(4));
  EXPECT_THAT(cores_of(roles, nodes, 3, cores), ElementsAre(5));
  EXPECT_THAT(cores_of(roles, nodes, 3, {0, 1}), IsEmpty()) << "none would be left for the others";
}

// Rank 0 in this thread, two others in threads: rank 2 times, rank 1 searches.
struct Job {
  explicit Job(cost::WholeTimer time, double silence_s = 60) : patience{silence_s, 0.05, [] { return false; }} {
    searcher = std::thread([this] {
      comm::Mailbox box(*comms[1]);
      LatencyLine line(box, patience);
      cost::AnalyticCost prices;
      search_for_rank_0(line, graph, rules, prices, 1, 200);
    });
    timer = std::thread([this, time = std::move(time)] {
      comm::Mailbox box(*comms[2]);
      LatencyLine line(box, patience);
      time_for_rank_0(line, graph, rules, time);
    });
  }
  ~Job() {
    ranks.stop();
    searcher.join();
    timer.join();
  }

  const graph::Graph graph = optimise::load_model({.graph = "toy_conv"}, true).graph;
  std::shared_ptr<const rules::RuleSet> rules = rules::shipped_rules();
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(3);
  LatencyPatience patience;
  comm::Mailbox mailbox{*comms[0]};
  LatencyRanks ranks{mailbox, latency_roles(std::vector<int>{0, 0, 0}, 1), patience, [](const comm::Incoming&) {}};
  std::thread searcher, timer;
};

TEST(LatencyRanks, SearchAndTime) {
  Job job([](const graph::Graph& g, double against) -> cost::WholeTiming {
    return {100, static_cast<double>(g.size()), against};
  });
  std::vector<rules::Trace> found;
  while (found.empty()) {
    found = job.ranks.found();
    job.mailbox.wait(5);
  }
  const auto graph = rules::replay(job.graph, job.rules, found[0]);
  EXPECT_NE(graph.hash(), job.graph.hash());
  job.ranks.begin(graph.hash(), found[0], 0.5);
  job.ranks.begin(job.graph.hash(), {}, 0.25);
  const auto timed = job.ranks.time(graph.hash(), found[0], 0.5);
  EXPECT_EQ(timed.ratio, static_cast<double>(graph.size()));
  EXPECT_EQ(timed.error, 0.5);
  EXPECT_EQ(job.ranks.time(job.graph.hash(), {}, 0.25).error, 0.25);
  job.ranks.send_examples({{{{"groups", 1.0}}, -0.5}, {{{"groups", 2.0}, {"#00ff", 1.0}}, -1.0}}, found[0]);
}

TEST(LatencyRanks, AFailureIsReportedAsOne) {
  Job job([](const graph::Graph&, double) -> cost::WholeTiming { return {0, 1, 0, "measurer ended"}; });
  EXPECT_EQ(job.ranks.time(job.graph.hash(), {}, 1).failure, "measurer ended");
  EXPECT_TRUE(job.ranks.any_timer());
}

TEST(LatencyRanks, ASilentTimerIsGivenUp) {
  Job job(
      [](const graph::Graph&, double) -> cost::WholeTiming {
        std::this_thread::sleep_for(std::chrono::seconds(2));
        return {100, 0.01, 0};
      },
      0.5);
  EXPECT_THAT(job.ranks.time(job.graph.hash(), {}, 1).failure, testing::HasSubstr("was silent for 0.5 s"));
  EXPECT_FALSE(job.ranks.any_timer());
  EXPECT_THAT(job.ranks.time(job.graph.hash(), {}, 1).failure, testing::HasSubstr("no rank that times"));
  EXPECT_FALSE(job.ranks.stop());
}

}  // namespace
}  // namespace rlgo::learner
