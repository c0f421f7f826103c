// Whole models first: candidates that differ in kind, found without timing, run before one of them is refined.
#include <algorithm>
#include <cmath>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/optimise/candidates.h"
#include "core/optimise/families.h"

namespace rlgo::optimise {
namespace {

constexpr double kUntimedFraction = 0.25;  // of the time that is left, for each sweep by learned prices
constexpr double kKindsFraction = 0.25;    // of the time until the choice ends, for the comparison of kinds
constexpr int kKindRounds = 7;
constexpr size_t kMostRespelled = 1000;  // rewrites
constexpr int kKindProcesses = 2;        // where memory lies is drawn once for each
constexpr double kBehind = 1.05;         // times the ratio of the fastest: no prices speak for it any more
constexpr double kLeastGain = 0.05;      // by learned prices, where nothing could be timed: less is within their error
constexpr double kMustFraction = 0.3;    // of the time until comparisons are cut short, for one that is to be made
constexpr double kJudgeFraction = 0.1;   // of the time for comparisons, for who promised what

bool is_respelled(const Candidate& candidate) {
  return std::ranges::any_of(candidate.stages, [](const Stage& stage) { return stage.method == "respelling"; });
}

}  // namespace

void leave_out_slight(std::vector<Candidate>& kinds, const graph::Graph& model, cost::CostModel& prices, double write_s,
                      double has_s) {
  if (write_s * static_cast<double>(kinds.size()) <= has_s) return;
  const double model_us = cost_of(prices, model);
  std::vector<double> gains;
  for (const Candidate& kind : kinds) gains.push_back(1 - cost_of(prices, kind.graph) / model_us);
  const double least = std::min(kLeastGain, std::ranges::max(gains));
  size_t k = 0;
  std::erase_if(kinds, [&](const Candidate& kind) { return gains[k++] < least && !is_respelled(kind); });
}

const std::shared_ptr<const rules::RuleSet>& Candidates::allowed() const { return allowed_ ? allowed_ : result_.rules; }

const std::string& Candidates::family_of(int32_t rule) {
  if (families_.empty()) families_ = families_of(*result_.rules);
  return families_[static_cast<size_t>(rule)];
}

bool Candidates::uses(const Candidate& candidate, const std::string& family) {
  return std::ranges::any_of(candidate.trace, [&](const auto& step) { return family_of(step.rule) == family; });
}

bool Candidates::uses_dropped(const Candidate& candidate) {
  return std::ranges::any_of(candidate.trace,
                             [&](const auto& step) { return dropped_.contains(family_of(step.rule)); });
}

bool Candidates::uses_winograd(const Candidate& candidate) const {
  return std::ranges::any_of(candidate.trace, [&](const auto& step) { return is_winograd(*result_.rules, step.rule); });
}

std::vector<Candidate> Candidates::untimed_kinds(double until_s) {
  const Candidate model{.name = "the model", .graph = model_.graph};
  std::vector<Candidate> kinds = {searched("sweep", model, By::formula, result_.rules, until_s)};
  kinds[0].name = "sweep by formula";
  // What the formula's rewrites lay open is respelled behind them; what they may hide, before them.
  Candidate other = respelled(kinds[0], result_.rules, until_s);
  Candidate early = respelled(model, result_.rules, until_s);
  if (!early.trace.empty()) {
    early = respelled(searched("sweep", early, By::formula, result_.rules, until_s), result_.rules, until_s);
    if (early.graph.hash() != other.graph.hash()) other = std::move(early);
  }
  other.name = "respelled";
  const bool is_other = other.graph.hash() != kinds[0].graph.hash();
  if (predicted_ == nullptr) {
    if (is_other) kinds.insert(kinds.begin(), std::move(other));
    return kinds;
  }
  // Learned prices know more, but rewrites that pay together only are one by one within their error: the formula goes
  // straight through these. A sweep takes whatever seems to gain, and of many small gains those that are errors seem
  // the largest; Winograd's form makes hundreds of small products, whose errors add up.
  const auto sweep = [&](const Candidate& from, const auto& rules, const char* name) {
    const double soon_s = clock_.passed() + kUntimedFraction * std::max(0.0, until_s - clock_.passed());
    Candidate found = searched("sweep", from, By::learned, rules, soon_s);
    found.name = name;
    return found;
  };
  const auto predicted_us = [&](const Candidate& c) { return cost_of(*predicted_, c.graph); };
  Candidate further = sweep(kinds[0], result_.rules, "sweep by formula, then by learned prices");
  Candidate direct = sweep(model, result_.rules, "sweep by learned prices");
  if (predicted_us(direct) < predicted_us(further)) std::swap(further, direct);
  if (uses_winograd(further))
    direct = sweep(kinds[0], for_formula(result_.rules), "sweep by learned prices, no Winograd");
  kinds.push_back(std::move(further));
  kinds.push_back(std::move(direct));
  if (is_other) kinds.insert(kinds.begin(), std::move(other));
  return kinds;
}

Candidate Candidates::respelled(const Candidate& from, const std::shared_ptr<const rules::RuleSet>& rules,
                                double until_s) {
  const auto some = tagged(*rules, "respell");
  if (!some) return from;
  SearchRun run{.method = "respelling", .from = from.name, .begin_s = clock_.passed(), .counters = {}, .curve = {}};
  auto made = rules::make_everywhere(from.graph, some, kMostRespelled, [&] { return clock_.over(until_s); });
  if (made.trace.empty()) return from;
  run.seconds = clock_.passed() - run.begin_s;
  run.before_us = cost_of(analytic_, from.graph);
  run.after_us = cost_of(analytic_, made.graph);
  run.counters.candidates = run.counters.steps = std::ssize(made.trace);
  result_.searches.push_back(std::move(run));
  Candidate out = from;
  out.graph = std::move(made.graph);
  for (const auto& step : in_result_rules(made.trace, *some)) out.trace.push_back(step);
  out.stages.push_back({"respelling", By::formula});
  return out;
}

std::vector<size_t> Candidates::kinds_in_time(size_t first, double seconds) {
  std::vector<size_t> runners;
  for (size_t k = first; k < result_.candidates.size(); ++k) {
    if (!result_.candidates[k].file.empty()) runners.push_back(k);
  }
  const auto with_winograd = [&](size_t k) { return uses_winograd(result_.candidates[k]); };
  const bool must = std::ranges::any_of(runners, with_winograd);
  const auto takes_s = [&] { return benchmark_.timing().compare_s(runners.size() + 1, 1); };
  // What has Winograd's convolutions, and the respelled one or the next one, which does without, are the last to go.
  while (runners.size() > (must ? 2 : 0) && takes_s() > seconds) {
    const auto plain = std::ranges::find_if(
        runners, [&](size_t k) { return !with_winograd(k) && !is_respelled(result_.candidates[k]); });
    runners.erase(must && plain != runners.end() ? plain : runners.end() - 1);
  }
  if (!must || takes_s() <= kMustFraction * clock_.left_to_end()) return runners;
  // Then the final measurement alone judges them, unless others gain as well.
  price_alike(cost_, result_);
  const double enough_us = (1 - kLeastGain) * result_.candidates[0].cost_us;
  const bool others_gain = std::ranges::any_of(
      result_.candidates, [&](const Candidate& c) { return !uses_winograd(c) && c.cost_us <= enough_us; });
  if (others_gain) drop(kWinograd, "there is no time to run whole models with them");
  return {};
}

double Candidates::kinds_s() const { return kKindsFraction * std::max(0.0, plan_.choose_s - clock_.passed()); }

void Candidates::compare_kinds(size_t first) {
  const TimingEstimate& timing = benchmark_.timing();
  const double part_s = kinds_s();
  const auto runners = kinds_in_time(first, part_s);
  if (runners.empty() || clock_.interrupted()) return;
  clock_.phase("comparisons", fmt::format("comparing {} kinds of models", runners.size()));
  const double until_s = clock_.passed() + part_s;
  std::vector<double> logs(runners.size(), 0);
  int done = 0;
  for (double took_s = 0; done == 0 || (done < kKindProcesses && !clock_.over(until_s - took_s)); ++done) {
    const double begin_s = clock_.passed();
    if (done > 0 && !benchmark_.restart()) break;
    const int rounds = timing.rounds((until_s - begin_s) / (kKindProcesses - done), runners.size() + 1, 1, kKindRounds);
    if (!side_by_side(runners, rounds, part_s, false)) break;
    for (size_t k = 0; k < runners.size(); ++k)
      logs[k] += std::log(std::max(result_.candidates[runners[k]].ratio, 1e-9));
    took_s = clock_.passed() - begin_s;
  }
  for (size_t k = 0; k < runners.size() && done > 0; ++k) {
    Candidate& candidate = result_.candidates[runners[k]];
    if (candidate.ratio > 0) candidate.ratio = std::exp(logs[k] / done);
  }
  judge_families();
}

double Candidates::fastest_ratio() const {
  double best = 1;  // the model itself
  for (const Candidate& candidate : result_.candidates) {
    if (candidate.ratio > 0) best = std::min(best, candidate.ratio);
  }
  return best;
}

bool Candidates::is_behind(size_t k) {
  const Candidate& candidate = result_.candidates[k];
  return candidate.ratio > kBehind * fastest_ratio() || uses_dropped(candidate);
}

size_t Candidates::kind_to_refine() {
  const auto& kinds = result_.candidates;
  size_t best = 0;
  for (size_t k = 1; k < kinds.size(); ++k) {
    const bool first = best == 0, timed = kinds[k].ratio > 0;
    const bool cheaper = kinds[k].cost_us <= (1 - kLeastGain) * kinds[best].cost_us;
    if (!uses_dropped(kinds[k]) && (first || (timed ? kinds[k].ratio < kinds[best].ratio : cheaper))) best = k;
  }
  return best;
}

void Candidates::judge_families() {
  std::map<std::string, Judged> judged;
  for (const Candidate& candidate : result_.candidates) {
    if (candidate.ratio <= 0) continue;
    for (const auto& step : candidate.trace) judged[family_of(step.rule)];
  }
  for (auto& [family, of] : judged) {
    for (const Candidate& candidate : result_.candidates) {
      if (candidate.ratio <= 0) continue;
      if (!uses(candidate, family))
        of.without = std::min(of.without, candidate.ratio);
      else if (of.candidate == nullptr || candidate.ratio < of.candidate->ratio)
        of.candidate = &candidate;
    }
  }
  std::erase_if(judged, [](const auto& one) { return one.second.candidate->ratio < one.second.without; });
  drop_contradicted(judged);
}

// Of the families that do not pay, the one that prices promised most of.
void Candidates::drop_contradicted(const std::map<std::string, Judged>& judged) {
  cost::CostModel& prices = predicted_ != nullptr ? *predicted_ : cost_;
  const double until_s = clock_.passed() + kJudgeFraction * left();
  std::map<const Candidate*, std::map<std::string, double>> gains;
  const std::pair<const std::string, Judged>* worst = nullptr;
  double most = kLeastGain;
  try {
    for (const auto& one : judged) {
      const Candidate* candidate = one.second.candidate;
      if (!gains.contains(candidate))
        gains[candidate] = gains_of(model_.graph, result_.rules, candidate->trace, prices,
                                    Deadline([&] { return until_s - clock_.passed(); }));
      if (const double gain = gains.at(candidate)[one.first]; gain > most) worst = &one, most = gain;
    }
  } catch (const Stopped&) {
    prices.forget_deferred();  // whole models decide between candidates all the same
  }
  if (worst == nullptr) return;
  const auto& [family, of] = *worst;
  const double predicted = cost_of(prices, of.candidate->graph) / cost_of(prices, model_.graph);
  drop(family, fmt::format("whole models take {:.2f} of the latency with them and {:.2f} without, where prices "
                           "predicted {:.2f}",
                           of.candidate->ratio, of.without, predicted));
}

void Candidates::drop(const std::string& family, const std::string& why) {
  dropped_.insert(family);
  std::vector<std::string> names;
  for (int r = 0; r < result_.rules->size(); ++r) {
    if (!dropped_.contains(family_of(r))) names.push_back(result_.rules->name(r));
  }
  allowed_ = result_.rules->subset(names);
  if (!result_.contradicted.empty()) result_.contradicted += "; ";
  result_.contradicted += fmt::format("rules '{}': {}", family, why);
  log_.info("rules '{}': {}; further searches do without", family, why);
}

}  // namespace rlgo::optimise
