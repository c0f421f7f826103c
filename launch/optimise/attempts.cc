#include "launch/optimise/attempts.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace rlgo::launch {
namespace {

constexpr double kGreedyShare = 0.55;  // of the time for searching, at most
constexpr int kMostRaceRounds = 11, kLeastRaceRounds = 3;
constexpr size_t kMostLeftOut = 8;  // rules tried in one race
constexpr double kRaceShare = 0.3;  // of the time that is left, for one race

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

}  // namespace

search::Result Attempts::run(const std::string& method, const graph::Graph& from,
                             std::shared_ptr<const rules::RuleSet> rules, double share, std::string from_name) {
  search::Options options;
  options.budget = request_.budget;
  options.seed = static_cast<uint64_t>(request_.config.seed);
  options.max_locations = static_cast<int>(request_.config.env_max_locations);
  options.memory_bytes = int64_t{2} << 30;
  int64_t asked = 0;
  options.stop = [&] {
    if (++asked % 64 == 0) clock_.show();
    return clock_.over(share);
  };
  options.progress = [&](const search::Counters& counters, double best_us) {
    clock_.graphs(counters.candidates);
    clock_.costs(story_.before_us, best_us);
    clock_.show();
  };
  SearchRun done;
  done.method = method;
  done.from = std::move(from_name);
  done.begin_s = clock_.passed();
  auto result = search::run(method, {from, rules, cost_}, options);
  done.seconds = result.seconds;
  done.before_us = result.before_us;
  done.after_us = result.after_us;
  done.counters = result.counters;
  done.reason = result.reason;
  done.curve = result.curve;
  story_.searches.push_back(std::move(done));
  clock_.costs(story_.before_us, result.after_us);
  return result;
}

void Attempts::add(std::string name, graph::Graph graph, search::Trace trace) {
  const uint64_t hash = graph.hash();
  for (const Attempt& other : story_.attempts) {
    if (other.graph.hash() == hash) return;
  }
  Attempt attempt;
  attempt.name = std::move(name);
  attempt.cost_us = cost::graph_cost(cost_, graph).runtime_us;
  attempt.trace = std::move(trace);
  attempt.graph = std::move(graph);
  attempt.file = folder_ / fmt::format("attempt-{}.onnx", story_.attempts.size());
  try {
    attempt.normalised = export_model(model_, attempt.graph, attempt.file);
  } catch (const Error& e) {
    attempt.error = e.what();
    attempt.file.clear();
    log_.warn("'{}' cannot be written: {}", attempt.name, e.what());
  }
  story_.attempts.push_back(std::move(attempt));
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

void Attempts::search(double share) {
  add("no rewrites", model_.graph, {});
  clock_.phase("search (greedy)");
  const bool more = request_.method != "greedy";
  const auto greedy = run("greedy", model_.graph, story_.rules, more ? kGreedyShare * share : share, "the model");
  add("greedy", greedy.graph, greedy.trace);
  if (!more || clock_.over(share)) return;
  clock_.phase(fmt::format("search ({})", request_.method));
  const auto further = run(request_.method, greedy.graph, story_.rules, share, "greedy's graph");
  if (further.trace.empty()) return;
  search::Trace trace = greedy.trace;
  trace.insert(trace.end(), further.trace.begin(), further.trace.end());
  add("greedy, then " + request_.method, further.graph, std::move(trace));
}

bool Attempts::race(const Racetrack& track, const std::filesystem::path& original, double original_us, size_t first,
                    double share) {
  std::vector<std::filesystem::path> files = {original};
  std::vector<size_t> runners;
  if (first > 0) {  // the best so far runs again: times of different races do not compare
    files.push_back(story_.best().file);
    runners.push_back(story_.chosen);
  }
  for (size_t k = first; k < story_.attempts.size(); ++k) {
    if (story_.attempts[k].file.empty()) continue;
    files.push_back(story_.attempts[k].file);
    runners.push_back(k);
  }
  if (runners.empty() || clock_.interrupted()) return false;
  const double round_s = static_cast<double>(files.size() + 1) * original_us * 1e-6;
  const double spare_s = std::max(0.0, kRaceShare * (share * request_.seconds - clock_.passed()));
  const int rounds = std::clamp(static_cast<int>(spare_s / std::max(round_s, 1e-6)), kLeastRaceRounds, kMostRaceRounds);
  const auto result = track.race(files, rounds);
  if (!result.error.empty()) {
    log_.warn("the race of {} models failed: {}", runners.size(), result.error);
    return false;
  }
  const size_t before = story_.chosen;
  double fastest = first > 0 ? result.ratio[1] : 1.0;
  for (size_t k = 0; k < runners.size(); ++k) {
    Attempt& attempt = story_.attempts[runners[k]];
    attempt.error = result.models[k + 1].error;
    attempt.ratio = attempt.error.empty() ? result.ratio[k + 1] : 0;
    attempt.ratio_spread = result.ratio_spread[k + 1];
    if (attempt.ratio <= 0) continue;
    // Those that take a rule away must show it beyond doubt; of the others the fastest is taken.
    const double doubt = first > 0 && runners[k] != before ? margin_of(result, k + 1) : 0;
    if (attempt.ratio >= fastest - doubt) continue;
    fastest = attempt.ratio;
    story_.chosen = runners[k];
  }
  return story_.chosen != before;
}

bool Attempts::leave_out_rules(const Racetrack& track, const std::filesystem::path& original, double original_us,
                               double share) {
  const size_t first = story_.attempts.size();
  const auto used = rules_of(story_.best().trace);
  for (size_t k = 0; k < used.size() && k < kMostLeftOut && !clock_.over(share); ++k) {
    std::vector<std::string> names;
    const std::string& without = story_.rules->name(used[k]);
    for (const auto& name : story_.rules->names()) {
      if (name != without && !left_out_.contains(name)) names.push_back(name);
    }
    if (names.empty()) continue;
    const auto rules = story_.rules->subset(names);
    clock_.phase("without " + without);
    const auto result = run("greedy", model_.graph, rules, share, "the model, without " + without);
    std::string name = "greedy without " + without;
    for (const auto& other : left_out_) name += ", " + other;
    add(std::move(name), result.graph, in_story_rules(result.trace, *rules));
  }
  if (story_.attempts.size() == first) return false;
  clock_.phase(fmt::format("race of {} models", story_.attempts.size() - first + 2));
  if (!race(track, original, original_us, first, share)) return false;
  // What the new best one does without stays out from now on.
  const auto now = rules_of(story_.best().trace);
  for (const int32_t rule : used) {
    if (std::find(now.begin(), now.end(), rule) == now.end()) left_out_.insert(story_.rules->name(rule));
  }
  return true;
}

void Attempts::choose(const Racetrack& track, const std::filesystem::path& original, double original_us, double share) {
  clock_.phase(fmt::format("race of {} models", story_.attempts.size() + 1));
  // Before any race: the cheapest by the sum over operators.
  for (size_t k = 0; k < story_.attempts.size(); ++k) {
    if (!story_.attempts[k].file.empty() && story_.attempts[k].cost_us < story_.best().cost_us) story_.chosen = k;
  }
  if (clock_.interrupted()) return;
  const size_t by_cost = story_.chosen;
  race(track, original, original_us, 0, share);
  // Where even the fastest one lost to the original, the chosen one is still told about, as the best there is.
  if (story_.attempts[by_cost].ratio > 0 && story_.best().ratio > story_.attempts[by_cost].ratio)
    story_.chosen = by_cost;
  while (!clock_.over(share) && !story_.best().trace.empty()) {
    if (!leave_out_rules(track, original, original_us, share)) break;
  }
}

}  // namespace rlgo::launch
