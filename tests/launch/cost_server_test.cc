#include "launch/train/cost_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/base/error.h"
#include "core/zoo/zoo.h"

namespace rlgo::launch {
namespace {

using testing::HasSubstr;

const cost::TableOrigin kOrigin{"measured:test", "here", 1};

// A price for each operator that only depends on what it is.
cost::Measured price(const graph::Graph& graph, graph::NodeId id) {
  return {static_cast<double>(std::hash<std::string>()(cost::signature(graph, id)) % 1000), 0.5, 3};
}

// Rank 0 answers in a thread of its own until the test's end.
class Oracle {
 public:
  explicit Oracle(std::shared_ptr<cost::TableCost> table, int ranks = 2) : comms_(comm::local_comms(ranks)) {
    thread_ = std::thread([this, table, ranks] {
      comm::Mailbox box(*comms_[0]);
      std::vector<int> actors;
      for (int rank = 1; rank < ranks; ++rank) actors.push_back(rank);
      CostOracle oracle(table, box, actors);
      oracle.publish();
      while (!stop_) {
        for (int rank = 1; rank < ranks; ++rank) {
          if (const auto request = box.take(comm::Tag::cost_request, rank)) oracle.answer(*request);
        }
        if (publish_) oracle.publish();
        box.wait(1);
      }
      box.flush(1);
    });
  }
  ~Oracle() {
    stop_ = true;
    thread_.join();
  }
  comm::Comm& actor(int rank = 1) { return *comms_[rank]; }
  void publish() { publish_ = true; }

 private:
  std::vector<std::unique_ptr<comm::Comm>> comms_;
  std::atomic<bool> stop_ = false, publish_ = false;
  std::thread thread_;
};

comm::Incoming next_costs(comm::Mailbox& box) {
  for (;;) {
    if (auto message = box.take(comm::Tag::costs, 0)) return std::move(*message);
    box.wait(10);
  }
}

// All operators of a graph, asked for one by one: the question keeps the signature, weights and shapes included.
TEST(CostOracle, AnswersForEveryOperatorOfTheZoo) {
  for (const char* name : {"squeezenet1_1", "toy_residual", "toy_attention"}) {
    const auto table = std::make_shared<cost::TableCost>(kOrigin, price);
    Oracle oracle(table);
    comm::Mailbox box(oracle.actor());
    const auto copy = remote_table(kOrigin, box, 30, [] { return false; });
    const graph::Graph graph = zoo::make(name);
    cost::TableCost here(kOrigin, price);
    for (const auto id : graph.order())
      EXPECT_EQ(copy->op_us(graph, id), here.op_us(graph, id)) << name << " node " << id;
    EXPECT_EQ(copy->size(), here.size());
    EXPECT_GT(copy->size(), 3u);
  }
}

TEST(CostOracle, WhatCannotBePricedIsAnErrorWithTheReason) {
  const auto table = std::make_shared<cost::TableCost>(
      kOrigin, [](const graph::Graph&, graph::NodeId) -> cost::Measured { fail("the device is on fire"); });
  Oracle oracle(table);
  comm::Mailbox box(oracle.actor());
  const auto copy = remote_table(kOrigin, box, 30, [] { return false; });
  const graph::Graph graph = zoo::make("toy_mlp");
  int errors = 0;
  for (const auto id : graph.order()) {
    try {
      copy->op_us(graph, id);
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr("the device is on fire"));
      ++errors;
    }
  }
  EXPECT_GT(errors, 0);
  EXPECT_EQ(copy->size(), 0u);
}

TEST(CostOracle, WithoutATableItRefuses) {
  Oracle oracle(nullptr);
  comm::Mailbox box(oracle.actor());
  const auto copy = remote_table(kOrigin, box, 30, [] { return false; });
  const graph::Graph graph = zoo::make("toy_mlp");
  EXPECT_THROW(for (const auto id : graph.order()) copy->op_us(graph, id), Error);
}

TEST(CostOracle, PublishesAllAtFirstAndThenWhatIsNew) {
  const auto table = std::make_shared<cost::TableCost>(kOrigin, price);
  table->insert("old", {1, 0, 1});
  Oracle oracle(table, 3);
  comm::Mailbox first(oracle.actor(1)), second(oracle.actor(2));
  cost::TableCost told(kOrigin);
  receive_costs(next_costs(second), told);
  ASSERT_NE(told.find("old"), nullptr);
  EXPECT_EQ(told.size(), 1u);

  const auto copy = remote_table(kOrigin, first, 30, [] { return false; });
  const graph::Graph graph = zoo::make("toy_mlp");
  for (const auto id : graph.order()) copy->op_us(graph, id);
  oracle.publish();
  while (told.size() < 1 + copy->size()) receive_costs(next_costs(second), told);
  for (const auto& row : copy->entries()) EXPECT_EQ(told.find(row.signature)->us, row.measured.us);
}

TEST(CostOracle, ASilentRank0AndAStopAreErrors) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox box(*comms[1]);
  const graph::Graph graph = zoo::make("toy_mlp");
  const auto ask = [&](const std::shared_ptr<cost::TableCost>& table) -> std::string {
    try {
      for (const auto id : graph.order()) table->op_us(graph, id);
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_THAT(ask(remote_table(kOrigin, box, 0.01, [] { return false; })), HasSubstr("silent"));
  EXPECT_THAT(ask(remote_table(kOrigin, box, 30, [] { return true; })), HasSubstr("stopped"));
}

}  // namespace
}  // namespace rlgo::launch
