#include "core/optimise/result.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/optimise/inputs.h"
#include "core/optimise/model.h"
#include "core/optimise/switches.h"
#include "core/optimise/verify.h"

namespace rlgo::optimise {
namespace {

std::map<std::string, int> operators(const graph::Graph& graph) {
  std::map<std::string, int> counts;
  for (const auto id : graph.order()) {
    const auto& node = graph.node(id);
    if (node.constant || node.op() == ops::Op::input) continue;
    ++counts[node.info->opaque ? node.info->opaque->op_type : std::string(ops::name(node.op()))];
  }
  return counts;
}

constexpr double kOverrun = 1.05;  // beyond it, the result states where the time went

std::string line(std::string_view name, const std::string& text) { return fmt::format("{:<15} {}\n", name, text); }

std::string searches_text(const Result& result) {
  std::string out;
  for (const auto& run : result.searches) {
    if (run.from.starts_with("the model, ")) continue;  // those that leave rules out are candidates
    out +=
        line("search", fmt::format("{} from {}: {} -> {} ({}) in {}, {} graphs ({:.0f}/s), ended by {}", run.method,
                                   run.from, milliseconds(run.before_us), milliseconds(run.after_us),
                                   percent_change(run.before_us, run.after_us), human_seconds(run.seconds),
                                   run.counters.candidates,
                                   run.seconds > 0 ? static_cast<double>(run.counters.candidates) / run.seconds : 0.0,
                                   search::name(run.reason)));
  }
  return out;
}

std::string attempts_text(const Result& result) {
  std::string out;
  for (size_t k = 0; k < result.candidates.size(); ++k) {
    const Candidate& a = result.candidates[k];
    const std::string measured = !a.error.empty() ? "failed: " + a.error
                                 : a.ratio > 0    ? fmt::format("{:.3f} of the original's latency", a.ratio)
                                                  : "not measured";
    out += line(k == 0 ? "candidates" : "",
                fmt::format("{} {}: {}, cost {}, {}", k == result.chosen ? "*" : " ", a.name,
                            counted(a.trace.size(), "rewrite"), milliseconds(a.cost_us), measured));
  }
  return out;
}

std::string operators_text(const Result& result) {
  std::vector<std::string> parts;
  for (const auto& op : operator_counts(result.before, result.best().graph)) {
    if (op.before != op.after) parts.push_back(fmt::format("{} {} -> {}", op.name, op.before, op.after));
  }
  return parts.empty() ? "unchanged" : join(parts, ", ");
}

std::string end_to_end_text(const Result& result) {
  if (!result.touched) return line("end to end", "unchanged: 1.000 of the original's latency");
  const std::string runtime =
      fmt::format("{}, {}, {}", result.target, result.device, counted(result.threads, "thread"));
  std::string out = line("end to end", to_text(result.end_to_end, runtime));
  if (!result.end_to_end.ok()) return out;
  out += line("", "100 (after / before - 1), geometric mean; " + effort_text(result.end_to_end));
  for (const auto& [sizes, timed] : result.at_sizes) out += line("  at " + sizes, to_text(timed, runtime));
  return out;
}

std::string time_text(const Result& result) {
  std::string out = fmt::format("{} of {}", human_seconds(result.took_s), human_seconds(result.seconds));
  if (result.took_s <= kOverrun * result.seconds) return out;
  std::vector<std::string> parts;
  for (const PhaseTime& phase : result.phases) {
    if (phase.seconds >= 0.05) parts.push_back(fmt::format("{} {:.1f} s", phase.name, phase.seconds));
  }
  return out + ", more than was asked for: " + join(parts, ", ");
}

}  // namespace

std::string milliseconds(double us) {
  return us < 1000.0 ? fmt::format("{:.4f} ms", us / 1000.0) : fmt::format("{:.3f} ms", us / 1000.0);
}

std::string sizes_text(const Result& result) {
  if (result.bytes_before == 0 || result.bytes_after == 0) return {};
  return fmt::format("{} -> {}", human_bytes(static_cast<double>(result.bytes_before)),
                     human_bytes(static_cast<double>(result.bytes_after)));
}

std::string percent_change(double before, double after) {
  return before > 0 ? fmt::format("{:+.2f} %", 100.0 * (after - before) / before) : "n/a";
}

std::string rules_used(const Result& result) {
  std::map<int32_t, int> counts;
  for (const auto& step : result.best().trace) ++counts[step.rule];
  std::vector<std::pair<int, int32_t>> order;
  for (const auto& [rule, count] : counts) order.emplace_back(-count, rule);
  std::sort(order.begin(), order.end());
  std::vector<std::string> parts;
  for (const auto& [count, rule] : order) parts.push_back(fmt::format("{} x {}", -count, result.rules->name(rule)));
  return parts.empty() ? "none" : join(parts, ", ");
}

std::vector<OperatorCount> operator_counts(const graph::Graph& before, const graph::Graph& after) {
  std::map<std::string, OperatorCount> rows;
  for (const auto& [name, count] : operators(before)) rows[name].before = count;
  for (const auto& [name, count] : operators(after)) rows[name].after = count;
  std::vector<OperatorCount> out;
  for (auto& [name, row] : rows) out.push_back({name, row.before, row.after});
  return out;
}

std::string to_text(const Check& check) {
  if (check.finding == Finding::skipped) return "skipped: " + check.detail;
  if (!check.done()) return "not checked: " + check.detail;
  if (check.error == 0 && check.finding != Finding::same && !check.detail.empty()) return check.detail;  // no numbers
  std::string text = fmt::format("largest relative error {:.3g}", check.error);
  if (!check.detail.empty()) text += fmt::format(" ({})", check.detail);
  return text + fmt::format(", allowed {:.2g}", check.allowed);
}

std::string to_text(const std::vector<Check>& checks) {
  std::string out;
  for (const Check& check : checks) {
    out += line("equivalence", fmt::format("{}: {}", check.by, to_text(check)));
    if (!check.limits.empty()) out += line("", check.limits);
  }
  return out;
}

std::string to_text(const Result& result) {
  const Candidate& best = result.best();
  std::string out = line("model", fmt::format("{}: {}", result.model, join(split(result.about, '\n'), "; ")));
  if (const auto text = normalisation_text(best.normalised); !text.empty())
    out += line("normalised", "at export: " + text);
  if (!result.given.empty()) out += line("inputs", to_text(result.given));
  if (!result.assumed.empty()) {
    out += line("inputs", fmt::format("{}: assumed, as the model runs with it; --input NAME=VALUE gives another",
                                      to_text(result.assumed)));
  }
  for (const auto& trial : result.quantised) out += line("quantised", (trial.taken() ? "* " : "  ") + to_text(trial));
  if (!result.sizes.empty()) out += line("sizes", "default sizes do not run; these do: " + result.sizes);
  out +=
      line("costs",
           fmt::format("{} measured now, {} known from earlier calls ({}){}{}{}", result.costs_new, result.costs_known,
                       result.cost_name, result.estimates.empty() ? "" : "; what is not timed: " + result.estimates,
                       result.learned_on.empty() ? "" : " of " + result.learned_on,
                       !best.begins_untimed()  ? ""
                       : best.begins_learned() ? "; the result begins with what a search by learned prices found"
                                               : "; the result begins with what a search by formula found"));
  out += searches_text(result);
  out += attempts_text(result);
  if (!result.contradicted.empty()) out += line("left out", result.contradicted);
  out += line("rules applied", counted(best.trace.size(), "rewrite") + ": " + rules_used(result));
  out += line("operators", operators_text(result));
  out += line("cost", fmt::format("{} -> {} ({}), sum over operators", milliseconds(result.before_us),
                                  milliseconds(best.cost_us), percent_change(result.before_us, best.cost_us)));
  if (const auto sizes = sizes_text(result); !sizes.empty()) out += line("size", sizes + ", the model's files");
  out += end_to_end_text(result);
  out += to_text(result.switches);
  out += result.touched ? to_text(result.checks) : "equivalence     unchanged: nothing to check\n";
  out += line("result", fmt::format("{}{}", result.verdict, result.interrupted ? " (interrupted)" : ""));
  out += line("time", time_text(result));
  out += line("written", result.written       ? result.out + (result.forced ? " (--force)" : "")
                         : result.out.empty() ? "nothing (no -o)"
                         : result.forced      ? "nothing"
                                              : "nothing (--force writes it all the same)");
  return out;
}

}  // namespace rlgo::optimise
