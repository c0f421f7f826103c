#include "core/optimise/optimise.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/temporary_folder.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/candidates.h"
#include "core/optimise/clock.h"
#include "core/optimise/inputs.h"
#include "core/optimise/model.h"
#include "core/optimise/plan.h"
#include "core/optimise/verify.h"
#include "core/report/evidence.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;
namespace {

constexpr int kFirstRounds = 3, kLeastCompareRounds = 5;
// Fewer say nothing; with few the margin is wider (margin_of).
constexpr int kLeastFinalRounds = 7, kLeastInterruptedRounds = 5;
constexpr double kFirstShare = 0.1;  // of the time that is left, for the first timing
constexpr int kCheckedRuns = 12;     // of models, about, that the checks of outputs take

// Measured costs of earlier calls on this machine. A damaged table is told about and starts anew.
fs::path load_costs(const OptimiseOptions& options, cost::TableCost& table, const Log& log) {
  if (options.costs.empty()) return {};
  const auto& origin = table.origin();
  uint64_t hash = hash_string(origin.device, hash_string(origin.model));
  hash = hash_combine(hash, static_cast<uint64_t>(origin.threads));
  std::string name = origin.model;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.'; },
      '-');
  const fs::path file = fs::path(options.costs) / fmt::format("{}-{}t-{:08x}.tsv", name, origin.threads, hash >> 32);
  std::error_code error;
  if (!fs::exists(file, error)) return file;
  try {
    table.load(file);
  } catch (const Error& e) {
    log.warn("{}; the table starts anew", e.what());
  }
  return file;
}

void save_costs(const Result& result, const cost::TableCost& table, const Log& log) {
  if (result.costs_file.empty() || result.costs_new == 0) return;
  try {
    make_writable_folder(result.costs_file.parent_path());
    table.save(result.costs_file);
  } catch (const Error& e) {
    log.warn("measured costs are not kept for the next call: {}", e.what());
  }
}

// Fails before the work, not after it.
void check_destination(const OptimiseOptions& options) {
  if (options.out.empty()) return;
  std::error_code error;
  if (fs::exists(options.out, error) && fs::equivalent(options.out, options.model.graph, error)) {
    fail("-o {}: is the model itself; name another file", options.out);
  }
  if (fs::is_directory(options.out, error)) fail("-o {}: is a folder; name a file", options.out);
  const fs::path folder = fs::absolute(options.out).parent_path();
  if (!fs::is_directory(folder, error)) fail("-o {}: there is no folder {}", options.out, folder.string());
  if (::access(folder.c_str(), W_OK) != 0) fail("-o {}: folder {} is not writable", options.out, folder.string());
}

// The verdict of the final comparison, in words.
void conclude(const OptimiseOptions& options, const LoadedModel& model, Result& result) {
  const Candidate& best = result.best();
  const auto& timed = result.end_to_end;
  if (!timed.error.empty() || timed.models.size() < 2 || !timed.models[1].ok()) {
    const std::string why = !timed.error.empty()      ? timed.error
                            : timed.models.size() < 2 ? "no measurement"
                                                      : timed.models[1].error;
    result.verdict = "the models could not be measured: " + why;
  } else {
    result.margin = margin_of(timed, 1);
    // A model that nothing was done to is no faster, whatever a comparison of the two files says.
    const bool touched = !best.trace.empty() || best.normalised.denormals > 0 || model.folded > 0;
    result.improved = touched && timed.ratio[1] < 1 - result.margin;
    const std::string change = fmt::format("{:+.2f} %", 100 * (timed.ratio[1] - 1));
    if (result.improved)
      result.verdict = fmt::format("improved: {} of the latency under {}", change, result.target);
    else if (!touched)
      result.verdict = "nothing found: no rewrite makes it faster";
    else if (timed.ratio[1] > 1 + result.margin)
      result.verdict = fmt::format("nothing found: the best rewritten model is slower ({})", change);
    else
      result.verdict = fmt::format("nothing found: {} is within the noise of {:.2f} %", change, 100 * result.margin);
  }
  result.forced = !result.improved && options.force;
  if (options.out.empty() || best.file.empty() || !(result.improved || result.forced)) return;
  result.written = true;
}

Result begin(const OptimiseOptions& options, const OptimiseParts& parts, const LoadedModel& model,
             const cost::Runtime& runtime) {
  Result result;
  result.model = options.model.graph;
  result.out = options.out;
  result.method = options.method;
  result.seconds = options.seconds;
  result.tolerance = options.check.tolerance;
  result.threads = runtime.threads();
  result.target = runtime.name();
  result.device = runtime.device();
  result.version = parts.version;
  result.about = model.about;
  result.changes = model.changes;
  result.given = parse_inputs(options.inputs, model.graph);
  result.before = model.graph;
  result.rules = parts.rules;
  return result;
}

// Costs after each rewrite and of each operator, for the report. Nothing is measured for it: what is not known is
// estimated.
void tell_costs(cost::CostModel& model, Result& result) {
  const bool gathers = model.postpone();
  graph::Graph graph = result.before;
  for (const auto& step : result.best().trace) {
    const search::Step one[] = {step};
    graph = search::replay(graph, result.rules, one);
    result.step_us.push_back(cost::graph_cost(model, graph).runtime_us);
  }
  result.before_op_us = report::prices_of(model, result.before);
  result.after_op_us = report::prices_of(model, result.best().graph);
  if (gathers) model.settle();
}

void measure_end_to_end(const OptimiseOptions& options, Benchmark& benchmark, const OptimiseClock& clock,
                        Result& result) {
  if (result.best().file.empty()) return;
  const double spare_s = result.interrupted ? 0 : std::max(0.0, clock.left());
  const int most = static_cast<int>(options.rounds);
  const int least = std::min(most, result.interrupted ? kLeastInterruptedRounds : kLeastFinalRounds);
  const cost::RunnableModel best[] = {result.best().runnable()};
  result.end_to_end =
      benchmark.compare(best, benchmark.pace().rounds(spare_s, 3, least, most), std::max(spare_s, 1e-3), least);
}

// Why a candidate whose outputs differ beyond the tolerance may be given up for the next one; "" where that is a bug. A
// rewrite that is exact but for the last bits of floats may move a number by one step of a model that rounds to few
// bits; and in convolutions by fewer multiplications (Winograd) large terms cancel, which adds up from layer to layer.
std::string excuse(const graph::Graph& before, const Result& result) {
  constexpr double kRounding = 100;  // times the tolerance; more is a bug
  if (const std::string steps = coarse_steps(before); !steps.empty())
    return fmt::format("the model rounds on the way ({})", steps);
  const auto rounding = [&](const Check& check) {
    return !check.done || check.same || (check.error > result.tolerance && check.error <= kRounding * result.tolerance);
  };
  return std::ranges::all_of(result.checks, rounding) ? "its rounding errors add up" : "";
}

// The chosen candidate; where it differs and has an excuse, the next best one, which is told. The file itself is the
// last. Throws Error where nothing is left.
void check_the_chosen(const OptimiseOptions& options, const LoadedModel& model, cost::Runtime& runtime, const Log& log,
                      Result& result) {
  for (;;) {
    const Candidate& best = result.best();
    if (best.file.empty()) fail("{}", best.error);
    result.checks = verify(model, options.model.graph, best.runnable(), runtime, options.check);
    const auto differs = std::ranges::find_if(result.checks, [](const Check& c) { return c.done && !c.same; });
    const std::string why = differs == result.checks.end() ? "" : excuse(model.graph, result);
    if (why.empty() || best.trace.empty())
      return refuse_differences(result.checks, result.tolerance, rules_used(result), options.force);
    const std::string told = fmt::format("relative error {:.3g} by {}, tolerance {:.3g} (--check.tolerance): {}",
                                         differs->error, differs->by, result.tolerance, why);
    log.warn("'{}' is given up: {}", best.name, told);
    result.candidates[result.chosen].error = "given up: " + told;
    std::vector<size_t> others;
    for (size_t k = 0; k < result.candidates.size(); ++k) {
      if (result.candidates[k].error.empty() && !result.candidates[k].file.empty()) others.push_back(k);
    }
    if (others.empty()) return refuse_differences(result.checks, result.tolerance, rules_used(result), options.force);
    const auto key = [&](size_t k) {
      const Candidate& a = result.candidates[k];
      return std::pair(a.ratio > 0 ? a.ratio : 1.0, a.cost_us);
    };
    result.chosen = *std::ranges::min_element(others, {}, key);
  }
}

// What may be timed: operators until candidates->timing_s() at the latest.
cost::MeasureWatch until_timing_ends(OptimiseClock& clock, const Candidates* const& candidates) {
  return [&clock, &candidates](size_t done, size_t of) {
    const bool may = candidates != nullptr && !clock.over(candidates->timing_s());
    const double left_s = may ? candidates->timing_s() - clock.passed() : 0.0;
    if (of > 0) clock.timing(left_s > 0 ? done : of, of);
    return left_s;
  };
}

// Throws Error where the runtime cannot run the model.
void time_the_model(const OptimiseOptions& options, const LoadedModel& model, Benchmark& benchmark,
                    cost::Runtime& runtime, const OptimiseClock& clock, Result& result) {
  const auto first = benchmark.compare({}, kFirstRounds, kFirstShare * clock.left(), 1);
  if (!first.error.empty()) {
    const std::string shapes = shapes_text(model.graph);
    fail("{} cannot run the model{}: {} (--size and --dim give other sizes, --input other numbers)", result.target,
         shapes.empty() ? "" : " with " + shapes, first.error);
  }
  result.assumed = first.assumed;
  auto values = first.assumed;  // the same for all models
  values.insert(result.given.begin(), result.given.end());
  runtime.set_input_values(std::move(values));
}

}  // namespace

Result optimise(const OptimiseOptions& options, const OptimiseParts& parts, const Log& log, StatusLine& line,
                const std::function<bool()>& should_stop) {
  OptimiseClock clock(line, options.seconds, should_stop);
  check_destination(options);
  clock.phase("reading", "reading " + options.model.graph);
  const LoadedModel model = load_model(options.model, true);
  clock.phase("starting the target", "starting the target");
  const auto runtime = parts.start_runtime();
  // Of all inputs: open dimensions have sample sizes, and --dim fixes them in the written model only.
  runtime->set_input_shapes(input_shapes(model.graph));
  Result result = begin(options, parts, model, *runtime);
  runtime->set_input_values(result.given);
  const cost::MeasuredCosts costs =
      parts.formula ? cost::MeasuredCosts{nullptr, parts.formula, {}} : runtime->measure();
  if (costs.table) result.costs_file = load_costs(options, *costs.table, log);
  result.costs_known = costs.table ? costs.table->size() : 0;
  result.cost_name = costs.model->name();

  const TemporaryFolder folder("rlgo-optimise");
  Benchmark benchmark(*runtime, {&model.graph, options.model.graph});
  clock.phase("timing the model", "timing the model");
  time_the_model(options, model, benchmark, *runtime, clock, result);

  const Pace& pace = benchmark.pace();
  const double last_s = pace.compare_s(3, kLeastFinalRounds) + pace.compare_s(kCheckedRuns, 1);
  const Plan plan = make_plan(options.seconds, clock.passed(), last_s, pace.compare_s(4, kLeastCompareRounds));
  const Candidates* timing_for = nullptr;
  if (costs.set_watch) costs.set_watch(until_timing_ends(clock, timing_for));
  Candidates candidates(options, model, *costs.model, benchmark, folder.path(), clock, plan, log, result);
  timing_for = &candidates;
  const auto keep_costs = [&] {
    if (!costs.table) return;
    result.costs_new = costs.table->size() - result.costs_known;
    save_costs(result, *costs.table, log);
  };
  candidates.search();
  keep_costs();
  candidates.choose();
  keep_costs();
  timing_for = nullptr;
  result.interrupted = clock.interrupted();
  clock.phase("checks", "checking outputs");
  tell_costs(*costs.model, result);
  check_the_chosen(options, model, *runtime, log, result);
  clock.phase("final measurement", "final measurement");
  measure_end_to_end(options, benchmark, clock, result);
  conclude(options, model, result);
  clock.phase("writing", "writing");
  if (result.written) write_and_read_again(model, result.best().graph, result.best().file, options.out);
  clock.clear();
  result.took_s = clock.passed();
  result.phases = clock.phases();
  return result;
}

}  // namespace rlgo::optimise
