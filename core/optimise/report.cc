#include "core/optimise/report.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/optimise/verify.h"
#include "core/report/evidence.h"

namespace rlgo::optimise {
namespace {

bool is_main(const SearchRun& run) { return !run.from.starts_with("the model, "); }

std::vector<report::Row> figures(const Result& result) {
  const Candidate& best = result.best();
  std::vector<report::Row> out;
  const Latency& timed = result.end_to_end;
  if (!result.touched) {
    out.push_back({"latency, " + result.target, "unchanged", "1.000 of the original's"});
  } else if (timed.ok()) {
    out.push_back({"latency, " + result.target,
                   fmt::format("{} -> {}", milliseconds(timed.before_us), milliseconds(timed.after_us())),
                   fmt::format("{:+.2f} % = 100 (after / before - 1), {:.2f}x; ratio in [{:.3f}, {:.3f}]",
                               100 * (timed.ratio - 1), 1 / timed.ratio, timed.lower, timed.upper)});
  }
  out.push_back({"sum over operators",
                 fmt::format("{} -> {}", milliseconds(result.before_us), milliseconds(best.cost_us)),
                 percent_change(result.before_us, best.cost_us) + ", " + result.cost_name});
  out.push_back({"nodes", fmt::format("{} -> {}", result.before.size(), best.graph.size()),
                 counted(best.trace.size(), "rewrite")});
  if (const auto sizes = sizes_text(result); !sizes.empty()) out.push_back({"size of the model's files", sizes, ""});
  const auto made = std::ranges::count_if(result.checks, &Check::done);
  const auto agree = std::ranges::count(result.checks, Finding::same, &Check::finding);
  const auto skipped = std::ranges::count(result.checks, Finding::skipped, &Check::finding);
  if (made > 0) {
    const auto worst = std::ranges::max_element(
        result.checks, {}, [](const Check& c) { return c.done() && c.allowed > 0 ? c.error / c.allowed : -1.0; });
    out.push_back(
        {"checks",
         fmt::format("{} of {} agree{}", agree, made,
                     skipped > 0 ? fmt::format(", {} skipped for lack of time", skipped) : ""),
         fmt::format("closest to what is allowed: {:.2g} of {:.2g}, {}", worst->error, worst->allowed, worst->by)});
  }
  return out;
}

std::vector<report::Chart> charts(const Result& result) {
  report::Chart by_time{"Best cost while searching", "seconds since the start", "ms, sum over operators", {}};
  for (const SearchRun& run : result.searches) {
    if (!is_main(run)) continue;
    report::Line line{run.method, {}, true};
    for (const auto& sample : run.curve) line.points.emplace_back(run.begin_s + sample.seconds, sample.best_us / 1000);
    line.points.emplace_back(run.begin_s + run.seconds, run.after_us / 1000);
    by_time.lines.push_back(std::move(line));
  }
  report::Chart by_step{"Cost along the chosen rewrites",
                        "rewrites",
                        "ms, sum over operators",
                        {{result.best().name, {{0, result.before_us / 1000}}, false}}};
  for (size_t k = 0; k < result.step_us.size(); ++k)
    by_step.lines[0].points.emplace_back(static_cast<double>(k + 1), result.step_us[k] / 1000);
  return {by_time, by_step};
}

std::vector<report::Row> candidates(const Result& result) {
  std::vector<report::Row> rows = {{"", "candidate", "rewrites", "cost, ms", "latency / original", "spread", ""}};
  for (size_t k = 0; k < result.candidates.size(); ++k) {
    const Candidate& a = result.candidates[k];
    rows.push_back({k == result.chosen ? "chosen" : "", a.name, fmt::format("{}", a.trace.size()),
                    fmt::format("{:.4f}", a.cost_us / 1000),
                    a.ratio > 0 ? fmt::format("{:.3f}", a.ratio) : "not measured",
                    a.ratio > 0 ? fmt::format("{:.3f}", a.ratio_spread) : "", a.error});
  }
  return rows;
}

std::vector<report::Row> searches(const Result& result) {
  std::vector<report::Row> rows = {
      {"method", "from", "begun at, s", "seconds", "graphs", "graphs/s", "cost before, ms", "after, ms", "ended by"}};
  for (const SearchRun& run : result.searches) {
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

std::string to_html(const Result& result, const std::function<bool()>& stop) {
  const Candidate& best = result.best();
  report::Evidence evidence;
  evidence.title = "rlgo optimise: " + result.model;
  const std::string verdict = to_summary(result, true, "");
  evidence.verdict =
      verdict.substr(0, verdict.find('\n')) + (result.written ? "; written to " + result.out : "; nothing is written");
  evidence.figures = figures(result);
  evidence.charts = charts(result);
  evidence.tables = {{"Candidates, measured whole", candidates(result)}, {"Searches", searches(result)}};
  evidence.before = result.before;
  evidence.after = best.graph;
  evidence.rules = result.rules;
  evidence.trace = best.trace;
  evidence.before_us = result.before_us;
  evidence.step_us = result.step_us;
  evidence.cost_name = result.cost_name;
  evidence.before_op_us = result.before_op_us;
  evidence.after_op_us = result.after_op_us;
  for (const Check& check : result.checks) {
    evidence.equivalence.push_back({check.by, to_text(check)});
    if (!check.limits.empty()) evidence.equivalence.push_back({"", check.limits});
  }
  const auto& exported = best.normalised;
  evidence.normalised = {{"import", result.about},
                         {"computed at export", fmt::format("{} operators on weights alone, {} weights",
                                                            exported.folded_operators, exported.folded_weights)},
                         {"denormal numbers set to zero at export",
                          fmt::format("{} in {} weights", exported.denormals, exported.denormal_tensors)}};
  evidence.changes = result.changes;
  evidence.environment = {
      {"target", result.target},
      {"device", result.device},
      {"threads", fmt::format("{}", result.threads)},
      {"rlgo", result.version},
      {"costs",
       fmt::format("{}: {} measured in this call, {} known before; kept in {}", result.cost_name, result.costs_new,
                   result.costs_known, result.costs_file.empty() ? "no file" : result.costs_file.string())},
      {"time", fmt::format("{} of {}", human_seconds(result.took_s), human_seconds(result.seconds))}};
  evidence.log = to_text(result);
  evidence.stop = stop;
  return report::to_html(evidence);
}

}  // namespace rlgo::optimise
