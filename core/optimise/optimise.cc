#include "core/optimise/optimise.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/base/temporary_folder.h"
#include "core/cost/table_file.h"
#include "core/onnx/weight_files.h"
#include "core/optimise/acceptance.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/candidates.h"
#include "core/optimise/clock.h"
#include "core/optimise/first_run.h"
#include "core/optimise/inputs.h"
#include "core/optimise/model.h"
#include "core/optimise/other_sizes.h"
#include "core/optimise/plan.h"
#include "core/optimise/quantised.h"
#include "core/optimise/timed_graphs.h"
#include "core/optimise/verify.h"
#include "core/report/evidence.h"
#include "core/verify/fold.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;
namespace {

constexpr int kLeastCompareRounds = 5;
constexpr double kSwitchesSeconds = 1.5;  // for the runtime's own switches
constexpr int kCheckedRuns = 24;          // of models, about, that the checks of outputs take

// Measured costs of earlier calls on this machine. A damaged table is reported and starts again.
fs::path load_costs(const OptimiseOptions& options, cost::TableCost& table, const Log& log) {
  if (options.costs.empty()) return {};
  const fs::path file = fs::path(options.costs) / (cost::file_stem(table.origin()) + ".tsv");
  std::error_code error;
  if (!fs::exists(file, error)) return file;
  try {
    table.load(file);
  } catch (const Error& e) {
    log.warn("{}; the table starts again", e.what());
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

// Graphs that were timed whole, for method "learned", and their file: that of --learned.data, which must be sound, else
// one next to the measured costs, which starts again where it is damaged.
TimedGraphs load_timed(const OptimiseOptions& options, const cost::Runtime& runtime, Result& result, const Log& log) {
  TimedGraphs timed({result.cost_name + ", timed in " + runtime.name(), runtime.device(), runtime.threads()});
  const bool asked = !options.learned.data.empty();
  fs::path& file = result.learned.file;
  if (asked)
    check_destination(file = options.learned.data);
  else if (!result.costs_file.empty())
    file = fs::path(result.costs_file).replace_extension(".timed.tsv");
  std::error_code error;
  if (file.empty() || !fs::exists(file, error)) return timed;
  try {
    timed.load(file);
  } catch (const Error& e) {
    if (asked) throw e.in("--learned.data");
    log.warn("{}; the graphs timed so far start again", e.what());
  }
  return timed;
}

void save_timed(const Result& result, const TimedGraphs& timed, const Log& log) {
  if (result.learned.file.empty() || result.learned.timed.empty()) return;
  try {
    make_writable_folder(fs::absolute(result.learned.file).parent_path());
    timed.save(result.learned.file);
  } catch (const Error& e) {
    log.warn("graphs that were timed are not kept for the next call: {}", e.what());
  }
}

// The files that are written where all goes well.
std::vector<std::string> written_files(const OptimiseOptions& options) {
  std::vector<std::string> files = options.others;
  files.push_back(options.out);
  std::erase_if(files, [](const std::string& file) { return file.empty() || file == "-"; });
  return files;
}

// Fails before the work, not after it.
void check_out(const OptimiseOptions& options) {
  std::error_code error;
  const std::string& out = options.out;
  if (out == "-") fail("-o -: a model is not written to standard output; name a file (./- where that is its name)");
  if (fs::exists(out, error) && fs::equivalent(out, options.model.graph, error))
    fail("-o {}: is the model itself; name another file", out);
  if (fs::exists(out, error) && !fs::is_regular_file(out, error))
    fail("-o {}: is not a file; name one, or leave -o out where nothing is to be written", out);
  for (const auto& file : written_files(options)) check_destination(file);
}

// The verdict of the final comparison, in words.
void conclude(const OptimiseOptions& options, Result& result) {
  const Candidate& best = result.best();
  const Latency& timed = result.end_to_end;
  const auto given_up = [](const Candidate& c) { return c.error.starts_with("given up"); };
  const auto late = [](const Candidate& c) { return c.error.starts_with(kNotChecked); };
  if (std::ranges::any_of(result.candidates, late) && !result.checked) {
    result.verdict = "nothing found: there was no time to check a rewritten model";
    if (!result.interrupted) result.verdict += "; give more --seconds";
    result.touched = result.forced = false;
    return;
  }
  if (!result.checked && !options.force) {
    result.verdict = result.touched || std::ranges::any_of(result.candidates, given_up)
                         ? "nothing found: no rewritten model passed the checks"
                         : "nothing found: no rewrite makes it faster";
    result.touched = false;
    return;
  }
  const std::string change = fmt::format("{:+.2f} %", 100 * (timed.ratio - 1));
  const std::string interval = std::isfinite(timed.upper)
                                   ? fmt::format("{:.3f} to {:.3f} of the latency", timed.lower, timed.upper)
                                   : fmt::format("{} rounds, no time for more", timed.rounds);
  result.improved = result.touched && timed.ok() && timed.faster;
  if (!result.touched)
    result.verdict = "nothing found: no rewrite makes it faster";
  else if (!timed.ok())
    result.verdict = "the models could not be measured: " + timed.error;
  else if (timed.faster)
    result.verdict = fmt::format("improved: {} of the latency under {}", change, result.target);
  else if (timed.slower)
    result.verdict = fmt::format("nothing found: the best rewritten model is slower ({})", change);
  else
    result.verdict = fmt::format("nothing found: {} is not shown to be faster ({})", change, interval);
  result.forced = !result.improved && options.force;
  // Of a model without rewrites: what was computed on its way through rlgo.
  if (const Check* why = result.forced ? refusal(result.checks) : nullptr) {
    result.refused = true;
    result.verdict +=
        fmt::format("; not written: the model as rlgo writes it differs ({}: {})", why->by, to_text(*why));
  }
  if (options.out.empty() || best.file.empty() || !(result.improved || result.forced) || result.refused) return;
  result.written = true;
}

Result begin(const OptimiseOptions& options, const OptimiseParts& parts, const LoadedModel& model,
             const cost::Runtime& runtime) {
  Result result;
  result.model = options.model.graph;
  result.out = options.out;
  result.forced = options.force;
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

constexpr double kTellSeconds = 2;    // at most, for the costs after each rewrite
constexpr double kTellShare = 0.25;   // of the time until the command must end
constexpr double kSwitchesRuns = 12;  // of the model, that the first setting takes in any case
constexpr int kSwitchesLoads = 2;     // of it, that are worth waiting for
constexpr int kProfileRuns = 6;       // of it, that a profile takes

// Costs after each rewrite and of each operator, for the report. Nothing is measured for it: what is not known is
// estimated. Thousands of rewrites of a large graph take minutes, and go without.
void tell_costs(cost::CostModel& model, const OptimiseClock& clock, Result& result) {
  price_alike(model, result);
  const bool gathers = model.defer();
  const double until_s = clock.passed() + std::min(kTellSeconds, kTellShare * clock.left_to_end());
  const auto note = [&](const graph::Graph& graph, size_t made) {
    if (clock.passed() >= until_s) throw Stopped("the costs after each rewrite are left out");
    result.step_us.insert(result.step_us.end(), made, cost::graph_cost(model, graph).runtime_us);
  };
  const auto& trace = result.best().trace;
  try {
    const auto stop = [&] { return clock.passed() >= until_s; };
    rules::replay(result.before, result.rules, trace, std::numeric_limits<int>::max(), note, stop);
  } catch (const Stopped&) {
    // It is a part of the report alone.
  }
  if (result.step_us.size() < trace.size()) result.step_us.clear();
  result.before_op_us = report::prices_of(model, result.before);
  result.after_op_us = report::prices_of(model, result.best().graph);
  if (gathers) model.flush();
}

void measure_end_to_end(const OptimiseOptions& options, const LoadedModel& model, cost::Runtime& runtime,
                        Benchmark& benchmark, const OptimiseClock& clock, Result& result) {
  const Candidate& best = result.best();
  // A model that nothing was done to is no faster, whatever a comparison of the two files states.
  result.touched = is_touched(best, model);
  if (best.file.empty() || !result.touched || !(result.checked || options.force)) return;
  const int most =
      result.interrupted ? Benchmark::kLeastRounds : std::max(options.check.repeats, Benchmark::kLeastRounds);
  // A process that is cut short states nothing: none is begun that takes too long.
  const auto stop = [&] { return clock.left_to_end() < runtime.start_s() + benchmark.timing().compare_s(2, 1); };
  if (stop()) {
    result.end_to_end.error = "there is no time left for it";
    return;
  }
  result.end_to_end =
      benchmark.measure(best.runnable(), most, result.interrupted ? 0 : std::max(0.0, clock.left()), stop);
}

void measure_switches(const OptimiseOptions& options, cost::Runtime& runtime, const TimingEstimate& timing,
                      OptimiseClock& clock, Result& result) {
  const double least_s = std::max(kSwitchesRuns * timing.run_s(), timing.compare_s(kSwitchesLoads, 1));
  if (!options.switches || clock.interrupted() || clock.left_to_end() < kSwitchesSeconds + least_s) return;
  std::vector<cost::RunnableModel> models = {{&result.before, options.model.graph}};
  if (result.touched && result.end_to_end.ok()) models.push_back(result.best().runnable());
  clock.phase("the runtime's switches", "the runtime's switches");
  result.switches = runtime.switches(models, kSwitchesSeconds);
}

// Of operators that are kept as they are: their part of the time.
void measure_kept(const OptimiseOptions& options, cost::Runtime& runtime, const TimingEstimate& timing,
                  OptimiseClock& clock, Result& result) {
  result.kept = cost::kept_operators(result.before, {});
  if (result.kept.kinds.empty() || clock.interrupted() || clock.left_to_end() < timing.compare_s(kProfileRuns, 1))
    return;
  clock.phase("operators that are kept", "operators that are kept");
  result.kept = cost::kept_operators(result.before, runtime.operator_times({&result.before, options.model.graph}));
}

// What may be timed: operators until candidates->timing_s() at the latest.
cost::MeasureWatch until_timing_ends(OptimiseClock& clock, std::shared_ptr<const Candidates*> timing_for) {
  return [&clock, timing_for = std::move(timing_for)](size_t done, size_t of) {
    const Candidates* const candidates = *timing_for;
    const bool may = candidates != nullptr && !clock.over(candidates->timing_s());
    const double left_s = may ? candidates->timing_s() - clock.passed() : 0.0;
    if (of > 0) clock.timing(left_s > 0 ? done : of, of);
    return left_s;
  };
}

// "--size h=320 --size w=384": sizes of open dimensions that the command line does not give.
std::string made_up_sizes(const ModelOptions& options, const LoadedModel& model) {
  Sizes made_up = model.samples;
  for (const auto& [name, size] : given_sizes(options.sizes)) made_up.erase(name);
  return as_options(made_up);
}

// Reports it at once where there is more to check than there is time.
TimePlan plan_of(double seconds, double passed_s, double last_s, const Bound& bound, const std::string& made_up,
                 const TimingEstimate& timing, const Log& log) {
  const double checks_s = timing.compare_s(kCheckedRuns, 1);
  if (const auto text = overrun_text(seconds, passed_s, last_s + checks_s, bound.end_s, made_up); !text.empty())
    log.warn("{}", text);
  return make_plan(seconds, passed_s, last_s + checks_s, timing.compare_s(4, kLeastCompareRounds));
}

// Writes what was found, unless the user wants an end meanwhile.
void write_result(const OptimiseOptions& options, const LoadedModel& model, const Deadline& deadline, Result& result) {
  if (!result.written) return;
  try {
    write_and_read_again(model, result.best().graph, result.best().file, options.out, deadline);
  } catch (const Stopped&) {
    result.written = result.improved = result.forced = false;
    result.interrupted = true;
    result.verdict += "; it was stopped while it was written: nothing is written";
  }
}

Result end(OptimiseClock& clock, Result result) {
  clock.clear();
  result.took_s = clock.passed();
  result.phases = clock.phases();
  return result;
}

}  // namespace

Result optimise(const OptimiseOptions& options, const OptimiseParts& parts, const Log& log, StatusLine& line,
                const std::function<bool()>& should_stop) {
  OptimiseClock clock(line, options.seconds, should_stop);
  check_out(options);
  allowed_steps(options.allow);
  if (options.method == "train" && !parts.train)
    fail("method train is for the command line alone: rlgo optimise --method train");
  clock.phase("reading", "reading " + options.model.graph);
  LoadedModel model = load_model(options.model, true, should_stop);
  for (const auto& file : written_files(options)) check_not_read(model, file);
  for (const auto& what : model.left_out) log.warn("{}", what);
  const double read_s = clock.passed();
  clock.phase("starting the target", "starting the target");
  clock.end_by(std::numeric_limits<double>::infinity(), 0);  // a signal ends the wait for a runtime that states nothing
  const auto runtime = parts.start_runtime([&clock] { return clock.deadline().over(); });
  clock.end_by(std::numeric_limits<double>::infinity(), kSearchAnswer_s);
  // Of all inputs: open dimensions have sample sizes, and --dim fixes them in the written model only.
  runtime->set_input_shapes(run_shapes(model));
  Result result = begin(options, parts, model, *runtime);
  runtime->set_input_values(result.given);
  const cost::MeasuredCosts costs =
      parts.formula ? cost::MeasuredCosts{nullptr, parts.formula, {}} : runtime->measure();
  if (costs.table) result.costs_file = load_costs(options, *costs.table, log);
  result.costs_known = costs.table ? costs.table->priced() : 0;
  result.cost_name = costs.model->name();
  if (costs.table) result.estimates = costs.predicted ? "learned prices" : "a formula";
  result.learned_on = costs.learned_on;

  std::optional<TimedGraphs> timed;
  if (options.method == "learned") {
    result.learned.asked = true;
    result.learned.ended_by = "the model was not run";
    timed = load_timed(options, *runtime, result, log);
  }

  const TemporaryFolder folder("rlgo-optimise");
  Benchmark benchmark(*runtime, {&model.graph, options.model.graph});
  clock.phase("timing the model", "timing the model");
  const bool runs = first_run(options.model, model, benchmark, *runtime, clock, result);
  if (!runs) return end(clock, std::move(result));
  choose_quantised(options, model, *runtime, benchmark, folder.path(), clock, log, result);
  model.folded = std::make_shared<verify::FoldedBlobs>();
  model.weight_files = std::make_shared<onnx_io::WeightFiles>(folder.path());

  const TimingEstimate& timing = benchmark.timing();
  const double last_s = benchmark.least_s();
  const Bound bound = make_bound(options.seconds, timing.timed_s(), read_s);
  const TimePlan plan =
      plan_of(options.seconds, clock.passed(), last_s, bound, made_up_sizes(options.model, model), timing, log);
  clock.end_by(bound.choose_s(std::max(plan.choose_s, plan.late_s)), kSearchAnswer_s);
  const auto timing_for = std::make_shared<const Candidates*>(nullptr);
  if (costs.set_watch) costs.set_watch(until_timing_ends(clock, timing_for));
  Candidates candidates(options, model, *costs.model, benchmark, folder.path(), clock, plan, log, result);
  *timing_for = &candidates;
  if (timed) candidates.use_timed(&*timed);
  candidates.use_training(parts);
  candidates.use_predicted(costs.predicted.get());
  const auto keep_costs = [&] {
    if (!costs.table) return;
    result.costs_new = costs.table->priced() - result.costs_known;
    save_costs(result, *costs.table, log);
  };
  candidates.search();
  keep_costs();
  if (timed) save_timed(result, *timed, log);
  candidates.choose();
  keep_costs();
  *timing_for = nullptr;
  result.interrupted = clock.interrupted();
  clock.phase("checks", "checking outputs");
  clock.end_by(bound.checks_s(clock.passed(), benchmark.fewest_s()), kChecksAnswer_s);
  Acceptance(options, model, *runtime, *costs.model, folder.path(), clock, log, result, benchmark).choose();
  clock.end_by(bound.end_s, kLastAnswer_s);
  clock.phase("costs of the report", "costs of the report");
  if (costs.refresh) costs.refresh();
  tell_costs(*costs.model, clock, result);
  clock.phase("final measurement", "final measurement");
  measure_end_to_end(options, model, *runtime, benchmark, clock, result);
  if (result.end_to_end.ok() && result.end_to_end.faster)
    measure_at_sizes(*runtime, run_shapes(model), benchmark, clock, result);
  measure_switches(options, *runtime, timing, clock, result);
  measure_kept(options, *runtime, timing, clock, result);
  result.interrupted = clock.interrupted();
  conclude(options, result);
  clock.phase("writing", "writing");
  clock.end_by(std::numeric_limits<double>::infinity(), kLastAnswer_s);
  write_result(options, model, clock.deadline(), result);
  result.bytes_before = onnx_io::stored_bytes(options.model.graph);
  result.bytes_after = onnx_io::stored_bytes(result.written ? fs::path(options.out) : result.best().file);
  return end(clock, std::move(result));
}

}  // namespace rlgo::optimise
