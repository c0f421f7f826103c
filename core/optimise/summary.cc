#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/measure/predicted_cost.h"
#include "core/optimise/before_after.h"
#include "core/optimise/inputs.h"
#include "core/optimise/other_sizes.h"
#include "core/optimise/report.h"
#include "core/optimise/result.h"
#include "core/optimise/switches.h"
#include "core/optimise/target.h"
#include "core/optimise/verify.h"

namespace rlgo::optimise {
namespace {

constexpr size_t kRulesNamed = 3;

// "1.42", of a ratio after / before; "?" where it is not known.
std::string times(double ratio) {
  return std::isfinite(ratio) && ratio > 0 ? fmt::format("{:.2f}", 1 / ratio) : std::string("?");
}

// "same outputs (4 checks; largest error 1.01e-06 of 0.01 allowed)".
std::string checks_text(const Result& result) {
  if (!result.touched) return "unchanged";
  size_t made = 0;
  size_t limited = 0;            // those that do not see everything
  const Check* worst = nullptr;  // the closest to what it may be
  for (const Check& check : result.checks) {
    limited += check.done() && !check.limits.empty();
    if (!check.done()) continue;
    ++made;
    if (worst == nullptr || check.error * worst->allowed > worst->error * check.allowed) worst = &check;
  }
  if (!result.checked || worst == nullptr) return "outputs not compared";
  const std::string same = result.steps_apart > 0
                               ? fmt::format("outputs differ by at most {:.3g} quantisation steps", result.steps_apart)
                               : std::string("same outputs");
  std::string text = fmt::format("{} ({}; largest error {:.2g} of {:.2g} allowed", same, counted(made, "check"),
                                 worst->error, worst->allowed);
  const auto skipped = static_cast<size_t>(std::ranges::count(result.checks, Finding::skipped, &Check::finding));
  if (made + skipped < result.checks.size())
    text += fmt::format("; {} not possible", result.checks.size() - made - skipped);
  if (skipped > 0) text += fmt::format("; {} skipped for lack of time", skipped);
  if (limited > 0) text += fmt::format("; {} with limits", limited);
  return text + ")";
}

std::string verdict_text(const Result& result) {
  const Latency& timed = result.end_to_end;
  std::string text = result.verdict;
  if (result.improved) {
    text = fmt::format("{}x faster ({} to {})", times(timed.ratio), times(timed.upper), times(timed.lower));
  }
  if ((result.improved || result.forced) && !result.refused) text += ", " + checks_text(result);
  return text + (result.interrupted ? " (interrupted)" : "");
}

std::string latency_text(const Result& result) {
  const Latency& timed = result.end_to_end;
  std::string text = !result.touched ? "latency unchanged"
                     : timed.ok()
                         ? fmt::format("{} -> {}", milliseconds(timed.before_us), milliseconds(timed.after_us()))
                         : "latency not measured";
  text += fmt::format(" under {}, {}, {}", result.target, result.device, counted(result.threads, "thread"));
  if (const auto at_sizes = at_sizes_text(result.at_sizes); !at_sizes.empty()) text += "; " + at_sizes;
  if (!result.assumed.empty()) text += "; assumed input " + to_text(result.assumed);
  return text;
}

std::string rewrites_text(const Result& result) {
  const auto names = split(rules_used(result), ',');
  std::string text = counted(result.best().trace.size(), "rewrite");
  if (result.best().trace.empty()) return text;
  for (size_t k = 0; k < std::min(names.size(), kRulesNamed); ++k) text += (k == 0 ? ": " : ",") + names[k];
  if (names.size() > kRulesNamed) text += " and " + counted(names.size() - kRulesNamed, "more rule");
  return text;
}

// Rewrites of a quantised model that were taken; where none was, what was tried.
std::string quantised_text(const Result& result) {
  const bool any = std::ranges::any_of(result.quantised, &QuantisedTrial::taken);
  std::string out;
  for (const auto& trial : result.quantised)
    if (trial.taken() || !any) out += "  quantised: " + to_text(trial) + "\n";
  return out;
}

}  // namespace

std::string to_summary(const Result& result, bool brief, const std::string& report) {
  std::string out = verdict_text(result) + "\n";
  if (brief) return out;
  out += "  " + latency_text(result) + "\n";
  if (!result.sizes.empty()) out += "  default sizes do not run; these do: " + result.sizes + "\n";
  out += "  " + rewrites_text(result) + "\n" + quantised_text(result);
  if (const auto text = time_by_operators(result); !result.improved && !text.empty())
    out += "  where its time is spent: " + text + "\n";
  if (result.kept.timed) out += "  kept as they are: " + cost::to_text(result.kept) + "\n";
  if (const auto text = switches_summary(result.switches); !text.empty()) out += "  " + text + "\n";
  if (const auto text = slower_threads_text(result.switches); !text.empty()) out += "  " + text + "\n";
  if (result.improved || result.forced) out += before_after_table(result);
  out += fmt::format("  {}{} in {} of {}; --verbose shows more\n",
                     result.written       ? "written: " + result.out + (result.forced ? " (--force)" : "")
                     : result.out.empty() ? "nothing written (no -o)"
                     : result.forced      ? "nothing written"
                                          : "nothing written (--force writes it all the same)",
                     report.empty() ? "" : ", report: " + report, human_seconds(result.took_s),
                     human_seconds(result.seconds));
  return out;
}

std::string offer_to_calibrate(const Result& result) {
  const std::string runtime = result.target.substr(0, result.target.find(' '));
  const auto known = known_targets();
  if (std::ranges::find(known, runtime) == known.end() || result.estimates.empty()) return "";
  const bool of_runtime = !result.learned_on.empty();
  if (of_runtime && measure::maker(result.learned_on) == measure::maker(result.device)) return "";
  return fmt::format("  no prices were learned {}: `rlgo calibrate --target {}{}` learns them in about a minute\n",
                     of_runtime ? "on " + result.device : "under " + runtime, runtime,
                     result.threads > 1 ? fmt::format(" --threads {}", result.threads) : "");
}

}  // namespace rlgo::optimise
