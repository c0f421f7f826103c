#include "core/optimise/candidates.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/write_error.h"
#include "core/rules/compiled.h"
#include "core/zoo/zoo.h"

namespace rlgo::optimise {
namespace {

constexpr double kLeastSearchSeconds = 2;  // by formula, whatever the time
constexpr double kTimingShare = 0.85;      // of the time for a search: then it goes on with what is known
constexpr double kTrainTimingShare = 0.3;  // the same for an agent, which tries all kinds of rewrites at first
constexpr int kMostRounds = 15, kLeastRounds = 5;
constexpr size_t kMostLeftOut = 8;                        // rules tried in one comparison
constexpr int64_t kMostComparedBytes = int64_t{4} << 30;  // of model files that are loaded side by side
constexpr double kCompareShare = 0.4;                     // of the time that is left, for one comparison
constexpr double kWithoutShare = 0.25;                    // of the time that is left, for searching without a rule
constexpr double kFound = 0.99;       // times the cost of the model: what is not below it is not expected to be faster
constexpr double kPromising = 0.998;  // to the best so far: a rule that may be better left out

// Convolutions by fewer multiplications: whether they pay, only times tell, of whole models better than of the many
// small operators that they are made of.
bool is_winograd(const rules::RuleSet& rules, int32_t rule) {
  const auto& tags = rules.rule(rule).text.tags;
  return std::ranges::find(tags, "winograd") != tags.end();
}

// Those that a count of operations may judge.
std::shared_ptr<const rules::RuleSet> for_formula(const std::shared_ptr<const rules::RuleSet>& rules) {
  std::vector<std::string> names;
  for (int r = 0; r < rules->size(); ++r) {
    if (!is_winograd(*rules, r)) names.push_back(rules->name(r));
  }
  return names.empty() || static_cast<int>(names.size()) == rules->size() ? rules : rules->subset(names);
}

rules::Trace joined(rules::Trace first, const rules::Trace& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

std::vector<int32_t> rules_by_use(const rules::Trace& trace) {
  std::map<int32_t, int> counts;
  for (const auto& step : trace) ++counts[step.rule];
  std::vector<std::pair<int, int32_t>> order;
  for (const auto& [rule, count] : counts) order.emplace_back(-count, rule);
  std::sort(order.begin(), order.end());
  std::vector<int32_t> out;
  for (const auto& [count, rule] : order) out.push_back(rule);
  return out;
}

std::vector<std::string> methods_behind(const std::string& method, bool has_agent) {
  std::vector<std::string> methods = {method};
  if (method == "sweep") methods.clear();  // made in any case
  if (method == "search" || method == "auto" || method == "policy" || method == "learned") methods = {"portfolio"};
  if (method == "train") methods = {"portfolio", "train"};
  if (has_agent && method == "auto") methods.emplace_back("policy-anneal");
  if (has_agent && method == "policy") methods = {"policy-anneal"};
  return methods;
}

search::Result Candidates::run(const std::string& method, const graph::Graph& from,
                               const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost,
                               double until_s, std::string from_name) {
  search::Options options;
  options.budget = options_.budget;
  options.seed = options_.seed;
  options.max_locations = options_.max_locations;
  options.memory_mib = 2048;
  options.prior = prior_;
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
  const double share = method == "train" ? kTrainTimingShare : kTimingShare;
  timing_s_ = done.begin_s + share * std::max(0.0, until_s - done.begin_s);
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
  const auto names = result_.rules->names();
  rules::Trace out;
  for (const auto& step : trace) {
    const auto at = std::find(names.begin(), names.end(), rules.name(step.rule));
    out.push_back({static_cast<int32_t>(at - names.begin()), step.location});
  }
  return out;
}

void Candidates::search() {
  // By formula first: that takes no time, and near its end there are far fewer groups of operators to time than near
  // the model.
  const bool measured = cost_.name() != formula_.name();
  search::Result quick;
  // Reading a large model on a busy machine may have taken all the time: a result is worth two seconds more.
  const double least_s = clock_.passed() + kLeastSearchSeconds;
  if (measured) {
    const auto formula_rules = for_formula(result_.rules);
    clock_.phase("searching", "search (by formula)");
    quick = run("sweep", model_.graph, formula_rules, formula_, std::max(plan_.search_s, least_s),
                "the model (by formula)");
    quick.trace = in_result_rules(quick.trace, *formula_rules);
  }
  clock_.phase("timing operators", "timing operators");
  timing_s_ = plan_.timing_s;
  result_.before_us = cost_of(cost_, model_.graph);
  add({.name = "no rewrites", .graph = model_.graph});
  const bool formula = measured && add({.name = "sweep by formula",
                                        .graph = std::move(quick.graph),
                                        .trace = std::move(quick.trace),
                                        .stages = {{"sweep", true}}});
  const size_t from = formula ? 1 : 0;
  go_on("sweep", from, measured ? plan_.sweep_s : std::max(plan_.sweep_s, least_s));
  if (from != 0) go_on("sweep", 0, plan_.sweeps_s);
  // What a sweep by formula did may be in the way of what measured costs would do: the method gets the better of both.
  if (timed_ != nullptr)
    search_and_learn();
  else
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
  const auto cost = [](const Candidate& candidate) { return candidate.cost_us; };
  return static_cast<size_t>(std::ranges::min_element(result_.candidates, {}, cost) - result_.candidates.begin());
}

void Candidates::search_further(double until_s) {
  const auto methods = methods_behind(options_.method, prior_ != nullptr);
  for (size_t k = 0; k < methods.size(); ++k)
    go_on(methods[k], methods[k] == "train" ? 0 : cheapest(),
          clock_.passed() + (until_s - clock_.passed()) / static_cast<double>(methods.size() - k));
}

void Candidates::go_on(const std::string& method, size_t from, double until_s) {
  if (clock_.over(until_s)) return;
  clock_.phase("searching", fmt::format("search ({})", method));
  const Candidate start = result_.candidates[from];
  const auto found = run(method, start.graph, result_.rules, cost_, until_s, from == 0 ? "the model" : start.name);
  if (found.trace.empty()) return;
  Candidate candidate{.name = from == 0 ? method : start.name + ", then " + method,
                      .graph = found.graph,
                      .trace = joined(start.trace, found.trace),
                      .stages = start.stages};
  candidate.stages.push_back({method, false});
  add(std::move(candidate));
}

size_t Candidates::places() const {
  const int64_t bytes = 4 * zoo::parameter_count(model_.graph) + 1;
  return static_cast<size_t>(std::clamp<int64_t>(kMostComparedBytes / bytes - 2, 1, kMostLeftOut + 1));
}

size_t Candidates::runners_in_time() const {
  const size_t models = benchmark_.pace().models(left(), kLeastRounds);
  return models > 2 ? models - 2 : 0;
}

std::vector<size_t> Candidates::heat(std::span<const size_t> runners, int rounds, double seconds) {
  std::vector<size_t> finished;
  for (size_t begin = 0; begin < runners.size() && !clock_.interrupted(); begin += places()) {
    const auto some = runners.subspan(begin, std::min(places(), runners.size() - begin));
    const double share = static_cast<double>(some.size()) / static_cast<double>(runners.size());
    if (!side_by_side(some, rounds, seconds * share)) continue;
    std::ranges::copy_if(some, std::back_inserter(finished), [&](size_t k) { return result_.candidates[k].ratio > 0; });
  }
  std::ranges::stable_sort(finished, {}, [&](size_t k) { return result_.candidates[k].ratio; });
  const double best = std::ranges::find(finished, result_.chosen) == finished.end() ? 1.0 : result_.best().ratio;
  for (const size_t k : finished) result_.candidates[k].to_best = result_.candidates[k].ratio / best;
  return finished;
}

bool Candidates::side_by_side(std::span<const size_t> runners, int rounds, double seconds) {
  std::vector<cost::RunnableModel> models;
  for (const size_t k : runners) models.push_back(result_.candidates[k].runnable());
  const auto result = benchmark_.compare(models, rounds, std::max(seconds, 1e-3), kLeastRounds);
  if (!result.error.empty()) {
    log_.warn("the comparison of {} models failed: {}", runners.size(), result.error);
    return false;
  }
  for (size_t k = 0; k < runners.size(); ++k) {
    Candidate& candidate = result_.candidates[runners[k]];
    candidate.error = result.models[k + 1].error;
    candidate.ratio = candidate.error.empty() ? result.ratio[k + 1] : 0;
    candidate.ratio_spread = result.ratio_spread[k + 1];
    candidate.doubt = margin_of(result, k + 1);
  }
  return true;
}

void rank_runners(std::span<const Candidate> candidates, size_t places, std::vector<size_t>& runners) {
  const auto key = [&](size_t k) { return std::pair(candidates[k].trace.empty(), candidates[k].expected_us()); };
  std::ranges::stable_sort(runners, {}, key);
  const auto by_formula = std::ranges::find_if(runners, [&](size_t k) {
    const auto& stages = candidates[k].stages;
    return stages.size() == 1 && stages[0].by_formula;
  });
  if (by_formula == runners.end() || places < 2) return;
  const auto last = runners.begin() + static_cast<std::ptrdiff_t>(std::min(places, runners.size()) - 1);
  if (by_formula > last) std::rotate(last, by_formula, by_formula + 1);
}

bool Candidates::compare_from(size_t first) {
  const bool again = first > 0;  // the best so far runs again: times of different comparisons do not compare
  const size_t before = result_.chosen;
  std::vector<size_t> runners;
  for (size_t k = first; k < result_.candidates.size(); ++k) {
    if (!result_.candidates[k].file.empty()) runners.push_back(k);
  }
  const size_t in_time = runners_in_time();
  rank_runners(result_.candidates, in_time - std::min<size_t>(in_time, again ? 1 : 0), runners);
  if (again) runners.insert(runners.begin(), before);
  runners.resize(std::min(runners.size(), in_time));
  if (again && runners.size() < 2) return false;
  const double spare_s = kCompareShare * left();
  const double heats = std::ceil(std::log2(static_cast<double>(runners.size() + 1)));
  for (bool first_heat = true; !runners.empty() && !clock_.interrupted(); first_heat = false) {
    if (!first_heat && runners_in_time() < runners.size()) break;
    const int rounds = benchmark_.pace().rounds(spare_s / heats, runners.size() + 2, kLeastRounds, kMostRounds);
    runners = heat(runners, rounds, spare_s / heats);
    if (runners.size() <= 2) break;
    // The faster half goes on, and the best so far.
    std::vector<size_t> faster(runners.begin(), runners.begin() + static_cast<std::ptrdiff_t>(runners.size() / 2));
    if (again && std::ranges::find(faster, before) == faster.end()) faster.back() = before;
    runners = std::move(faster);
    if (runners.size() == 1) break;
  }
  if (runners.empty()) return false;
  const Candidate& fastest = result_.candidates[runners[0]];
  // Those that take a rule away must show it beyond doubt; of the others the fastest is taken.
  if (again && fastest.ratio >= result_.candidates[before].ratio - fastest.doubt) return false;
  result_.chosen = runners[0];
  return result_.chosen != before;
}

bool Candidates::add_without(const std::set<std::string>& without) {
  std::vector<std::string> names;
  for (const auto& name : result_.rules->names()) {
    if (!without.contains(name)) names.push_back(name);
  }
  if (names.empty()) return false;
  const auto rules = result_.rules->subset(names);
  const std::string which = "without " + join(std::vector<std::string>(without.begin(), without.end()), ", ");
  clock_.phase("leaving rules out", which);
  const double until_s = clock_.passed() + kWithoutShare * left();
  Candidate candidate{.name = which, .graph = model_.graph, .without = without};
  for (const Stage& stage : result_.best().stages) {
    if (stage.method != "sweep") continue;  // the others take their time
    cost::CostModel& cost = stage.by_formula ? static_cast<cost::CostModel&>(formula_) : cost_;
    const auto some = stage.by_formula ? for_formula(rules) : rules;
    const auto found = run("sweep", candidate.graph, some, cost, until_s, "the model, " + which);
    candidate.graph = found.graph;
    candidate.trace = joined(std::move(candidate.trace), in_result_rules(found.trace, *some));
    candidate.stages.push_back(stage);
  }
  return add(std::move(candidate));
}

void Candidates::add_without_winograd() {
  std::set<std::string> without;
  for (const auto& step : result_.best().trace) {
    if (is_winograd(*result_.rules, step.rule)) without.insert(result_.rules->name(step.rule));
  }
  if (!without.empty()) add_without(without);
}

bool Candidates::leave_out_rules() {
  const size_t first = result_.candidates.size();
  const std::set<std::string> out = result_.best().without;
  // The best so far runs in the race as well, and making candidates takes time too.
  const size_t in_time = runners_in_time();
  if (in_time < 2) return false;
  const size_t most = std::min({kMostLeftOut, std::max<size_t>(2, places()), in_time - 1});
  std::map<size_t, std::string> single;  // candidate -> the rule that it does without
  for (const int32_t rule : rules_by_use(result_.best().trace)) {
    const std::string& name = result_.rules->name(rule);
    if (single.size() == most || runners_in_time() < single.size() + 2 || clock_.interrupted()) break;
    if (!tried_.insert(name).second) continue;
    std::set<std::string> without = out;
    without.insert(name);
    if (add_without(without)) single[result_.candidates.size() - 1] = name;
  }
  if (single.empty()) return false;
  clock_.phase("comparisons", fmt::format("comparing {} models", single.size() + 2));
  bool changed = compare_from(first);
  std::set<std::string> together = out;
  for (const auto& [candidate, name] : single) {
    if (result_.candidates[candidate].ratio > 0 && result_.candidates[candidate].to_best < kPromising)
      together.insert(name);
  }
  const size_t last = result_.candidates.size();
  if (together.size() > out.size() + 1 && !clock_.over(plan_.choose_s) && add_without(together)) {
    clock_.phase("comparisons", "comparing the best");
    changed |= compare_from(last);
  }
  return changed;
}

void Candidates::choose() {
  clock_.phase("comparisons", fmt::format("comparing {} models", result_.candidates.size() + 1));
  timing_s_ = plan_.more_timing_s;
  // Before any comparison: the cheapest by the sum over operators, or by the learned cost.
  price_alike(cost_, result_);
  for (size_t k = 0; k < result_.candidates.size(); ++k) {
    if (!result_.candidates[k].file.empty() && result_.candidates[k].expected_us() < result_.best().expected_us())
      result_.chosen = k;
  }
  if (clock_.interrupted()) return;
  if (left() > 0) add_without_winograd();
  const size_t by_cost = result_.chosen;
  compare_from(0);
  // Where even the fastest one lost to the original, the chosen one is still told about, as the best there is.
  if (result_.candidates[by_cost].ratio > 0 && result_.best().ratio > result_.candidates[by_cost].ratio)
    result_.chosen = by_cost;
  for (bool more = true; more && !clock_.over(plan_.choose_s) && !result_.best().trace.empty();) {
    const size_t tried = tried_.size();
    more = leave_out_rules() || tried_.size() > tried;
  }
}

}  // namespace rlgo::optimise
