// The cost server: rank 0 owns the device and the table of measured costs; the other ranks ask it for what they lack,
// so that a run has one value per operator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/comm/mailbox.h"
#include "core/cost/table.h"
#include "core/measure/group_cost.h"
#include "core/optimise/prices.h"

namespace rlgo::learner {

// Rank 0. Answers questions out of `table` (which measures what it does not have) and informs the other actors of new
// rows.
class CostServer {
 public:
  // `table`: null where costs are not measured. `actors`: ranks that hold a copy of the table. `groups`: where groups
  // of operators are priced instead of operators, what prices them into the same table; else null. `timed_under`: what
  // rank 0 times whole graphs under, where rewards do; else "".
  CostServer(std::shared_ptr<cost::TableCost> table, comm::Mailbox& mailbox, std::vector<int> actors,
             std::shared_ptr<measure::GroupCost> groups = nullptr, std::string timed_under = "");
  // Answers one cost_request: all its questions in one message that carries the request's number. An operator or group
  // that cannot be measured is answered with its signature and the reason.
  void answer(const comm::Incoming& request);
  // Sends all rows that came since the last call (at first: all of them, even if none) to every actor. The first such
  // message informs the actors that rank 0 has read model, rules and options without an error: they wait for it.
  void publish();

 private:
  cost::Measured price(const std::string& signature, const std::string& graph);

  std::shared_ptr<cost::TableCost> table_;
  std::shared_ptr<measure::GroupCost> groups_;
  comm::Mailbox& mailbox_;
  std::vector<int> actors_;
  std::string timed_under_;
  size_t published_ = 0;
  bool started_ = false;
};

// How an actor asks.
struct AskOptions {
  double timeout_s = 120;  // for an answer
  double heartbeat_s = 1;  // to rank 0 while it waits: who waits is no dead actor
  std::function<bool()> should_stop = [] { return false; };
};
struct CostAnswer {
  std::string signature, error;  // error "": none
  cost::Measured measured;
};
// What an actor asks through: one of them for each mailbox. Requests are numbered and answers carry the number, so that
// one that comes after its timeout serves no other question; it is dropped.
class CostClient {
 public:
  CostClient(comm::Mailbox& mailbox, AskOptions options) : mailbox_(mailbox), options_(std::move(options)) {}
  // An operator or a group, by its signature and its graph as text.
  struct Question {
    std::string signature, graph;
  };
  // One message with all the questions; sleeps until rank 0 has answered. Throws Error where rank 0 cannot price one of
  // them, is silent for timeout_s, or should_stop reports so.
  std::vector<cost::Measured> ask(std::span<const Question> questions, bool groups);

 private:
  std::vector<CostAnswer> wait_for_answers();

  comm::Mailbox& mailbox_;
  AskOptions options_;
  uint64_t number_ = 0;  // of the last request
};

// An actor's copy of the table: what it lacks is asked for; an Error of CostClient::ask costs the episode.
std::shared_ptr<cost::TableCost> remote_table(cost::TableOrigin origin, std::shared_ptr<CostClient> client);
// An actor's prices of groups: `table` is its copy. Groups that are wanted at once are one message.
std::shared_ptr<measure::GroupCost> remote_groups(std::shared_ptr<cost::TableCost> table,
                                                  std::shared_ptr<CostClient> client);
// The two, as a run's prices. `first`: rank 0's first costs. `external`: groups are priced, not operators.
optimise::Prices remote_prices(comm::Mailbox& mailbox, AskOptions options, const std::string& host,
                               const comm::Incoming& first, bool external);
// What rank 0 times whole graphs under, by a `costs` message; "": it does not.
std::string timed_under(const comm::Incoming& message);
// Rows of a `costs` message into the table.
void receive_costs(const comm::Incoming& message, cost::TableCost& table);

}  // namespace rlgo::learner
