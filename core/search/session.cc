#include "core/search/session.h"

namespace rlgo::search {

Session::Session(const Problem& problem, const Options& options) : problem_(problem), options_(options) {
  result_.graph = problem.graph;
  result_.before_us = cost::graph_cost(problem.cost, problem.graph).runtime_us;
  result_.after_us = result_.before_us;
  result_.curve.push_back({0.0, 0, result_.before_us});
}

bool Session::may_continue() {
  if (result_.counters.candidates + result_.counters.refused >= options_.budget) {
    result_.reason = StopReason::budget;
    return false;
  }
  if (options_.stop && options_.stop()) {
    result_.reason = StopReason::stopped;
    return false;
  }
  return true;
}

std::optional<Session::Candidate> Session::price(const graph::Graph& from, const rules::Match& match) {
  auto rewrite = rules::apply(*problem_.rules, match, from);
  if (!rewrite) {
    ++result_.counters.refused;
    return std::nullopt;
  }
  ++result_.counters.candidates;
  const double delta = cost::delta_us(problem_.cost, from, rewrite->graph, rewrite->delta);
  return Candidate{std::move(*rewrite), delta};
}

void Session::offer(const graph::Graph& graph, double cost_us, const Trace& trace) {
  if (cost_us >= result_.after_us - tolerance_us()) return;
  result_.graph = graph;
  result_.after_us = cost_us;
  result_.trace = trace;
  result_.curve.push_back({watch_.seconds(), result_.counters.candidates, cost_us});
}

Result Session::finish() {
  // The sum of many differences: replaced by the cost of the graph itself.
  result_.after_us = cost::graph_cost(problem_.cost, result_.graph).runtime_us;
  result_.seconds = watch_.seconds();
  return std::move(result_);
}

}  // namespace rlgo::search
