#include "core/optimise/report.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/report/evidence.h"
#include "launch/revision.h"

namespace rlgo::launch::report {
namespace {

bool is_main(const SearchRun& run) { return !run.from.starts_with("the model, "); }

std::vector<Row> figures(const Story& story) {
  const Attempt& best = story.best();
  std::vector<Row> out;
  const auto& race = story.end_to_end;
  if (race.error.empty() && race.models.size() == 2 && race.models[1].ok()) {
    out.push_back(
        {"latency, " + story.target,
         fmt::format("{} -> {}", milliseconds(race.models[0].median_us), milliseconds(race.models[1].median_us)),
         fmt::format("{:+.2f} % = 100 (after / before - 1), {:.2f}x; noise {:.2f} %", 100 * (race.ratio[1] - 1),
                     1 / race.ratio[1], 100 * race.noise)});
  }
  out.push_back({"sum over operators",
                 fmt::format("{} -> {}", milliseconds(story.before_us), milliseconds(best.cost_us)),
                 percent_change(story.before_us, best.cost_us) + ", " + story.cost_name});
  out.push_back({"nodes", fmt::format("{} -> {}", story.before.size(), best.graph.size()),
                 fmt::format("{} rewrites", best.trace.size())});
  for (const Check& check : story.checks) {
    if (check.done) out.push_back({"relative error", fmt::format("{:.2g}", check.error), check.by});
  }
  return out;
}

std::vector<Chart> charts(const Story& story) {
  Chart by_time{"Best cost while searching", "seconds since the start", "ms, sum over operators", {}};
  for (const SearchRun& run : story.searches) {
    if (!is_main(run)) continue;
    Line line{run.method, {}, true};
    for (const auto& sample : run.curve) line.points.emplace_back(run.begin_s + sample.seconds, sample.best_us / 1000);
    line.points.emplace_back(run.begin_s + run.seconds, run.after_us / 1000);
    by_time.lines.push_back(std::move(line));
  }
  Chart by_step{"Cost along the chosen rewrites",
                "rewrites",
                "ms, sum over operators",
                {{story.best().name, {{0, story.before_us / 1000}}, false}}};
  for (size_t k = 0; k < story.step_us.size(); ++k)
    by_step.lines[0].points.emplace_back(static_cast<double>(k + 1), story.step_us[k] / 1000);
  return {by_time, by_step};
}

std::vector<Row> attempts(const Story& story) {
  std::vector<Row> rows = {{"", "attempt", "rewrites", "cost, ms", "latency / original", "spread", ""}};
  for (size_t k = 0; k < story.attempts.size(); ++k) {
    const Attempt& a = story.attempts[k];
    rows.push_back({k == story.chosen ? "chosen" : "", a.name, fmt::format("{}", a.trace.size()),
                    fmt::format("{:.4f}", a.cost_us / 1000),
                    a.ratio > 0 ? fmt::format("{:.3f}", a.ratio) : "not measured",
                    a.ratio > 0 ? fmt::format("{:.3f}", a.ratio_spread) : "", a.error});
  }
  return rows;
}

std::vector<Row> searches(const Story& story) {
  std::vector<Row> rows = {
      {"method", "from", "begun at, s", "seconds", "graphs", "graphs/s", "cost before, ms", "after, ms", "ended by"}};
  for (const SearchRun& run : story.searches) {
    rows.push_back(
        {run.method, run.from, fmt::format("{:.2f}", run.begin_s), fmt::format("{:.2f}", run.seconds),
         fmt::format("{}", run.counters.candidates),
         fmt::format("{:.0f}", run.seconds > 0 ? static_cast<double>(run.counters.candidates) / run.seconds : 0.0),
         fmt::format("{:.4f}", run.before_us / 1000), fmt::format("{:.4f}", run.after_us / 1000),
         std::string(search::name(run.reason))});
  }
  return rows;
}

}  // namespace

std::string story_html(const Story& story) {
  const Attempt& best = story.best();
  Evidence evidence;
  evidence.title = "rlgo optimise: " + story.model;
  evidence.verdict = story.verdict + (story.interrupted ? " (interrupted)" : "") +
                     (story.written ? "; written to " + story.out : "; nothing written");
  evidence.figures = figures(story);
  evidence.charts = charts(story);
  evidence.tables = {{"Attempts, measured whole", attempts(story)}, {"Searches", searches(story)}};
  evidence.before = story.before;
  evidence.after = best.graph;
  evidence.rules = story.rules;
  evidence.trace = best.trace;
  evidence.before_us = story.before_us;
  evidence.step_us = story.step_us;
  evidence.cost_name = story.cost_name;
  evidence.before_op_us = story.before_op_us;
  evidence.after_op_us = story.after_op_us;
  for (const Check& check : story.checks) {
    evidence.equivalence.push_back(
        {check.by, check.done
                       ? fmt::format("largest relative error {:.3g}, tolerance {:.3g}{}", check.error, story.tolerance,
                                     check.detail.empty() ? "" : " (output " + check.detail + ")")
                       : "not made: " + check.detail});
    if (!check.limits.empty()) evidence.equivalence.push_back({"", check.limits});
  }
  const auto& exported = best.normalised;
  evidence.normalised = {{"import", story.about},
                         {"worked out at export", fmt::format("{} operators on weights alone, {} weights",
                                                              exported.folded_operators, exported.folded_weights)},
                         {"denormal numbers set to zero at export",
                          fmt::format("{} in {} weights", exported.denormals, exported.denormal_tensors)}};
  evidence.changes = story.changes;
  evidence.environment = {{"target", story.target},
                          {"device", story.device},
                          {"threads", fmt::format("{}", story.threads)},
                          {"rlgo", fmt::format("{} ({})", kVersion, kRevision)},
                          {"costs", fmt::format("{}: {} measured in this call, {} known before; kept in {}",
                                                story.cost_name, story.prices_new, story.prices_known,
                                                story.prices_file.empty() ? "no file" : story.prices_file.string())},
                          {"time", fmt::format("{} of {}", human_seconds(story.took_s), human_seconds(story.seconds))}};
  evidence.log = to_text(story);
  return to_html(evidence);
}

}  // namespace rlgo::launch::report
