// Which candidate is taken: comparisons of whole models, and rules left out.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

#include "core/base/text.h"
#include "core/optimise/candidates.h"
#include "core/rules/rule_choice.h"
#include "core/rules/script.h"
#include "core/zoo/zoo.h"

namespace rlgo::optimise {
namespace {

constexpr int kMostRounds = 15, kLeastRounds = 5;
constexpr size_t kMostLeftOut = 8;                        // candidates without a rule in one comparison
constexpr int64_t kMostComparedBytes = int64_t{4} << 30;  // of model files that are loaded side by side
constexpr double kCompareFraction = 0.4;                  // of the time that is left, for one comparison
constexpr double kWithoutFraction = 0.25;                 // of the time that is left, for searching without a rule
constexpr double kPromising = 0.998;                      // to the best so far: a rule that may be better left out
constexpr double kDecideFraction = 0.2;  // of the time for comparisons, kept for one of the fastest alone
constexpr double kNear = 1.1;            // times the ratio of the best one: what may turn out to be faster
constexpr size_t kMostNear = 4;          // of these
constexpr size_t kFewest = 3;            // models that must fit into a comparison for one to be made for it
constexpr int kMostDecidingRounds = 60;

std::string names_of(const std::set<std::string>& rules) {
  return join(std::vector<std::string>(rules.begin(), rules.end()), ", ");
}

bool is_swept(const Candidate& candidate) {
  return !candidate.stages.empty() &&
         std::ranges::all_of(candidate.stages, [](const Stage& stage) { return stage.method == "sweep"; });
}

}  // namespace

bool is_winograd(const rules::RuleSet& rules, int32_t rule) { return rules::in_group(rules, rule, kWinograd); }

std::shared_ptr<const rules::RuleSet> tagged(const rules::RuleSet& rules, const std::string& tag) {
  std::vector<std::string> names;
  for (int r = 0; r < rules.size(); ++r) {
    if (rules::in_group(rules, r, tag)) names.push_back(rules.name(r));
  }
  return names.empty() ? nullptr : rules.subset(names);
}

std::shared_ptr<const rules::RuleSet> for_formula(const std::shared_ptr<const rules::RuleSet>& rules) {
  std::vector<std::string> names;
  for (int r = 0; r < rules->size(); ++r) {
    if (!is_winograd(*rules, r)) names.push_back(rules->name(r));
  }
  return names.empty() || static_cast<int>(names.size()) == rules->size() ? rules : rules->subset(names);
}

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

size_t Candidates::places() const {
  const int64_t bytes = 4 * zoo::parameter_count(model_.graph) + 1;
  return static_cast<size_t>(std::clamp<int64_t>(kMostComparedBytes / bytes - 2, 1, kMostLeftOut + 1));
}

size_t Candidates::runners_in_time() const {
  const size_t models = benchmark_.timing().models(left(), kLeastRounds);
  return models > 2 ? models - 2 : 0;
}

std::vector<size_t> Candidates::heat(std::span<const size_t> runners, int rounds, double seconds) {
  std::vector<size_t> finished;
  for (size_t begin = 0; begin < runners.size() && !clock_.interrupted(); begin += places()) {
    const auto some = runners.subspan(begin, std::min(places(), runners.size() - begin));
    const double fraction = static_cast<double>(some.size()) / static_cast<double>(runners.size());
    if (!side_by_side(some, rounds, seconds * fraction)) continue;
    std::ranges::copy_if(some, std::back_inserter(finished), [&](size_t k) { return result_.candidates[k].ratio > 0; });
  }
  std::ranges::stable_sort(finished, {}, [&](size_t k) { return result_.candidates[k].ratio; });
  const double best = std::ranges::find(finished, result_.chosen) == finished.end() ? 1.0 : result_.best().ratio;
  for (const size_t k : finished) result_.candidates[k].to_best = result_.candidates[k].ratio / best;
  return finished;
}

bool Candidates::side_by_side(std::span<const size_t> runners, int rounds, double seconds, bool twin) {
  std::vector<cost::RunnableModel> models;
  for (const size_t k : runners) models.push_back(result_.candidates[k].runnable());
  const auto result = benchmark_.compare(models, rounds, std::max(seconds, 1e-3), kLeastRounds, twin);
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
  const auto key = [&](size_t k) { return std::pair(candidates[k].trace.empty(), candidates[k].cost_us); };
  std::ranges::stable_sort(runners, {}, key);
  const auto by_untimed = std::ranges::find_if(runners, [&](size_t k) {
    const auto& stages = candidates[k].stages;
    return !stages.empty() && std::ranges::all_of(stages, [](const Stage& stage) { return stage.by != By::timed; });
  });
  if (by_untimed == runners.end() || places < 2) return;
  const auto last = runners.begin() + static_cast<std::ptrdiff_t>(std::min(places, runners.size()) - 1);
  if (by_untimed > last) std::rotate(last, by_untimed, by_untimed + 1);
}

bool Candidates::compare_from(size_t first) {
  const bool again = first > 0;  // the best so far runs again: times of different comparisons do not compare
  const size_t before = result_.chosen;
  std::vector<size_t> runners;
  for (size_t k = first; k < result_.candidates.size(); ++k) {
    if (!result_.candidates[k].file.empty() && !is_behind(k)) runners.push_back(k);
  }
  const size_t in_time = runners_in_time();
  rank_runners(result_.candidates, in_time - std::min<size_t>(in_time, again ? 1 : 0), runners);
  if (again) runners.insert(runners.begin(), before);
  runners.resize(std::min(runners.size(), in_time));
  if (again && runners.size() < 2) return false;
  const double spare_s = kCompareFraction * left();
  const double heats = std::ceil(std::log2(static_cast<double>(runners.size() + 1)));
  for (bool first_heat = true; !runners.empty() && !clock_.interrupted(); first_heat = false) {
    if (!first_heat && runners_in_time() < runners.size()) break;
    const int rounds = benchmark_.timing().rounds(spare_s / heats, runners.size() + 2, kLeastRounds, kMostRounds);
    runners = heat(runners, rounds, spare_s / heats);
    if (runners.size() <= 2) break;
    // The faster half continues, and the best so far.
    std::vector<size_t> faster(runners.begin(), runners.begin() + static_cast<std::ptrdiff_t>(runners.size() / 2));
    if (again && std::ranges::find(faster, before) == faster.end()) faster.back() = before;
    runners = std::move(faster);
    if (runners.size() == 1) break;
  }
  if (runners.empty()) return false;
  // Those that take a rule away must show it beyond doubt; of the others the fastest is taken.
  if (again && !is_faster(runners[0], before)) return false;
  result_.chosen = runners[0];
  return result_.chosen != before;
}

bool Candidates::add_without(const Candidate& best, const std::set<std::string>& without) {
  std::vector<std::string> names;
  for (const auto& name : allowed()->names()) {
    if (!without.contains(name)) names.push_back(name);
  }
  if (names.empty()) return false;
  const auto rules = result_.rules->subset(names);
  const std::string which = "without " + names_of(without);
  clock_.phase("leaving rules out", which);
  const double until_s = clock_.passed() + kWithoutFraction * left();
  Candidate candidate{.name = "the model, " + which, .graph = model_.graph};
  for (const Stage& stage : best.stages) {
    if (stage.method == "sweep") candidate = searched("sweep", candidate, stage.by, rules, until_s);
    if (stage.method == "respelling") candidate = respelled(candidate, rules, until_s);  // others take their time
  }
  candidate.name = which;
  candidate.without = without;
  return add(std::move(candidate));
}

bool Candidates::add_part(const Candidate& whole, const rules::Script& replay, const std::set<std::string>& without) {
  const std::string which = "without " + names_of(without);
  clock_.phase("leaving rules out", which);
  rules::Replayed part = replay.without(without);
  return add({.name = fmt::format("{}, {}", whole.name, which),
              .graph = std::move(part.graph),
              .trace = std::move(part.trace),
              .stages = whole.stages,
              .without = without});
}

void Candidates::add_without_winograd() {
  std::set<std::string> without;
  for (const auto& step : result_.best().trace) {
    if (is_winograd(*result_.rules, step.rule)) without.insert(result_.rules->name(step.rule));
  }
  if (!without.empty()) add_without(result_.best(), without);
}

bool Candidates::leave_out_rules() {
  const size_t first = result_.candidates.size();
  const Candidate best = result_.best();
  // The best so far runs in the race as well, and making candidates takes time too.
  const size_t in_time = runners_in_time();
  if (in_time < 2) return false;
  const size_t most = std::min({kMostLeftOut, std::max<size_t>(2, places()), in_time - 1});
  // Sweeps are made again, and do other things in a rule's place. What other searches found is made again but for this
  // rule's rewrites.
  std::optional<rules::Script> replay;
  if (!is_swept(best)) replay.emplace(model_.graph, result_.rules, best.trace);
  struct Single {
    std::string rule;
    bool part = false;
  };
  std::map<size_t, Single> singles;  // by candidate
  for (const int32_t rule : rules_by_use(best.trace)) {
    const std::string& name = result_.rules->name(rule);
    if (singles.size() >= most || runners_in_time() < singles.size() + 2 || clock_.interrupted()) break;
    if (!tried_.insert(name).second) continue;
    std::set<std::string> without = best.without;
    without.insert(name);
    if (replay && add_part(best, *replay, without)) singles[result_.candidates.size() - 1] = {name, true};
    if (add_without(best, without)) singles[result_.candidates.size() - 1] = {name, false};
  }
  if (singles.empty()) return false;
  clock_.phase("comparisons", fmt::format("comparing {} models", singles.size() + 2));
  bool changed = compare_from(first);
  std::set<std::string> together = best.without, parts = best.without;
  for (const auto& [candidate, single] : singles) {
    const Candidate& of = result_.candidates[candidate];
    if (of.ratio > 0 && of.to_best < kPromising) (single.part ? parts : together).insert(single.rule);
  }
  const size_t last = result_.candidates.size();
  const auto several = [&](const std::set<std::string>& rules) {
    return rules.size() > best.without.size() + 1 && left() > 0;
  };
  if (several(parts)) add_part(best, *replay, parts);
  if (several(together)) add_without(best, together);
  if (result_.candidates.size() > last) {
    clock_.phase("comparisons", "comparing the best");
    changed |= compare_from(last);
  }
  return changed;
}

void Candidates::choose() {
  clock_.phase("comparisons", fmt::format("comparing {} models", result_.candidates.size() + 1));
  timing_s_ = plan_.more_timing_s;
  compare_until_s_ = plan_.choose_s - kDecideFraction * left();
  // Before any comparison: the cheapest by the sum over operators.
  price_alike(cost_, result_);
  for (size_t k = 0; k < result_.candidates.size(); ++k) {
    if (!result_.candidates[k].file.empty() && !is_behind(k) && result_.candidates[k].cost_us < result_.best().cost_us)
      result_.chosen = k;
  }
  // What a comparison showed to be faster goes before what no comparison can be made of any more.
  const bool comparable = !clock_.interrupted() && runners_in_time() > 0;
  for (size_t k = 0; k < result_.candidates.size() && !comparable; ++k) {
    if (result_.candidates[k].ratio > 0 && result_.candidates[k].ratio <= fastest_ratio()) result_.chosen = k;
  }
  // The original alone is what it is compared with.
  const auto is_rewritten = [](const Candidate& c) { return !c.trace.empty(); };
  if (clock_.interrupted() || std::ranges::none_of(result_.candidates, is_rewritten)) return;
  if (runners_in_time() > kFewest) add_without_winograd();
  const size_t by_cost = result_.chosen;
  compare_from(0);
  // Where even the fastest one lost to the original, the chosen one is still reported, as the best there is.
  if (result_.candidates[by_cost].ratio > 0 && result_.best().ratio > result_.candidates[by_cost].ratio)
    result_.chosen = by_cost;
  for (bool more = true; more && left() > 0 && !result_.best().trace.empty();) {
    const size_t tried = tried_.size();
    more = leave_out_rules() || tried_.size() > tried;
  }
  compare_until_s_ = plan_.choose_s;
  decide();
}

bool Candidates::is_faster(size_t candidate, size_t than) const {
  const Candidate& one = result_.candidates[candidate];
  return one.ratio < result_.candidates[than].ratio - one.doubt;
}

void Candidates::decide() {
  const auto ratio = [&](size_t k) { return result_.candidates[k].ratio; };
  std::vector<size_t> near;
  for (size_t k = 0; k < result_.candidates.size(); ++k) {
    if (ratio(k) > 0 && ratio(k) <= kNear * result_.best().ratio) near.push_back(k);
  }
  std::ranges::stable_sort(near, {}, ratio);
  near.resize(std::min({near.size(), kMostNear, places()}));
  if (near.size() < 2 || clock_.interrupted()) return;
  if (std::ranges::find(near, result_.chosen) == near.end()) near.back() = result_.chosen;
  const int rounds = benchmark_.timing().rounds(left(), near.size() + 2, kLeastRounds, kMostDecidingRounds);
  if (rounds <= kMostRounds) return;  // that many they have had
  clock_.phase("comparisons", fmt::format("comparing the {} fastest", near.size()));
  const auto order = heat(near, rounds, left());
  if (!order.empty() && is_faster(order[0], result_.chosen)) result_.chosen = order[0];
}

}  // namespace rlgo::optimise
