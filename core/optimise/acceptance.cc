#include "core/optimise/acceptance.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/base/write_error.h"
#include "core/onnx/onnx.h"
#include "core/optimise/candidates.h"

namespace rlgo::optimise {
namespace {

constexpr int kTries = 40;                 // checks of parts of one trace
constexpr int kOutputRuns = 2;             // of a model whose outputs are compared
constexpr double kCheaper = 0.8;           // times the effort of a check that took too long: it may be made in time
constexpr double kHeavyBytes = 64 << 20;   // of a model file: loading takes as long as its bytes
constexpr double kOperationsOfAByte = 32;  // of a constant: it is computed, written and read again
constexpr double kRepairFraction = 1.2;    // of the time of the whole command: then nothing else is tried

// How much of that time may pass before no more parts are tried: those that the runtime alone refuses are tried
// quickly.
double repair_fraction(const Check& check) { return check.kind == Check::Kind::runtime ? kRepairFraction : 1; }

// What both files take to be loaded, times what the original's takes twice.
double heavier(const Candidate& candidate, const std::filesystem::path& original) {
  const double before = std::max<double>(kHeavyBytes, onnx_io::stored_bytes(original));
  return (1 + std::max(1.0, onnx_io::stored_bytes(candidate.file) / before)) / 2;
}

std::string rules_of(const rules::Script& replay, const std::vector<size_t>& steps) {
  std::map<std::string, int> counts;
  for (const size_t step : steps) ++counts[replay.rule_name(step)];
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(count == 1 ? name : fmt::format("{} x {}", count, name));
  return join(parts, ", ");
}

}  // namespace

bool is_touched(const Candidate& candidate, const LoadedModel& model) {
  return !candidate.trace.empty() || candidate.normalised.denormals > 0 || model.simplified > 0;
}

double effort_of(const Candidate& candidate) {
  double operations = 0;
  for (const graph::NodeId id : candidate.graph.order()) {
    const auto& node = candidate.graph.node(id);
    operations += node.info->work.flops;
    if (!node.constant) continue;
    for (const auto& type : node.info->outputs) operations += type.is_static() ? kOperationsOfAByte * type.bytes() : 0;
  }
  return operations;
}

size_t next_best(std::span<const Candidate> candidates, double most_effort) {
  size_t best = 0;  // the model without rewrites
  const auto key = [&](size_t k) {
    return std::pair(candidates[k].ratio > 0 ? candidates[k].ratio : 1.0, candidates[k].cost_us);
  };
  for (size_t k = 1; k < candidates.size(); ++k) {
    const Candidate& c = candidates[k];
    if (c.error.empty() && !c.file.empty() && key(k) < key(best) && effort_of(c) <= most_effort) best = k;
  }
  return best;
}

Acceptance::Acceptance(const OptimiseOptions& options, const LoadedModel& model, cost::Runtime& runtime,
                       cost::CostModel& cost, std::filesystem::path folder, OptimiseClock& clock, const Log& log,
                       Result& result, const Benchmark& benchmark)
    : options_(options),
      model_(model),
      runtime_(runtime),
      cost_(cost),
      folder_(std::move(folder)),
      clock_(clock),
      log_(log),
      result_(result),
      verifier_(
          model, model.reference.empty() ? std::filesystem::path(options.model.graph) : model.reference, runtime,
          options.check,
          {.left_s = [&clock, last_s = benchmark.least_s()] { return clock.interrupted() ? 0 : clock.left() - last_s; },
           .end = clock.deadline(),
           .run_s = benchmark.timing().run_s(),
           .rules = result.rules,
           .runtime_s = heavier(result.best(), options.model.graph) * benchmark.timing().compare_s(2, kOutputRuns),
           .kept_s = std::max(0.0, benchmark.least_s() - benchmark.fewest_s())}) {}

void Acceptance::choose() {
  for (;;) {
    clock_.phase("checks", "checking outputs");
    const size_t tried = result_.chosen;
    result_.touched = is_touched(result_.best(), model_);
    if (!result_.touched && !options_.force) {  // nothing is written: there is nothing to check
      result_.checks.clear();
      return;
    }
    if (accepts(result_.best())) return;
    if (const Check* late = least_skipped(result_.checks)) {
      log_.warn("'{}' is dropped: there was no time for a check ({})", result_.best().name, late->by);
      result_.candidates[tried].error = fmt::format("{}: {}", kNotChecked, late->by);
      const double effort = effort_of(result_.candidates[tried]);
      if (result_.best().trace.empty()) return;
      result_.chosen = clock_.deadline().over() ? 0 : next_best(result_.candidates, kCheaper * effort);
      continue;
    }
    if (result_.best().trace.empty()) return;
    if (options_.force && !refusal(result_.checks))
      return;  // nothing could be compared, and that is what was asked for
    const Check* why = refusal(result_.checks);
    const std::string reason = why != nullptr ? fmt::format("{}: {}", why->by, to_text(*why))
                                              : "it cannot be checked that it computes the same";
    log_.warn("'{}' is dropped: {}", result_.best().name, reason);
    result_.candidates[tried].error = "given up: " + reason;
    if (clock_.over(kRepairFraction * options_.seconds))
      result_.chosen = 0;
    else if (why != nullptr && !clock_.over(repair_fraction(*why) * options_.seconds) && add_repaired(tried))
      result_.chosen = result_.candidates.size() - 1;
    else
      result_.chosen = next_best(result_.candidates, std::numeric_limits<double>::infinity());
  }
}

bool Acceptance::accepts(const Candidate& candidate) {
  result_.checks.clear();
  result_.checked = false;
  if (candidate.file.empty()) {
    result_.checks.push_back({"the file", Finding::not_compared, 0, 0, candidate.error});
    return false;
  }
  try {
    const rules::Script replay(model_.graph, result_.rules, candidate.trace, clock_.deadline());
    result_.checks = verifier_.check(replay.prefix(replay.size()), candidate.file);
  } catch (const Stopped& stopped) {
    result_.checks.push_back({.by = "the rewrites, made again",
                              .finding = Finding::skipped,
                              .detail = stopped.what(),
                              .kind = Check::Kind::exact});
    return false;
  }
  result_.ran_at = verifier_.ran_at();
  const Check* why = refusal(result_.checks);
  if (why != nullptr && why->finding == Finding::wrong && !candidate.trace.empty()) report_wrong(candidate, *why);
  return result_.checked = why == nullptr && any_done(result_.checks) && least_skipped(result_.checks) == nullptr;
}

bool Acceptance::accepts_part(const rules::Replayed& part, const Check& like) {
  const auto accepted = [](const std::vector<Check>& checks) {
    if (const Check* late = least_skipped(checks)) throw Stopped(late->by);
    return refusal(checks) == nullptr;
  };
  if (like.kind == Check::Kind::exact) return accepted({verifier_.exact(part)});
  const TemporaryFolder folder("rlgo-part");  // with a file of weights, where they are many
  const auto file = folder.path() / "part.onnx";
  try {
    export_model(model_, part.graph, file);
  } catch (const WriteError&) {
    throw;
  } catch (const Error&) {
    return false;
  }
  if (like.kind == Check::Kind::runtime) return accepted({verifier_.in_runtime(part, file)});
  return accepted(verifier_.check(part, file));
}

bool Acceptance::add_repaired(size_t candidate) {
  const Check like = *refusal(result_.checks);
  const Candidate old = result_.candidates[candidate];
  clock_.phase("checks", "leaving out what a check refuses");
  const auto stop = [&] { return clock_.over(repair_fraction(like) * options_.seconds); };
  std::optional<rules::Script> replay;
  std::optional<Repaired> repaired;
  try {
    replay.emplace(model_.graph, result_.rules, old.trace, clock_.deadline());
    repaired = without_refused(
        *replay, [&](const rules::Replayed& part) { return accepts_part(part, like); }, kTries, stop);
  } catch (const Stopped&) {
    // No time for it.
  }
  if (!repaired) return false;
  Candidate next{.name = fmt::format("{}, without {}", old.name, rules_of(*replay, repaired->left_out)),
                 .graph = std::move(repaired->rewritten.graph),
                 .trace = std::move(repaired->rewritten.trace),
                 .stages = old.stages,
                 .without = old.without};
  for (const Candidate& other : result_.candidates) {
    if (other.graph.hash() == next.graph.hash()) return false;
  }
  next.cost_us = cost_of(cost_, next.graph);
  next.file = folder_ / fmt::format("candidate-{}.onnx", result_.candidates.size());
  try {
    next.normalised = export_model(model_, next.graph, next.file);
  } catch (const Error&) {
    return false;
  }
  log_.info("'{}' is tried in its place ({} of {} rewrites)", next.name, next.trace.size(), old.trace.size());
  result_.candidates.push_back(std::move(next));
  return true;
}

void Acceptance::report_wrong(const Candidate& candidate, const Check& check) {
  const rules::Script replay(model_.graph, result_.rules, candidate.trace);
  bool over = false;
  const auto accepts = [&](const rules::Replayed& part) {
    try {
      return accepts_part(part, check);
    } catch (const Stopped&) {
      return over = true;
    }
  };
  const std::string why = fmt::format("{}: {}", check.by, to_text(check));
  log_.warn("'{}' does not compute the same ({}); looking for the rewrites that show it", candidate.name, why);
  const auto steps = minimal_refused(replay, accepts, kTries, [&] { return over || clock_.deadline().over(); });
  const std::filesystem::path folder = std::filesystem::path(options_.out).parent_path() / "rlgo-wrong-rewrite";
  std::string left = "what shows it is in " + folder.string();
  try {
    write_counterexample(replay, steps, why, folder);
  } catch (const Error& e) {
    left = fmt::format("what shows it could not be written ({})", e.what());
  }
  fail(
      "the rewritten model does not compute the same ({}); the model is not written. {} of {} rewrites {} wrong: {}. "
      "This is a bug of a rule or of rlgo; please report it ({}), and use --rules without that rule",
      why, steps.size(), replay.size(), steps.size() == 1 ? "is" : "together are", rules_of(replay, steps), left);
}

}  // namespace rlgo::optimise
