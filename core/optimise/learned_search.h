// Search by a learned cost of whole models: graphs are rewritten exactly, few of them are timed.
//
// What the searches found, neighbours of the best graph (rules left out, a rule more, beginnings of its rewrites), and
// what searches find by costs that are drawn from what is known (Thompson sampling) are offered; acquisition.h states
// which of these are timed next: one, or several by sequential halving, where only the faster half runs for more rounds
// (Karnin et al. 2013). The cost is fitted again after each such batch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/optimise/acquisition.h"
#include "core/optimise/learned_cost.h"
#include "core/optimise/timed_graphs.h"
#include "core/search/search.h"

namespace rlgo::optimise {

struct LearnedOptions {
  std::string data;              // file of timed graphs; "": next to the table of measured costs, where that is kept
  int graphs = 64;               // that are timed at most, >= 0
  int batch = 1;                 // that are timed against each other, >= 1; not an option
  std::string choice = "bound";  // which: "bound" (acquisition.h), or "all" in the order in which they are found
};
// Options learned.*.
void declare(OptionSink& sink, LearnedOptions& options);

// A rewritten graph that may be timed.
struct Proposal {
  std::string name;  // "sweep without fuse-x"
  graph::Graph graph;
  rules::Trace trace;  // from the unmodified graph
};

// A graph that was timed whole for the learned cost; all in fractions of the unmodified graph's.
struct LearnedGraph {
  std::string name;
  double sum = 0;                       // of prices
  double predicted = 0, deviation = 0;  // by the learned cost, before it was timed
  double ratio = 0;                     // time
};
// What it did.
struct LearnedSummary {
  size_t known = 0;                      // graphs of earlier calls that it began with
  std::vector<LearnedGraph> timed = {};  // in this order
  size_t failed = 0;                     // graphs that could not be timed
  std::string failure = {};              // why the last of them could not
  size_t best_at = 0;  // which of them was the fastest, from 1; 0: none was faster than the unmodified one
  // Root mean squares over `timed`: time - sum, and time - predicted, each predicted from all others. 0: too few.
  double sum_error = 0, residual_error = 0;
  std::string ended_by;
};

// "14 graphs timed (3 known from earlier calls), best found at 9; ...".
std::string to_text(const LearnedSummary& learned);

struct LearnedParts {
  const graph::Graph& unmodified;
  std::shared_ptr<const rules::RuleSet> rules;
  cost::CostModel& prices;
  // Searches on from a graph.
  std::function<search::Result(const std::string& method, const graph::Graph& from, cost::CostModel& cost,
                               double seconds)>
      search = {};
  // Latency of a graph to that of the unmodified one. `against`: the ratio that it is compared with; where a graph is
  // asked for again, what is known of it counts, and further rounds run only while it may be as fast. Throws Error
  // where it cannot be timed, and WriteError where there is no room to try.
  std::function<double(const graph::Graph&, double against)> time = {};
  std::function<double()> left_s = {};  // until this is to end
  // Where graphs are timed elsewhere, several at once: reported before time() is asked. May be empty.
  std::function<void(const Proposal&, double against)> ahead = {};
  std::function<std::vector<Proposal>()> found = {};  // by others, since the last call; may be empty
};

class LearnedSearch {  // see the top of the file
 public:
  // Refers to `kept`, whose graphs are known from the start and which gets those that are timed.
  LearnedSearch(LearnedParts parts, TimedGraphs& kept, const LearnedOptions& options, uint64_t seed);
  // False where the same graph was offered before, or is the unmodified one.
  bool offer(Proposal proposal);
  // Until nothing is left that is worth a measurement, options.graphs were timed, or time is over.
  void run();
  // Those that were timed, the fastest first: as many as `count`, none slower than the fastest by more than 5 %.
  std::vector<const Proposal*> fastest(size_t count) const;
  // The one with this graph (its hash); null where it was not offered.
  const Proposal* proposal(uint64_t graph) const;
  // Fraction of the unmodified graph's time that a graph took, or else is predicted to take.
  double predicted(const graph::Graph& graph, const rules::Trace& trace) const;
  LearnedSummary summary() const;

 private:
  bool over() const { return parts_.left_s() <= 0; }
  bool times_all() const { return options_.choice == "all"; }
  std::optional<size_t> next() const { return times_all() ? acquisition_.first() : acquisition_.next(); }
  // Graphs that are worth a measurement: options.batch of them, or fewer.
  std::vector<size_t> next_batch();
  void measure(const std::vector<size_t>& batch);
  // The time of a graph; nothing where it has none.
  std::optional<double> time_of(size_t graph, double against);
  void explore();
  void offer_neighbours(size_t graph);
  void offer_without_rules(const Proposal& best);
  void offer_one_rule_more(const Proposal& best);
  bool offer_found(const std::string& name, const rules::Trace& before, search::Result found);

  LearnedParts parts_;
  TimedGraphs& kept_;
  const LearnedOptions options_;
  const uint64_t seed_, model_;
  GraphFeatures features_;
  Acquisition acquisition_;
  std::vector<Proposal> proposals_;  // by acquisition_'s numbers
  std::vector<uint64_t> hashes_;     // of their graphs
  std::vector<double> sums_;
  std::set<uint64_t> seen_;  // graphs that were offered
  std::set<size_t> expanded_;
  std::vector<LearnedGraph> timed_;
  size_t failed_ = 0;    // could not be timed
  std::string failure_;  // why the last of them could not
  std::string ended_by_ = "time is over";
  size_t known_;
  uint64_t draws_ = 0;
  double timing_s_ = 0, exploring_s_ = 0;  // spent so far
};

}  // namespace rlgo::optimise
