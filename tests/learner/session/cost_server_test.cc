#include "learner/session/cost_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/error.h"
#include "core/zoo/zoo.h"

namespace rlgo::learner {
namespace {

using testing::HasSubstr;

const cost::TableOrigin kOrigin{"measured:test", "here", 1};

// A price for each operator that only depends on what it is.
cost::Measured price(const graph::Graph& graph, graph::NodeId id) {
  return {static_cast<double>(std::hash<std::string>()(cost::signature(graph, id)) % 1000), 0.5, 3};
}

// Rank 0 answers in a thread of its own until the test's end.
class Server {
 public:
  explicit Server(std::shared_ptr<cost::TableCost> table, int ranks = 2) : comms_(comm::local_comms(ranks)) {
    thread_ = std::thread([this, table, ranks] {
      comm::Mailbox box(*comms_[0]);
      std::vector<int> actors;
      for (int rank = 1; rank < ranks; ++rank) actors.push_back(rank);
      CostServer server(table, box, actors);
      server.publish();
      while (!stop_) {
        for (int rank = 1; rank < ranks; ++rank) {
          if (const auto request = box.take(comm::Tag::cost_request, rank)) server.answer(*request);
        }
        if (publish_) server.publish();
        box.wait(1);
      }
      box.flush(1);
    });
  }
  ~Server() {
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
TEST(CostServer, AnswersForEveryOperatorOfTheZoo) {
  for (const char* name : {"squeezenet1_1", "toy_residual", "toy_attention"}) {
    const auto table = std::make_shared<cost::TableCost>(kOrigin, price);
    Server server(table);
    comm::Mailbox box(server.actor());
    const auto copy = remote_table(kOrigin, std::make_shared<CostClient>(box, AskOptions{.timeout_s = 30}));
    const graph::Graph graph = zoo::make(name);
    cost::TableCost here(kOrigin, price);
    for (const auto id : graph.order())
      EXPECT_EQ(copy->op_us(graph, id), here.op_us(graph, id)) << name << " node " << id;
    EXPECT_EQ(copy->size(), here.size());
    EXPECT_GT(copy->size(), 3u);
  }
}

TEST(CostServer, WhatCannotBePricedIsAnErrorWithTheReason) {
  const auto table = std::make_shared<cost::TableCost>(
      kOrigin, [](const graph::Graph&, graph::NodeId) -> cost::Measured { fail("the device is on fire"); });
  Server server(table);
  comm::Mailbox box(server.actor());
  const auto copy = remote_table(kOrigin, std::make_shared<CostClient>(box, AskOptions{.timeout_s = 30}));
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

TEST(CostServer, WithoutATableItRefuses) {
  Server server(nullptr);
  comm::Mailbox box(server.actor());
  const auto copy = remote_table(kOrigin, std::make_shared<CostClient>(box, AskOptions{.timeout_s = 30}));
  const graph::Graph graph = zoo::make("toy_mlp");
  EXPECT_THROW(for (const auto id : graph.order()) copy->op_us(graph, id), Error);
}

TEST(CostServer, ReportsWhatRank0TimesWholeGraphsUnder) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox box(*comms[0]), actor(*comms[1]);
  CostServer(nullptr, box, {1}, nullptr, "fake 1.0, paper, 1 thread").publish();
  const auto message = next_costs(actor);
  EXPECT_EQ(timed_under(message), "fake 1.0, paper, 1 thread");
  cost::TableCost received(kOrigin);
  receive_costs(message, received);
  EXPECT_EQ(received.size(), 0u);
}

TEST(CostServer, PublishesAllAtFirstAndThenWhatIsNew) {
  const auto table = std::make_shared<cost::TableCost>(kOrigin, price);
  table->insert("old", {1, 0, 1});
  Server server(table, 3);
  comm::Mailbox first(server.actor(1)), second(server.actor(2));
  cost::TableCost received(kOrigin);
  receive_costs(next_costs(second), received);
  ASSERT_NE(received.find("old"), nullptr);
  EXPECT_EQ(received.size(), 1u);

  const auto copy = remote_table(kOrigin, std::make_shared<CostClient>(first, AskOptions{.timeout_s = 30}));
  const graph::Graph graph = zoo::make("toy_mlp");
  for (const auto id : graph.order()) copy->op_us(graph, id);
  server.publish();
  while (received.size() < 1 + copy->size()) receive_costs(next_costs(second), received);
  for (const auto& row : copy->entries()) EXPECT_EQ(received.find(row.signature)->us, row.measured.us);
}

// The first question is answered after its timeout, next to the second one: neither answer serves the other question.
TEST(CostServer, ALateAnswerServesNoOtherQuestion) {
  const auto table =
      std::make_shared<cost::TableCost>(kOrigin, [](const graph::Graph& graph, graph::NodeId id) -> cost::Measured {
        return {static_cast<double>(cost::signature(graph, id).size()), 0, 1};
      });
  const auto comms = comm::local_comms(2);
  comm::Mailbox rank0(*comms[0]), box(*comms[1]);
  CostServer server(table, rank0, {1});
  bool answering = false;
  const auto client =
      std::make_shared<CostClient>(box, AskOptions{.timeout_s = 30, .should_stop = [&] {
                                                     if (!answering) return true;
                                                     while (const auto request = rank0.take(comm::Tag::cost_request))
                                                       server.answer(*request);
                                                     return false;
                                                   }});
  const auto copy = remote_table(kOrigin, client);
  const graph::Graph graph = zoo::make("toy_conv");
  std::vector<std::string> signatures;
  for (const auto id : graph.order()) {
    const std::string signature = cost::signature(graph, id);
    if (graph.node(id).inputs.empty() || std::ranges::count(signatures, signature) > 0) continue;
    if (signatures.empty()) {
      EXPECT_THROW(copy->op_us(graph, id), Error);
      answering = true;
    } else {
      EXPECT_EQ(copy->op_us(graph, id), static_cast<double>(signature.size()));
    }
    signatures.push_back(signature);
  }
  EXPECT_GT(signatures.size(), 2u);
  EXPECT_EQ(copy->find(signatures[0]), nullptr);
}

TEST(CostServer, WhoWaitsGivesSignsOfLife) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox rank0(*comms[0]), box(*comms[1]);
  const graph::Graph graph = zoo::make("toy_mlp");
  int beats = 0;
  const auto count = [&] {
    while (rank0.take(comm::Tag::heartbeat)) ++beats;
    return beats >= 3;
  };
  const auto copy = remote_table(
      kOrigin,
      std::make_shared<CostClient>(box, AskOptions{.timeout_s = 30, .heartbeat_s = 0.001, .should_stop = count}));
  EXPECT_THROW(for (const auto id : graph.order()) copy->op_us(graph, id), Error);
  EXPECT_EQ(beats, 3);
}

TEST(CostServer, ASilentRank0AndAStopAreErrors) {
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
  EXPECT_THAT(ask(remote_table(kOrigin, std::make_shared<CostClient>(box, AskOptions{.timeout_s = 0.01}))),
              HasSubstr("silent"));
  EXPECT_THAT(ask(remote_table(kOrigin, std::make_shared<CostClient>(
                                            box, AskOptions{.timeout_s = 30, .should_stop = [] { return true; }}))),
              HasSubstr("stopped"));
}

}  // namespace
}  // namespace rlgo::learner
