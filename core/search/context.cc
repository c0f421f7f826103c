#include "core/search/context.h"

#include <algorithm>
#include <exception>
#include <thread>

namespace rlgo::search {
namespace {

// Rewrites whose prices are looked up, though time is over, after all of it went to timing: some ten milliseconds.
constexpr size_t kKnownAtOnce = 500;

}  // namespace

Context::Context(const Problem& problem, const Options& options)
    : problem_(problem), options_(options), shared_{problem.cost, {}}, clock_(options.cpu_time) {
  for (int k = 0; k < options.threads; ++k) costs_.emplace_back(shared_);
  result_.graph = problem.graph;
  result_.before_us = cost::graph_cost(costs_[0], problem.graph).runtime_us;
  result_.after_us = result_.before_us;
  result_.curve.push_back({0.0, 0, result_.before_us});
}

StatePtr Context::start() {
  if (!start_) {
    start_ = std::make_shared<const State>(State{problem_.graph,
                                                 rules::MatchIndex(problem_.rules, problem_.graph, options_.stop),
                                                 graph::NameHash(problem_.graph), result_.before_us, 0, nullptr});
  }
  return start_;
}

bool Context::may_continue() {
  if (budget_left() <= 0) {
    result_.reason = StopReason::budget;
    return false;
  }
  if (options_.stop && options_.stop()) {
    result_.reason = StopReason::stopped;
    return false;
  }
  return true;
}

// States are claimed one by one by whichever thread is free; what is done for one depends on the state alone.
struct Context::Job {
  Job(std::span<const StatePtr> from, std::span<const std::vector<rules::Rewrite>> steps)
      : states(from), tried(steps) {}
  std::span<const StatePtr> states;
  std::span<const std::vector<rules::Rewrite>> tried;
  std::vector<size_t> allowed;  // of tried[k]: what the budget pays for
  std::vector<std::vector<Child>> children;
  std::atomic<size_t> next = 0;
  std::atomic<bool> stopped = false;
  bool known_only = false;  // children whose price is an estimate are left out; one thread
  std::mutex mutex;
  std::exception_ptr error;
};

void Context::work(Job& job, cost::CostModel& cost, bool asks) {
  try {
    for (size_t k = job.next++; k < job.states.size(); k = job.next++) {
      Evaluator evaluate(*job.states[k], cost);
      for (size_t i = 0; i < job.allowed[k]; ++i) {
        const bool at_once = job.known_only && i < kKnownAtOnce;
        if (asks && !at_once && options_.stop && options_.stop()) job.stopped = true;
        if (job.stopped) return;
        const size_t estimates = job.known_only ? problem_.cost.deferred() : 0;
        const Child child = evaluate(job.tried[k][i]);
        if (job.known_only && problem_.cost.deferred() > estimates) continue;
        job.children[k].push_back(child);
      }
    }
  } catch (...) {
    job.stopped = true;
    const std::lock_guard lock(job.mutex);
    if (!job.error) job.error = std::current_exception();
  }
}

void Context::work_all(Job& job) {
  job.next = 0;
  job.children.assign(job.states.size(), {});
  {
    std::vector<std::jthread> others;
    const size_t threads = job.known_only ? 1 : std::min(costs_.size(), job.states.size());
    for (size_t k = 1; k < threads; ++k) others.emplace_back([&, k] { work(job, costs_[k], false); });
    work(job, costs_[0], true);
  }
  if (job.error) std::rethrow_exception(job.error);
}

// Where prices are measured on demand: first what is asked for, then, all of it being known, the prices. What could not
// be measured is left out.
void Context::evaluate_all(Job& job) {
  bool known = false;
  while (!known) {
    const bool gathers = problem_.cost.defer();
    work_all(job);
    known = !gathers || problem_.cost.deferred() == 0;
    if (!gathers || problem_.cost.flush()) continue;
    job.known_only = problem_.cost.defer();
    work_all(job);
    problem_.cost.flush();
    known = true;
  }
}

std::vector<std::vector<Child>> Context::evaluate(std::span<const StatePtr> states,
                                                  std::span<const std::vector<rules::Rewrite>> tried) {
  Job job(states, tried);
  int64_t left = budget_left();
  bool short_of_budget = false;
  for (const auto& steps : tried) {
    const auto count = std::min<int64_t>(left, static_cast<int64_t>(steps.size()));
    short_of_budget |= count < static_cast<int64_t>(steps.size());
    job.allowed.push_back(static_cast<size_t>(count));
    left -= count;
  }
  evaluate_all(job);
  for (const auto& children : job.children) result_.counters.candidates += static_cast<int64_t>(children.size());
  if (short_of_budget) result_.reason = StopReason::budget;
  if (job.stopped) result_.reason = StopReason::stopped;
  if (options_.progress) options_.progress(result_.counters, result_.after_us);
  return std::move(job.children);
}

std::vector<Child> Context::evaluate(const StatePtr& state) {
  const std::vector<rules::Rewrite> steps = state->steps(options_.max_locations);
  return std::move(evaluate({&state, 1}, {&steps, 1})[0]);
}

std::optional<Child> Context::evaluate_known(const StatePtr& state, const rules::Rewrite& step) {
  ++result_.counters.candidates;
  const size_t before = problem_.cost.deferred();
  const Child child = Evaluator(*state, costs_[0])(step);
  if (problem_.cost.deferred() > before) return std::nullopt;
  return child;
}

StatePtr Context::build(const State& from, const rules::Rewrite& step) {
  auto state = follow(from, step, costs_[0]);
  return state ? std::make_shared<const State>(std::move(*state)) : nullptr;
}

void Context::offer(const State& state) {
  if (!improves(state.cost_us)) return;
  result_.graph = state.graph;
  result_.after_us = state.cost_us;
  result_.trace = to_trace(state.trail.get());
  result_.curve.push_back({clock_.seconds(), result_.counters.candidates, state.cost_us});
}

void Context::offer(const Walk::Mark& mark) {
  offer(State{mark.graph, mark.index, mark.hash, mark.cost_us, mark.depth, mark.trail});
}

double Context::unit_us() const {
  return result_.before_us / static_cast<double>(1 + cost::priced_operators(problem_.graph)) + tolerance_us();
}

Result Context::finish() {
  // The sum of many differences: replaced by the cost of the graph itself.
  result_.after_us = cost::graph_cost(costs_[0], result_.graph).runtime_us;
  result_.seconds = clock_.seconds();
  return std::move(result_);
}

}  // namespace rlgo::search
