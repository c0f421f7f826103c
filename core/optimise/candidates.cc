#include "core/optimise/candidates.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/zoo/zoo.h"
#include "launch/rule_choice.h"

namespace rlgo::launch {
namespace {

constexpr double kLeastSearchSeconds = 2;  // by formula, whatever the time
constexpr double kPricingShare = 0.85;     // of the time for a search: then it goes on with what is known
constexpr int kMostRounds = 15, kLeastRounds = 5;
constexpr size_t kMostLeftOut = 8;                    // rules tried in one race
constexpr int64_t kMostRaceBytes = int64_t{4} << 30;  // of model files that are loaded side by side
constexpr double kRaceShare = 0.4;                    // of the time that is left, for one race
constexpr double kWithoutShare = 0.25;                // of the time that is left, for searching without a rule
constexpr double kPromising = 0.998;                  // to the best so far: a rule that may be better left out

// Rules of a trace, the most used first.
std::vector<int32_t> rules_of(const search::Trace& trace) {
  std::map<int32_t, int> counts;
  for (const auto& step : trace) ++counts[step.rule];
  std::vector<std::pair<int, int32_t>> order;
  for (const auto& [rule, count] : counts) order.emplace_back(-count, rule);
  std::sort(order.begin(), order.end());
  std::vector<int32_t> out;
  for (const auto& [count, rule] : order) out.push_back(rule);
  return out;
}

// Those that a count of operations may judge: whether convolutions by fewer multiplications pay, only times tell.
std::shared_ptr<const rules::RuleSet> for_formula(const std::shared_ptr<const rules::RuleSet>& rules) {
  std::vector<std::string> names;
  for (int r = 0; r < rules->size(); ++r) {
    if (!in_group(*rules, r, "winograd")) names.push_back(rules->name(r));
  }
  return names.empty() || static_cast<int>(names.size()) == rules->size() ? rules : rules->subset(names);
}

search::Trace joined(search::Trace first, const search::Trace& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

double cost_of(cost::CostModel& cost, const graph::Graph& graph) {
  for (;;) {
    const bool gathers = cost.postpone();
    const double us = cost::graph_cost(cost, graph).runtime_us;
    if (!gathers) return us;
    const bool known = cost.postponed() == 0;
    if (!cost.settle() || known) return us;
  }
}

search::Result Attempts::run(const std::string& method, const graph::Graph& from,
                             std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& cost, double until_s,
                             std::string from_name) {
  search::Options options;
  options.budget = request_.budget;
  options.seed = static_cast<uint64_t>(request_.config.seed);
  options.max_locations = static_cast<int>(request_.config.env_max_locations);
  options.memory_bytes = int64_t{2} << 30;
  int64_t asked = 0;
  options.stop = [&] {
    if (++asked % 64 == 0) clock_.show();
    return clock_.over(until_s);
  };
  options.progress = [&](const search::Counters& counters, double best_us) {
    clock_.graphs(counters.candidates);
    if (&cost == &cost_) clock_.costs(story_.before_us, best_us);
    clock_.show();
  };
  SearchRun done;
  done.method = method;
  done.from = std::move(from_name);
  done.begin_s = clock_.passed();
  pricing_s_ = done.begin_s + kPricingShare * std::max(0.0, until_s - done.begin_s);
  auto result = search::run(method, {from, rules, cost}, options);
  done.seconds = result.seconds;
  done.before_us = result.before_us;
  done.after_us = result.after_us;
  done.counters = result.counters;
  done.reason = result.reason;
  done.curve = result.curve;
  story_.searches.push_back(std::move(done));
  return result;
}

bool Attempts::add(Attempt attempt) {
  const uint64_t hash = attempt.graph.hash();
  for (const Attempt& other : story_.attempts) {
    if (other.graph.hash() == hash) return false;
  }
  attempt.cost_us = cost_of(cost_, attempt.graph);
  attempt.file = folder_ / fmt::format("attempt-{}.onnx", story_.attempts.size());
  try {
    attempt.normalised = export_model(model_, attempt.graph, attempt.file);
  } catch (const Error& e) {
    attempt.error = e.what();
    attempt.file.clear();
    log_.warn("'{}' cannot be written: {}", attempt.name, e.what());
  }
  story_.attempts.push_back(std::move(attempt));
  return true;
}

search::Trace Attempts::in_story_rules(const search::Trace& trace, const rules::RuleSet& rules) const {
  const auto names = story_.rules->names();
  search::Trace out;
  for (const auto& step : trace) {
    const auto at = std::find(names.begin(), names.end(), rules.name(step.rule));
    out.push_back({static_cast<int32_t>(at - names.begin()), step.location});
  }
  return out;
}

void Attempts::search() {
  // By formula first: that takes no time, and near its end there are far fewer groups of operators to time than near
  // the model.
  const bool measured = cost_.name() != formula_.name();
  search::Result quick;
  // Reading a large model on a busy machine may have taken all the time: a result is worth two seconds more.
  const double least_s = clock_.passed() + kLeastSearchSeconds;
  if (measured) {
    const auto formula_rules = for_formula(story_.rules);
    clock_.phase("searching", "search (by formula)");
    quick = run("sweep", model_.graph, formula_rules, formula_, std::max(plan_.search_s, least_s),
                "the model (by formula)");
    quick.trace = in_story_rules(quick.trace, *formula_rules);
  }
  clock_.phase("timing operators", "timing operators");
  pricing_s_ = plan_.pricing_s;
  story_.before_us = cost_of(cost_, model_.graph);
  add({.name = "no rewrites", .graph = model_.graph});
  const bool formula = measured && add({.name = "sweep by formula",
                                        .graph = std::move(quick.graph),
                                        .trace = std::move(quick.trace),
                                        .stages = {{"sweep", true}}});
  const size_t from = formula ? 1 : 0;
  go_on("sweep", from, measured ? plan_.sweep_s : std::max(plan_.sweep_s, least_s));
  const auto cheapest = [&] {
    const auto cost = [](const Attempt& attempt) { return attempt.cost_us; };
    return static_cast<size_t>(std::ranges::min_element(story_.attempts, {}, cost) - story_.attempts.begin());
  };
  if (request_.method != "sweep") go_on(request_.method, cheapest(), plan_.method_s);
  if (from != 0) go_on("sweep", 0, plan_.search_s);
}

void Attempts::go_on(const std::string& method, size_t from, double until_s) {
  if (clock_.over(until_s)) return;
  clock_.phase("searching", fmt::format("search ({})", method));
  const Attempt start = story_.attempts[from];
  const auto found = run(method, start.graph, story_.rules, cost_, until_s, from == 0 ? "the model" : start.name);
  if (found.trace.empty()) return;
  Attempt attempt{.name = from == 0 ? method : start.name + ", then " + method,
                  .graph = found.graph,
                  .trace = joined(start.trace, found.trace),
                  .stages = start.stages};
  attempt.stages.push_back({method, false});
  add(std::move(attempt));
}

size_t Attempts::places() const {
  const int64_t bytes = 4 * zoo::parameter_count(model_.graph) + 1;
  return static_cast<size_t>(std::clamp<int64_t>(kMostRaceBytes / bytes - 2, 1, kMostLeftOut + 1));
}

size_t Attempts::runners_in_time(const Racetrack& track) const {
  const size_t models = track.pace().models(left(), kLeastRounds);
  return models > 2 ? models - 2 : 0;
}

std::vector<size_t> Attempts::heat(const Course& course, std::span<const size_t> runners, int rounds, double seconds) {
  std::vector<size_t> finished;
  for (size_t begin = 0; begin < runners.size() && !clock_.interrupted(); begin += places()) {
    const auto some = runners.subspan(begin, std::min(places(), runners.size() - begin));
    const double share = static_cast<double>(some.size()) / static_cast<double>(runners.size());
    if (!side_by_side(course, some, rounds, seconds * share)) continue;
    std::ranges::copy_if(some, std::back_inserter(finished), [&](size_t k) { return story_.attempts[k].ratio > 0; });
  }
  std::ranges::stable_sort(finished, {}, [&](size_t k) { return story_.attempts[k].ratio; });
  const double best = std::ranges::find(finished, story_.chosen) == finished.end() ? 1.0 : story_.best().ratio;
  for (const size_t k : finished) story_.attempts[k].to_best = story_.attempts[k].ratio / best;
  return finished;
}

bool Attempts::side_by_side(const Course& course, std::span<const size_t> runners, int rounds, double seconds) {
  std::vector<std::filesystem::path> files = {course.original};
  for (const size_t k : runners) files.push_back(story_.attempts[k].file);
  const auto result = course.track.race(files, rounds, std::max(seconds, 1e-3), kLeastRounds);
  if (!result.error.empty()) {
    log_.warn("the race of {} models failed: {}", runners.size(), result.error);
    return false;
  }
  for (size_t k = 0; k < runners.size(); ++k) {
    Attempt& attempt = story_.attempts[runners[k]];
    attempt.error = result.models[k + 1].error;
    attempt.ratio = attempt.error.empty() ? result.ratio[k + 1] : 0;
    attempt.ratio_spread = result.ratio_spread[k + 1];
    attempt.doubt = margin_of(result, k + 1);
  }
  return true;
}

// The cheapest first; what was not rewritten last, as the original runs anyway. Where only `places` of them can run,
// the one that was found by formula is among these: prices may be of other days.
void Attempts::rank(std::vector<size_t>& runners, size_t places) const {
  const auto key = [&](size_t k) { return std::pair(story_.attempts[k].trace.empty(), story_.attempts[k].cost_us); };
  std::ranges::stable_sort(runners, {}, key);
  const auto by_formula = std::ranges::find_if(runners, [&](size_t k) {
    const auto& stages = story_.attempts[k].stages;
    return stages.size() == 1 && stages[0].by_formula;
  });
  if (by_formula == runners.end() || places == 0) return;
  const auto last = runners.begin() + static_cast<std::ptrdiff_t>(std::min(places, runners.size()) - 1);
  if (by_formula > last) std::rotate(last, by_formula, by_formula + 1);
}

bool Attempts::race(const Course& course, size_t first) {
  const bool again = first > 0;  // the best so far runs again: times of different races do not compare
  const size_t before = story_.chosen;
  std::vector<size_t> runners;
  for (size_t k = first; k < story_.attempts.size(); ++k) {
    if (!story_.attempts[k].file.empty()) runners.push_back(k);
  }
  const size_t in_time = runners_in_time(course.track);
  rank(runners, in_time - std::min<size_t>(in_time, again ? 1 : 0));
  if (again) runners.insert(runners.begin(), before);
  runners.resize(std::min(runners.size(), in_time));
  if (again && runners.size() < 2) return false;
  const double spare_s = kRaceShare * left();
  const double heats = std::ceil(std::log2(static_cast<double>(runners.size() + 1)));
  for (bool first_heat = true; !runners.empty() && !clock_.interrupted(); first_heat = false) {
    if (!first_heat && runners_in_time(course.track) < runners.size()) break;
    const int rounds = course.track.pace().rounds(spare_s / heats, runners.size() + 2, kLeastRounds, kMostRounds);
    runners = heat(course, runners, rounds, spare_s / heats);
    if (runners.size() <= 2) break;
    // The faster half goes on, and the best so far.
    std::vector<size_t> faster(runners.begin(), runners.begin() + static_cast<std::ptrdiff_t>(runners.size() / 2));
    if (again && std::ranges::find(faster, before) == faster.end()) faster.back() = before;
    runners = std::move(faster);
    if (runners.size() == 1) break;
  }
  if (runners.empty()) return false;
  const Attempt& fastest = story_.attempts[runners[0]];
  // Those that take a rule away must show it beyond doubt; of the others the fastest is taken.
  if (again && fastest.ratio >= story_.attempts[before].ratio - fastest.doubt) return false;
  story_.chosen = runners[0];
  return story_.chosen != before;
}

bool Attempts::add_without(const std::set<std::string>& without) {
  std::vector<std::string> names;
  for (const auto& name : story_.rules->names()) {
    if (!without.contains(name)) names.push_back(name);
  }
  if (names.empty()) return false;
  const auto rules = story_.rules->subset(names);
  const std::string which = "without " + join(std::vector<std::string>(without.begin(), without.end()), ", ");
  clock_.phase("leaving rules out", which);
  const double until_s = clock_.passed() + kWithoutShare * left();
  Attempt attempt{.name = which, .graph = model_.graph, .without = without};
  for (const Stage& stage : story_.best().stages) {
    if (stage.method != "sweep") continue;  // the others take their time
    cost::CostModel& cost = stage.by_formula ? static_cast<cost::CostModel&>(formula_) : cost_;
    const auto some = stage.by_formula ? for_formula(rules) : rules;
    const auto found = run("sweep", attempt.graph, some, cost, until_s, "the model, " + which);
    attempt.graph = found.graph;
    attempt.trace = joined(std::move(attempt.trace), in_story_rules(found.trace, *some));
    attempt.stages.push_back(stage);
  }
  return add(std::move(attempt));
}

bool Attempts::leave_out_rules(const Course& course) {
  const size_t first = story_.attempts.size();
  const std::set<std::string> out = story_.best().without;
  // The best so far runs in the race as well, and making attempts takes time too.
  const size_t in_time = runners_in_time(course.track);
  if (in_time < 2) return false;
  const size_t most = std::min({kMostLeftOut, std::max<size_t>(2, places()), in_time - 1});
  std::map<size_t, std::string> single;  // attempt -> the rule that it does without
  for (const int32_t rule : rules_of(story_.best().trace)) {
    const std::string& name = story_.rules->name(rule);
    if (single.size() == most || runners_in_time(course.track) < single.size() + 2 || clock_.interrupted()) break;
    if (!tried_.insert(name).second) continue;
    std::set<std::string> without = out;
    without.insert(name);
    if (add_without(without)) single[story_.attempts.size() - 1] = name;
  }
  if (single.empty()) return false;
  clock_.phase("races", fmt::format("race of {} models", single.size() + 2));
  bool changed = race(course, first);
  std::set<std::string> together = out;
  for (const auto& [attempt, name] : single) {
    if (story_.attempts[attempt].ratio > 0 && story_.attempts[attempt].to_best < kPromising) together.insert(name);
  }
  const size_t last = story_.attempts.size();
  if (together.size() > out.size() + 1 && !clock_.over(plan_.choose_s) && add_without(together)) {
    clock_.phase("races", "race of the best");
    changed |= race(course, last);
  }
  return changed;
}

void Attempts::choose(Racetrack& track, const std::filesystem::path& original) {
  clock_.phase("races", fmt::format("race of {} models", story_.attempts.size() + 1));
  pricing_s_ = plan_.more_pricing_s;
  // Before any race: the cheapest by the sum over operators.
  for (size_t k = 0; k < story_.attempts.size(); ++k) {
    if (!story_.attempts[k].file.empty() && story_.attempts[k].cost_us < story_.best().cost_us) story_.chosen = k;
  }
  if (clock_.interrupted()) return;
  const Course course{track, original};
  const size_t by_cost = story_.chosen;
  race(course, 0);
  // Where even the fastest one lost to the original, the chosen one is still told about, as the best there is.
  if (story_.attempts[by_cost].ratio > 0 && story_.best().ratio > story_.attempts[by_cost].ratio)
    story_.chosen = by_cost;
  for (bool more = true; more && !clock_.over(plan_.choose_s) && !story_.best().trace.empty();) {
    const size_t tried = tried_.size();
    more = leave_out_rules(course) || tried_.size() > tried;
  }
}

}  // namespace rlgo::launch
