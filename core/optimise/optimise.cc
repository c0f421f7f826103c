#include "core/optimise/optimise.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/onnx/weight_files.h"
#include "core/optimise/acceptance.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/candidates.h"
#include "core/optimise/clock.h"
#include "core/optimise/deferred_costs.h"
#include "core/optimise/first_run.h"
#include "core/optimise/inputs.h"
#include "core/optimise/kept_tables.h"
#include "core/optimise/last_stages.h"
#include "core/optimise/model.h"
#include "core/optimise/other_sizes.h"
#include "core/optimise/plan.h"
#include "core/optimise/quantised.h"
#include "core/optimise/verify.h"
#include "core/verify/fold.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;
namespace {

constexpr int kLeastCompareRounds = 5;
constexpr int kCheckedRuns = 24;  // of models, about, that the checks of outputs take

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
std::string synthetic_sizes(const ModelOptions& options, const LoadedModel& model) {
  Sizes synthetic = model.samples;
  for (const auto& [name, size] : given_sizes(options.sizes, model.open_places)) synthetic.erase(name);
  return as_options(synthetic);
}

// Reports it at once where there is more to check than there is time.
TimePlan plan_of(double seconds, double passed_s, double last_s, const Bound& bound, const std::string& synthetic,
                 const TimingEstimate& timing, const Log& log) {
  const double checks_s = timing.compare_s(kCheckedRuns, 1);
  if (const auto text = overrun_text(seconds, passed_s, last_s + checks_s, bound.end_s, synthetic); !text.empty())
    log.warn("{}", text);
  return make_plan(seconds, passed_s, last_s + checks_s, timing.compare_s(4, kLeastCompareRounds));
}

// One call: what its stages share, and the stages, in the order in which they run.
class Run {
 public:
  Run(const OptimiseOptions& options, const OptimiseParts& parts, const Log& log, StatusLine& line,
      const std::function<bool()>& should_stop)
      : options_(options),
        parts_(parts),
        log_(log),
        should_stop_(should_stop),
        clock_(line, options.seconds, should_stop) {}

  Result run() {
    read();
    start();
    folder_.emplace("rlgo-optimise");
    benchmark_.emplace(*runtime_, cost::RunnableModel{&model_.graph, options_.model.graph});
    clock_.phase("timing the model", "timing the model");
    if (first_run(options_.model, model_, *benchmark_, *runtime_, clock_, result_)) {
      choose_quantised(options_, model_, *runtime_, *benchmark_, folder_->path(), clock_, log_, result_);
      model_.folded = std::make_shared<verify::FoldedBlobs>();
      model_.weight_files = std::make_shared<onnx_io::WeightFiles>(folder_->path());
      bound_ = make_bound(options_.seconds, benchmark_->timing().timed_s(), read_s_);
      rewrite();
      check();
      measure();
      write();
    }
    clock_.clear();
    result_.took_s = clock_.passed();
    result_.phases = clock_.phases();
    return std::move(result_);
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void read() {
    check_out(options_);
    allowed_steps(options_.allow);
    if (options_.method == "train" && !parts_.train)
      fail("method train is for the command line alone: rlgo optimise --method train");
    clock_.phase("reading", "reading " + options_.model.graph);
    model_ = load_model(options_.model, true, should_stop_);
    for (const auto& file : written_files(options_)) check_not_read(model_, file);
    for (const auto& what : model_.left_out) log_.warn("{}", what);
    read_s_ = clock_.passed();
  }

  void start() {
    clock_.phase("starting the target", "starting the target");
    clock_.end_by(kNever, 0);  // a signal ends the wait for a runtime that states nothing
    runtime_ = parts_.start_runtime([this] { return clock_.deadline().over(); });
    clock_.end_by(kNever, kSearchAnswer_s);
    // Of all inputs: open dimensions have sample sizes, and --dim fixes them in the written model only.
    runtime_->set_input_shapes(run_shapes(model_));
    result_ = begin(options_, parts_, model_, *runtime_);
    runtime_->set_input_values(result_.given);
    costs_ = parts_.formula ? cost::MeasuredCosts{nullptr, parts_.formula, {}} : runtime_->measure();
    result_.cost_name = costs_.model->name();
    result_.learned_on = costs_.learned_on;
    if (costs_.table) {
      result_.costs_file = load_costs(options_.costs, *costs_.table, log_);
      result_.costs_known = costs_.table->priced();
      result_.estimates = costs_.predicted ? "learned prices" : "a formula";
    }
  }

  void keep_costs() {
    if (!costs_.table) return;
    result_.costs_new = costs_.table->priced() - result_.costs_known;
    if (result_.costs_new > 0) save_costs(result_.costs_file, *costs_.table, log_);
  }

  // Searches, and chooses by comparing whole models.
  void rewrite() {
    const TimePlan plan = plan_of(options_.seconds, clock_.passed(), benchmark_->least_s(), bound_,
                                  synthetic_sizes(options_.model, model_), benchmark_->timing(), log_);
    clock_.end_by(bound_.choose_s(std::max(plan.choose_s, plan.late_s)), kSearchAnswer_s);
    const auto timing_for = std::make_shared<const Candidates*>(nullptr);
    if (costs_.set_watch) costs_.set_watch(until_timing_ends(clock_, timing_for));
    Candidates candidates(options_, model_, *costs_.model, *benchmark_, folder_->path(), clock_, plan, log_, result_);
    *timing_for = &candidates;
    candidates.use_training(parts_);
    candidates.use_predicted(costs_.predicted.get());
    candidates.search();
    keep_costs();
    candidates.choose();
    keep_costs();
    *timing_for = nullptr;
    result_.interrupted = clock_.interrupted();
  }

  void check() {
    clock_.phase("checks", "checking outputs");
    clock_.end_by(bound_.checks_s(clock_.passed(), benchmark_->fewest_s()), kChecksAnswer_s);
    Acceptance(options_, model_, *runtime_, *costs_.model, folder_->path(), clock_, log_, result_, *benchmark_)
        .choose();
    clock_.end_by(bound_.end_s, kLastAnswer_s);
  }

  void measure() {
    clock_.phase("costs of the report", "costs of the report");
    if (costs_.refresh) costs_.refresh();
    price_alike(*costs_.model, result_);
    ReportCosts costs = report_costs(*costs_.model, clock_, result_);
    result_.step_us = std::move(costs.step_us);
    result_.before_op_us = std::move(costs.before_op_us);
    result_.after_op_us = std::move(costs.after_op_us);
    clock_.phase("final measurement", "final measurement");
    result_.touched = is_touched(result_.best(), model_);
    result_.end_to_end = measure_end_to_end(options_, *runtime_, *benchmark_, clock_, result_);
    if (result_.end_to_end.ok() && result_.end_to_end.faster)
      measure_at_sizes(*runtime_, run_shapes(model_), *benchmark_, clock_, result_);
    result_.switches = measure_switches(options_, *runtime_, benchmark_->timing(), clock_, result_);
    result_.kept = measure_kept(options_, *runtime_, benchmark_->timing(), clock_, result_);
    result_.interrupted = clock_.interrupted();
  }

  // Concludes, and writes what was found, unless the user wants an end meanwhile.
  void write() {
    Verdict verdict = conclude(options_, result_);
    result_.verdict = std::move(verdict.text);
    result_.touched = verdict.touched;
    result_.improved = verdict.improved;
    result_.forced = verdict.forced;
    result_.refused = verdict.refused;
    result_.written = verdict.written;
    clock_.phase("writing", "writing");
    clock_.end_by(kNever, kLastAnswer_s);
    try {
      if (result_.written)
        write_and_read_again(model_, result_.best().graph, result_.best().file, options_.out, clock_.deadline());
    } catch (const Stopped&) {
      result_.written = result_.improved = result_.forced = false;
      result_.interrupted = true;
      result_.verdict += "; it was stopped while it was written: nothing is written";
    }
    result_.bytes_before = onnx_io::stored_bytes(options_.model.graph);
    result_.bytes_after = onnx_io::stored_bytes(result_.written ? fs::path(options_.out) : result_.best().file);
  }

  const OptimiseOptions& options_;
  const OptimiseParts& parts_;
  const Log& log_;
  const std::function<bool()>& should_stop_;
  OptimiseClock clock_;
  std::optional<TemporaryFolder> folder_;
  LoadedModel model_;
  double read_s_ = 0;
  std::shared_ptr<cost::Runtime> runtime_;
  cost::MeasuredCosts costs_;
  std::optional<Benchmark> benchmark_;
  Bound bound_;
  Result result_;
};

}  // namespace

Result optimise(const OptimiseOptions& options, const OptimiseParts& parts, const Log& log, StatusLine& line,
                const std::function<bool()>& should_stop) {
  return Run(options, parts, log, line, should_stop).run();
}

}  // namespace rlgo::optimise
