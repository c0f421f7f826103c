#include "core/optimise/json.h"

#include <nlohmann/json.hpp>

#include "core/optimise/model.h"
#include "core/optimise/sequential.h"
#include "core/optimise/switches.h"

namespace rlgo::optimise {
namespace {

const char* name(Finding finding) {
  switch (finding) {
    case Finding::same:
      return "same";
    case Finding::rounding:
      return "rounding";
    case Finding::differs:
      return "differs";
    case Finding::wrong:
      return "wrong";
    case Finding::skipped:
      return "skipped";
    default:
      return "not_compared";
  }
}

Json candidates(const Result& result) {
  Json out = Json::array();
  for (size_t k = 0; k < result.candidates.size(); ++k) {
    const Candidate& c = result.candidates[k];
    out.push_back({{"name", c.name},
                   {"chosen", k == result.chosen},
                   {"rewrites", c.trace.size()},
                   {"cost_us", c.cost_us},
                   {"ratio", c.ratio > 0 ? Json(c.ratio) : Json()},
                   {"error", c.error}});
  }
  return out;
}

Json searches(const Result& result) {
  Json out = Json::array();
  for (const SearchRun& run : result.searches) {
    out.push_back({{"method", run.method},
                   {"from", run.from},
                   {"begin_s", run.begin_s},
                   {"seconds", run.seconds},
                   {"before_us", run.before_us},
                   {"after_us", run.after_us},
                   {"graphs", run.counters.candidates},
                   {"ended_by", search::name(run.reason)}});
  }
  return out;
}

Json operators(const Result& result) {
  Json out = Json::array();
  for (const auto& op : operator_counts(result.before, result.best().graph))
    out.push_back({{"name", op.name}, {"before", op.before}, {"after", op.after}});
  return out;
}

Json switches(const Result& result) {
  if (result.switches.empty()) return nullptr;
  const auto* best = best_switch(result.switches);
  const auto number = [](double us) { return us > 0 ? Json(us) : Json(); };
  Json settings = Json::array(), chosen;
  for (const auto& s : result.switches) {
    const bool two = s.us.size() > 1;
    if (&s == best) chosen = settings.size();
    settings.push_back({{"level", s.level},
                        {"threads", s.threads},
                        {"usual", s.usual},
                        {"before_us", s.us.empty() ? Json() : number(s.us.front())},
                        {"after_us", two ? number(s.us.back()) : Json()},
                        {"error", s.error}});
  }
  return {{"best", std::move(chosen)}, {"settings", std::move(settings)}};
}

Json quantised(const Result& result) {
  Json out = Json::array();
  for (const QuantisedTrial& trial : result.quantised) {
    out.push_back({{"name", trial.name},
                   {"operators", trial.matches},
                   {"ratio", trial.ratio > 0 ? Json(trial.ratio) : Json()},
                   {"steps", trial.steps},
                   {"taken", trial.taken()},
                   {"why", trial.why}});
  }
  return out;
}

Json phases(const Result& result) {
  Json out = Json::array();
  for (const PhaseTime& phase : result.phases) out.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  return out;
}

}  // namespace

Json to_json(const Latency& timed) {
  if (!timed.ok() || timed.rounds == 0) return nullptr;
  const auto& [before, after] = timed.loading;
  const auto seconds = [](const cost::LoadCost& loading) { return loading.known() ? Json(loading.seconds) : Json(); };
  const auto bytes = [](const cost::LoadCost& loading) { return loading.bytes > 0 ? Json(loading.bytes) : Json(); };
  return {{"before_us", timed.before_us},
          {"after_us", timed.after_us()},
          {"ratio", timed.ratio},
          {"ratio_low", timed.lower},
          {"ratio_high", timed.upper},
          {"error_probability", SequentialRatio::kError},
          {"faster", timed.faster},
          {"slower", timed.slower},
          {"processes", timed.processes},
          {"loads", timed.loads},
          {"rounds", timed.rounds},
          {"before_load_s", seconds(before)},
          {"after_load_s", seconds(after)},
          {"before_peak_bytes", bytes(before)},
          {"after_peak_bytes", bytes(after)}};
}

Json to_json(const std::vector<Check>& checks) {
  Json out = Json::array();
  for (const Check& check : checks) {
    out.push_back({{"by", check.by},
                   {"finding", name(check.finding)},
                   {"relative_error", check.done() ? Json(check.error) : Json()},
                   {"allowed", check.done() ? Json(check.allowed) : Json()},
                   {"detail", check.detail},
                   {"limits", check.limits}});
  }
  return out;
}

Json to_json(const Judgement& judgement) {
  return {{"runtime", judgement.runtime},
          {"threads", judgement.threads},
          {"latency", to_json(judgement.latency)},
          {"checks", to_json(judgement.checks)}};
}

Json to_json(const Result& result) {
  const Candidate& best = result.best();
  Json out;
  out["verdict"] = {{"improved", result.improved}, {"checked", result.checked},
                    {"written", result.written},   {"forced", result.forced && !result.refused},
                    {"changed", result.touched},   {"interrupted", result.interrupted},
                    {"text", result.verdict}};
  out["model"] = report::file_json(result.model);
  out["written"] = result.written ? report::file_json(result.out) : Json();
  out["target"] = {{"runtime", result.target}, {"device", result.device}, {"threads", result.threads}};
  out["latency"] = result.touched ? to_json(result.end_to_end) : Json();
  out["latency_at"] = Json::array();
  for (const auto& [sizes, timed] : result.at_sizes)
    out["latency_at"].push_back({{"sizes", sizes}, {"latency", to_json(timed)}});
  out["latency_error"] = result.touched && !result.end_to_end.ok() ? result.end_to_end.error : "";
  out["cost"] = {{"model", result.cost_name},
                 {"before_us", result.before_us},
                 {"after_us", best.cost_us},
                 {"operators_known", result.costs_known},
                 {"operators_timed", result.costs_new},
                 {"table", result.costs_file.string()},
                 {"estimates", result.estimates},
                 {"learned_on", result.learned_on},
                 {"begins_untimed", best.begins_untimed()},
                 {"begins_learned", best.begins_learned()}};
  const auto bytes = [](int64_t count) { return count > 0 ? Json(count) : Json(); };
  out["size"] = {{"before_bytes", bytes(result.bytes_before)}, {"after_bytes", bytes(result.bytes_after)}};
  out["checks"] = to_json(result.checks);
  out["rewrites"] = report::trace_json(*result.rules, best.trace, result.step_us);
  out["switches"] = switches(result);
  out["nodes"] = {{"before", result.before.size()}, {"after", best.graph.size()}};
  out["operators"] = operators(result);
  out["candidates"] = candidates(result);
  out["searches"] = searches(result);
  out["learned"] = nullptr;  // of a method that is gone: the schema has it
  out["quantised"] = quantised(result);
  out["kept"] = report::kept_json(result.kept);
  out["inputs"] = {{"given", result.given}, {"assumed", result.assumed}};
  out["import"] = {{"about", result.about}, {"changes", result.changes}};
  out["export"] = {{"folded_operators", best.normalised.folded_operators},
                   {"folded_weights", best.normalised.folded_weights},
                   {"denormals", best.normalised.denormals},
                   {"annotations", best.normalised.annotations}};
  out["rules"] = report::rules_json(*result.rules);
  out["seconds_asked"] = result.seconds;
  out["seconds"] = result.took_s;
  out["phases"] = phases(result);
  return out;
}

}  // namespace rlgo::optimise
