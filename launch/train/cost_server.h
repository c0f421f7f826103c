// The cost oracle: rank 0 owns the device and the table of measured costs; the other ranks ask it for what they lack,
// so that a run has one value per operator.
#pragma once

#include <functional>
#include <memory>

#include "core/comm/mailbox.h"
#include "core/cost/table.h"
#include "core/measure/group_cost.h"

namespace rlgo::launch {

// Rank 0. Answers questions out of `table` (which measures what it does not have) and tells the other actors of new
// rows.
class CostOracle {
 public:
  // `table`: null where costs are not measured. `actors`: ranks that hold a copy of the table. `groups`: where groups
  // of operators are priced instead of operators, what prices them into the same table; else null.
  CostOracle(std::shared_ptr<cost::TableCost> table, comm::Mailbox& mailbox, std::vector<int> actors,
             std::shared_ptr<measure::GroupCost> groups = nullptr);
  // Answers one cost_request. An operator or group that cannot be measured is answered with the reason.
  void answer(const comm::Incoming& request);
  // Sends all rows that came since the last call (at first: all of them, even if none) to every actor. The first such
  // message tells the actors that rank 0 has read model, rules and options without an error: they wait for it.
  void publish();

 private:
  void answer_group(int source, const std::string& payload);

  std::shared_ptr<cost::TableCost> table_;
  std::shared_ptr<measure::GroupCost> groups_;
  comm::Mailbox& mailbox_;
  std::vector<int> actors_;
  size_t published_ = 0;
  bool started_ = false;
};

// An actor's copy of the table: asks rank 0 on a miss and sleeps until the answer is there. Throws Error (the episode
// is lost) where rank 0 cannot measure the operator, is silent for timeout_s, or `should_stop` says so.
std::shared_ptr<cost::TableCost> remote_table(cost::TableOrigin origin, comm::Mailbox& mailbox, double timeout_s,
                                              std::function<bool()> should_stop);
// An actor's prices of groups: `table` is its copy, of which rank 0 is asked what it lacks, as above.
std::shared_ptr<measure::GroupCost> remote_groups(std::shared_ptr<cost::TableCost> table, comm::Mailbox& mailbox,
                                                  double timeout_s, std::function<bool()> should_stop);
// Rows of a `costs` message into the table.
void receive_costs(const comm::Incoming& message, cost::TableCost& table);

}  // namespace rlgo::launch
