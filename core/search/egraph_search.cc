// Equality saturation as TENSAT does it (Yang et al. 2021): all rewrites at once in an e-graph, rules with several
// roots for the first rounds only, then extraction, greedily and by an integer program.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/rules/compiled.h"
#include "core/search/context.h"
#include "core/search/egraph_match.h"
#include "core/search/extract.h"

namespace rlgo::search {
namespace {

bool has_several_roots(const rules::CompiledRule& rule) {
  std::set<int32_t> roots;
  for (const auto& replacement : rule.replacements) roots.insert(replacement.left);
  return roots.size() > 1;
}

class Saturation {
 public:
  Saturation(const Problem& problem, const Options& options, Counters& counters)
      : problem_(problem), options_(options), counters_(counters), egraph_(problem.graph), clock_(options.cpu_time) {}

  // Applies all matches of all rules, again and again. What ended it: no new e-node (finished), the bound on e-nodes or
  // matches (budget), stop() or the time (stopped).
  StopReason run(double seconds) {
    seconds_ = seconds;
    reason_ = StopReason::finished;
    while (true) {
      const size_t nodes = egraph_.size(), classes = egraph_.classes().size();
      for (const auto& recipe : matches()) egraph_.apply(*recipe);
      egraph_.rebuild();
      ++rounds_;
      const bool changed = egraph_.size() != nodes || egraph_.classes().size() != classes;
      if (reason_ != StopReason::finished || !changed) break;
    }
    return reason_;
  }
  const EGraph& egraph() const { return egraph_; }
  int rounds() const { return rounds_; }

 private:
  std::vector<std::shared_ptr<const rules::Recipe>> matches() {
    std::vector<std::shared_ptr<const rules::Recipe>> recipes;
    size_t planned = egraph_.size();
    for (int r = 0; r < problem_.rules->size() && reason_ == StopReason::finished; ++r) {
      const rules::CompiledRule& rule = problem_.rules->rule(r);
      if (rounds_ >= options_.egraph_rounds && has_several_roots(rule)) continue;
      EMatcher matcher(
          rule, egraph_,
          [&](uint64_t place, const rules::Plan& plan) {
            seen_.insert(place);
            ++counters_.candidates;
            planned += plan.nodes.size();
            recipes.push_back(rules::make_recipe(plan, egraph_.graph()));
            if (planned >= static_cast<size_t>(options_.egraph_nodes) || counters_.candidates >= options_.budget)
              reason_ = StopReason::budget;
            return reason_ != StopReason::finished;
          },
          [&](uint64_t place) {
            if (must_end()) return false;
            if (!seen_.contains(place)) return true;
            ++counters_.duplicates;
            return false;
          });
      for (const graph::NodeId id : egraph_.nodes()) {
        if (egraph_.graph().node(id).op() != rule.left[0].op) continue;
        if (!matcher.at(id) || reason_ != StopReason::finished) break;
      }
    }
    return recipes;
  }

  bool must_end() {
    if (reason_ == StopReason::finished && ((options_.stop && options_.stop()) || clock_.seconds() > seconds_))
      reason_ = StopReason::stopped;
    return reason_ != StopReason::finished;
  }

  const Problem& problem_;
  const Options& options_;
  Counters& counters_;
  EGraph egraph_;
  SearchClock clock_;
  double seconds_ = 0;
  StopReason reason_ = StopReason::finished;
  std::unordered_set<uint64_t> seen_;  // places of matches that were applied
  int rounds_ = 0;
};

// Fraction of the time that saturation may take; the solver gets the rest.
constexpr double kSaturating = 0.4;

class EGraphSearch {
 public:
  EGraphSearch(const Problem& problem, const Options& options)
      : problem_(problem), options_(options), clock_(options.cpu_time) {
    if (!problem.cost.is_local())
      fail("search: egraph needs costs of single operators; {} prices groups of them", problem.cost.name());
    result_.graph = problem.graph;
    result_.before_us = result_.after_us = cost::graph_cost(problem.cost, problem.graph).runtime_us;
    result_.curve.push_back({0, 0, result_.before_us});
  }

  Result run() {
    Saturation saturation(problem_, options_, result_.counters);
    result_.reason = saturation.run(kSaturating * options_.egraph_seconds);
    const Extraction extraction(saturation.egraph(), problem_.graph, problem_.cost);
    Choice best = extraction.oldest();
    keep(extraction, best);
    offer(extraction, best, extraction.greedy());
    const double greedy_us = extraction.cost_us(best);
    offer(extraction, best, extraction.improved(extraction.oldest()));
    offer(extraction, best, extraction.improved(extraction.greedy()));
    const double left = std::max(1.0, options_.egraph_seconds - clock_.seconds());
    const auto solved = extraction.solve(best, left);
    if (solved) offer(extraction, best, solved->choice);
    result_.bound_us = solved ? std::min(solved->bound_us, result_.after_us) : 0;
    result_.optimal = solved && solved->optimal;
    describe(saturation, extraction, greedy_us);
    result_.seconds = clock_.seconds();
    return std::move(result_);
  }

 private:
  void offer(const Extraction& extraction, Choice& best, Choice choice) {
    if (extraction.cost_us(choice) >= extraction.cost_us(best)) return;
    best = std::move(choice);
    keep(extraction, best);
  }

  void keep(const Extraction& extraction, const Choice& best) {
    graph::Graph graph = extraction.build(best);
    // Equal operators become one, so a graph may cost less than its choice.
    const double us = cost::graph_cost(problem_.cost, graph).runtime_us;
    if (us >= result_.after_us - 1e-9 * result_.before_us) return;
    result_.graph = std::move(graph);
    result_.after_us = us;
    result_.traced = false;
    result_.curve.push_back({clock_.seconds(), result_.counters.candidates, us});
  }

  void describe(const Saturation& saturation, const Extraction& extraction, double greedy_us) {
    const EGraph& egraph = saturation.egraph();
    const auto percent = [&](double us) { return result_.before_us > 0 ? 100 * (us / result_.before_us - 1) : 0.0; };
    result_.note = fmt::format(
        "{} e-nodes after {} rounds ({}), {} left out for cycles, rules of several roots in the first {}; greedy "
        "extraction {:.2f} %; {} {:.2f} % over {} e-nodes that may be better",
        egraph.nodes().size(), saturation.rounds(),
        result_.reason == StopReason::finished ? "saturated" : "not saturated", egraph.left_out(),
        options_.egraph_rounds, percent(greedy_us), result_.optimal ? "proved optimum" : "lower bound",
        percent(result_.bound_us), extraction.candidates());
  }

  const Problem& problem_;
  const Options& options_;
  SearchClock clock_;
  Result result_;
};

}  // namespace

Result egraph(const Problem& problem, const Options& options) { return EGraphSearch(problem, options).run(); }

}  // namespace rlgo::search
