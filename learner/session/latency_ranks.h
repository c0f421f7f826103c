// Other ranks work for the agent of learned latencies (latency_agent.h), which is rank 0: some time graphs, each on a
// core of its own, the others search by costs that are drawn from what is known. Graphs travel as traces.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/stopwatch.h"
#include "core/comm/mailbox.h"
#include "core/cost/cost.h"
#include "core/cost/residual.h"
#include "core/cost/whole_timing.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"
#include "core/search/search.h"
#include "learner/session/cost_server.h"

namespace rlgo::learner {

struct LatencyRoles {
  std::vector<int> timers, searchers;  // ranks, in order; rank 0 is neither
  bool times(int rank) const;
};
// `timers`: of all hosts together, < ranks; 0: one for each 16 ranks, at least one. They are dealt to the hosts in
// turns, the highest rank of a host first. `nodes`: Comm::nodes().
LatencyRoles latency_roles(std::span<const int> nodes, int timers);
// The cores that a rank keeps to, of those it has: a timer one that no other rank of its host keeps. Empty: all of
// them, where there are too few, or the launcher bound the rank to one.
std::vector<int> cores_of(const LatencyRoles& roles, std::span<const int> nodes, int rank,
                          const std::vector<int>& cores);

// Keeps this rank to them, before anything starts.
void keep_cores(std::span<const int> nodes, int timers, int rank);

// How a rank and rank 0 notice each other.
struct LatencyPatience {
  double silence_s = 120;  // without a sign, after which the other is thought dead
  double heartbeat_s = 1;
  std::function<bool()> should_stop = [] { return false; };
};

// Rank 0's side.
class LatencyRanks {
 public:
  // `answers`: cost requests of those that search.
  LatencyRanks(comm::Mailbox& mailbox, LatencyRoles roles, LatencyPatience patience,
               std::function<void(const comm::Incoming&)> answers);

  // Lets a timer begin with a graph that time() is going to ask for. A graph stays with its timer.
  void begin(uint64_t graph, const rules::Trace& trace, double against);
  // See cost::WholeTimer; waits. A timer that dies is a failure.
  cost::WholeTiming time(uint64_t graph, const rules::Trace& trace, double against);
  // What searches follow from now on, and where half of them begin.
  void send_examples(const std::vector<cost::ResidualExample>& examples, const rules::Trace& fastest);
  // What was found since the last call.
  std::vector<rules::Trace> found();
  // Takes what has arrived; call it often.
  void tend();
  bool any_timer() const { return timers_.size() > lost_.size(); }
  // Ends the others. False where one was lost: it will not come to the end of the job.
  bool stop();
  const LatencyRoles& roles() const { return roles_; }

 private:
  struct Task {
    int rank = 0;
    uint64_t number = 0;  // of the question that is under way; 0: none is
    bool ready = false;   // `answer` is there, and was not fetched
    cost::WholeTiming answer;
  };
  int least_busy() const;
  size_t tasks_of(int rank) const;
  void lose_silent();
  void take(const comm::Incoming& message);

  comm::Mailbox& mailbox_;
  const LatencyRoles roles_;
  const LatencyPatience patience_;
  const std::function<void(const comm::Incoming&)> answers_;
  std::map<int, Stopwatch> timers_;  // since each was heard
  std::set<int> lost_;               // of them
  std::map<uint64_t, Task> tasks_;   // by graph
  std::vector<rules::Trace> found_;
  uint64_t number_ = 0;
  Stopwatch since_sign_;
};

// Lets the others begin. `prices`: answers those that search.
std::unique_ptr<LatencyRanks> lead_latency_ranks(comm::Mailbox& mailbox, LatencyRoles roles, LatencyPatience patience,
                                                 CostServer& prices, const Log& log);

// Another rank's side: whether the run continues.
class LatencyLine {
 public:
  LatencyLine(comm::Mailbox& mailbox, LatencyPatience patience) : mailbox_(mailbox), patience_(std::move(patience)) {}
  // Gives a sign of life, too. Stays true.
  bool ended();
  comm::Mailbox& mailbox() { return mailbox_; }

 private:
  comm::Mailbox& mailbox_;
  LatencyPatience patience_;
  Stopwatch since_sign_, since_heard_;
  bool ended_ = false;
};

// Of a search by learned latencies, on rank 0 as on the ranks that search; `graphs`: matches that it may try.
constexpr int64_t kLaterGraphs = 20'000;  // once graphs are timed
search::Options latency_search(uint64_t seed, int max_locations, int64_t graphs, std::function<bool()> stop);

// Times what rank 0 asks for, until the end. `timer` is to ask line.ended() while it waits.
void time_for_rank_0(LatencyLine& line, const graph::Graph& unmodified,
                     const std::shared_ptr<const rules::RuleSet>& rules, const cost::WholeTimer& timer);
// Searches, and sends what it finds, until the end. Prices that are not known are estimated where they can be.
void search_for_rank_0(LatencyLine& line, const graph::Graph& unmodified,
                       const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& prices, uint64_t seed,
                       int max_locations);

}  // namespace rlgo::learner
