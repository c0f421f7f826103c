#include "core/optimise/candidates.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/write_error.h"

namespace rlgo::optimise {
namespace {

constexpr double kLeastSearchSeconds = 2;     // without timing, whatever the time
constexpr double kTimingFraction = 0.85;      // of the time for a search: then it continues with what is known
constexpr double kTrainTimingFraction = 0.3;  // the same for an agent, which tries all kinds of rewrites at first
constexpr double kFound = 0.99;  // times the cost of the model: what is not below it is not expected to be faster

const char* words_of(By by) {
  if (by == By::timed) return "";
  return by == By::learned ? " (by learned prices)" : " (by formula)";
}

// What comparisons showed of the model without rules' rewrites where it differs from its file (quantised.h); 0:
// nothing.
double ratio_of(const LoadedModel& model, const Result& result) {
  double ratio = model.source.quantised.empty() ? 0 : 1;
  for (const QuantisedTrial& trial : result.quantised)
    if (trial.taken()) ratio = std::min(ratio, trial.ratio);
  return ratio;
}

}  // namespace

std::vector<std::string> methods_behind(const std::string& method) {
  std::vector<std::string> methods = {method};
  if (method == "sweep") methods.clear();  // made in any case
  if (method == "search") methods = {"portfolio"};
  if (method == "train") methods = {"portfolio", "train"};
  return methods;
}

search::Result Candidates::found_by(const std::string& method, const search::Problem& problem,
                                    const search::Options& options) {
  if (method != "train") return search::run(method, problem, options);
  std::vector<rules::Trace> ways;
  for (const Candidate& candidate : result_.candidates) {
    if (!candidate.trace.empty()) ways.push_back(candidate.trace);
  }
  return parts_->train(problem, options, ways);
}

search::Result Candidates::run(const std::string& method, const graph::Graph& from,
                               const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost,
                               double until_s, std::string from_name) {
  search::Options options;
  options.budget = options_.budget;
  options.seed = options_.seed;
  options.max_locations = options_.max_locations;
  options.memory_mib = 2048;
  options.together = true;
  int64_t asked = 0;
  options.stop = [&] {
    if (++asked % 64 == 0) clock_.show();
    return clock_.over(until_s);
  };
  options.progress = [&](const search::Counters& counters, double best_us) {
    clock_.graphs(counters.candidates);
    if (&cost == &cost_) clock_.costs(result_.before_us, best_us);
    clock_.show();
  };
  SearchRun done;
  done.method = method;
  done.from = std::move(from_name);
  done.begin_s = clock_.passed();
  const double fraction = method == "train" ? kTrainTimingFraction : kTimingFraction;
  timing_s_ = done.begin_s + fraction * std::max(0.0, until_s - done.begin_s);
  auto result = found_by(method, {from, rules, cost}, options);
  done.seconds = result.seconds;
  done.before_us = result.before_us;
  done.after_us = result.after_us;
  done.counters = result.counters;
  done.reason = result.reason;
  done.curve = result.curve;
  result_.searches.push_back(std::move(done));
  return result;
}

bool Candidates::add(Candidate candidate) {
  const uint64_t hash = candidate.graph.hash();
  for (const Candidate& other : result_.candidates) {
    if (other.graph.hash() == hash) return false;
  }
  candidate.cost_us = cost_of(cost_, candidate.graph);
  candidate.file = folder_ / fmt::format("candidate-{}.onnx", result_.candidates.size());
  try {
    candidate.normalised = export_model(model_, candidate.graph, candidate.file);
  } catch (const WriteError& e) {
    fail("{}; rlgo tries models there: make room, or set TMPDIR to another folder", e.what());
  } catch (const Error& e) {
    candidate.error = e.what();
    candidate.file.clear();
    log_.warn("'{}' cannot be written: {}", candidate.name, e.what());
  }
  result_.candidates.push_back(std::move(candidate));
  return true;
}

rules::Trace Candidates::in_result_rules(const rules::Trace& trace, const rules::RuleSet& rules) const {
  if (&rules == result_.rules.get()) return trace;
  const auto names = result_.rules->names();
  rules::Trace out;
  for (const auto& step : trace) {
    const auto at = std::find(names.begin(), names.end(), rules.name(step.rule));
    out.push_back({static_cast<int32_t>(at - names.begin()), step.location});
  }
  return out;
}

cost::CostModel& Candidates::costs_of(By by) {
  if (by == By::timed) return cost_;
  return by == By::learned ? *predicted_ : analytic_;
}

Candidate Candidates::searched(const std::string& method, const Candidate& from, By by,
                               const std::shared_ptr<const rules::RuleSet>& rules, double until_s) {
  const auto some = rules_for(by, rules);
  const auto found = run(method, from.graph, some, costs_of(by), until_s, from.name + words_of(by));
  Candidate out{.name = from.name, .graph = found.graph, .trace = from.trace, .stages = from.stages};
  for (const auto& step : in_result_rules(found.trace, *some)) out.trace.push_back(step);
  out.stages.push_back({method, by});
  return out;
}

void Candidates::search() {
  // Without timing first: near the end of that there are far fewer groups of operators to time than near the model.
  const bool measured = cost_.name() != analytic_.name();
  // Reading a large model on a busy machine may have taken all the time: a result is worth two seconds more.
  const double least_s = clock_.passed() + kLeastSearchSeconds;
  size_t from = 0;
  if (measured) {
    clock_.phase("searching", "search (without timing)");
    auto kinds = untimed_kinds(std::max(plan_.search_s, least_s));
    timing_s_ = 0;  // whole models first
    const double begin_s = clock_.passed();
    add({.name = "no rewrites", .graph = model_.graph, .ratio = ratio_of(model_, result_)});
    if (predicted_ != nullptr) leave_out_slight(kinds, model_.graph, *predicted_, clock_.passed() - begin_s, kinds_s());
    for (Candidate& kind : kinds) add(std::move(kind));
    compare_kinds(1);
    from = kind_to_refine();
  }
  clock_.phase("timing operators", "timing operators");
  timing_s_ = plan_.timing_s;
  result_.before_us = cost_of(cost_, model_.graph);
  if (!measured) add({.name = "no rewrites", .graph = model_.graph, .ratio = ratio_of(model_, result_)});
  const size_t first = result_.candidates.size();
  go_on("sweep", from, measured ? plan_.sweep_s : std::max(plan_.sweep_s, least_s));
  if (from != 0) go_on("sweep", 0, plan_.sweeps_s);
  if (measured && predicted_ == nullptr) compare_kinds(first);  // the first that may use Winograd's form
  // What a sweep without timing did may be in the way of what measured costs would do: the method gets the better of
  // both.
  search_further(plan_.search_s);
  search_late();
}

void Candidates::search_late() {
  const auto found = [&] { return result_.candidates[cheapest()].cost_us < kFound * result_.before_us; };
  if (!found()) go_on("sweep", 0, plan_.late_s);
  if (!found()) search_further(plan_.late_s);
}

size_t Candidates::cheapest() {
  price_alike(cost_, result_);
  size_t best = 0;
  for (size_t k = 1; k < result_.candidates.size(); ++k) {
    if (!is_behind(k) && result_.candidates[k].cost_us < result_.candidates[best].cost_us) best = k;
  }
  return best;
}

void Candidates::search_further(double until_s) {
  const auto methods = methods_behind(options_.method);
  for (size_t k = 0; k < methods.size(); ++k)
    go_on(methods[k], methods[k] == "train" ? 0 : cheapest(),
          clock_.passed() + (until_s - clock_.passed()) / static_cast<double>(methods.size() - k));
}

void Candidates::go_on(const std::string& method, size_t from, double until_s) {
  if (clock_.over(until_s)) return;
  clock_.phase("searching", fmt::format("search ({})", method));
  Candidate start = result_.candidates[from];
  if (from == 0) start.name = "the model";
  Candidate found = searched(method, start, By::timed, allowed(), until_s);
  if (found.trace.size() == start.trace.size()) return;
  found.name = from == 0 ? method : start.name + ", then " + method;
  add(std::move(found));
}

}  // namespace rlgo::optimise
