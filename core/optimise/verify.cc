#include "core/optimise/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/measure/outputs.h"
#include "core/optimise/check_coverage.h"
#include "core/optimise/original.h"
#include "core/verify/agreement.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;
namespace {

constexpr double kOwnErrors = 8;      // the result's rounding may be so many times the original's own
constexpr double kWrongErrors = 1e3;  // ... and beyond so many times (and kWrongError) no rounding explains it
constexpr double kWrongError = 1e-2;
constexpr double kFoldedError = 1e-6;  // weights that the export computed are rounded to single precision
// Sets of sizes at which a model with open dimensions is checked, and of inputs that show rounding.
constexpr int kSizes = 3, kRoundingSets = 2;
constexpr double kExactFraction = 0.5, kFileFraction = 0.7;  // of the time for the checks, that are over then
constexpr double kLargeSizes = 8;                            // other sizes may take so many times as long

// What rlgo wrote: dimensions that were fixed are fixed there, the others still open.
LoadedModel read_again(const LoadedModel& model, const fs::path& file, bool with_weights = true,
                       const Deadline& deadline = {}) {
  ModelOptions options;
  options.graph = file.string();
  options.sizes = model.source.sizes;
  options.written = true;
  return load_model(options, with_weights, [&] { return deadline.over(); });
}

// Shows an output's error where it comes nearer to what is allowed than those before. One whose own rounding is as
// large as its values shows nothing, and is named.
void note_error(Check& check, const std::string& name, double error, double allowed, const std::string& remark) {
  if (allowed >= 1) {
    const std::string blind =
        fmt::format("the original's own rounding error of output '{}' is as large as its values", name);
    if (check.limits.find(blind) == std::string::npos) check.limits += (check.limits.empty() ? "" : "; ") + blind;
  }
  if (check.allowed > 0 && !(error / allowed > check.error / check.allowed)) return;
  check.error = error;
  check.allowed = allowed;
  check.detail = error > 0 ? fmt::format("output '{}'{}", name, remark) : "";
}

void add_limit(Check& check, const std::string& limit) { check.limits += (check.limits.empty() ? "" : "; ") + limit; }

// Every value that a rewrite replaced was compared with what stands in its place: whatever is behind them is then
// equal.
bool all_replaced_compared(const verify::Agreement& found) {
  return !found.replaced_compared.empty() &&
         std::ranges::all_of(found.replaced_compared, [](bool seen) { return seen; });
}

// What the comparison in double precision amounts to.
Check verdict_of(const verify::Agreement& found, const graph::Graph& before, double tolerance, Check check) {
  check.error = found.error;
  check.allowed = tolerance;
  check.detail = found.worst;
  if (!found.interface.empty()) {
    check.finding = Finding::wrong;
    check.detail = found.interface;
    return check;
  }
  std::vector<std::string> silent, still;
  for (size_t k = 0; k < found.output_compared.size(); ++k) {
    const auto& name = before.outputs()[k].name;
    if (!found.output_compared[k])
      silent.push_back(name);
    else if (!found.output_moves[k] && before.type(before.outputs()[k].value).is_static())
      still.push_back(name);
  }
  const bool blind = silent.size() + still.size() == found.output_compared.size();
  const int64_t elements = found.rounded + found.unstable + found.compared;
  std::vector<std::string> limits;
  if (!silent.empty()) limits.push_back("nothing was compared of output " + join(silent, ", ") + " (NaN or infinite)");
  if (!still.empty()) limits.push_back("output " + join(still, ", ") + " is constant whatever the inputs");
  if (found.unstable > 0)
    limits.push_back(fmt::format("{} of {} elements stand on an edge where rounding decides: not compared",
                                 found.unstable, elements));
  if (found.rounded > 0)
    limits.push_back(fmt::format("{} of {} elements agree as far as single precision writes the model's constants",
                                 found.rounded, elements));
  if (found.undefined_differ > 0)
    limits.push_back(fmt::format("{} elements are NaN or infinite in the original and something else in the result",
                                 found.undefined_differ));
  check.limits = join(limits, "; ");
  if (found.wrong) {
    check.finding = Finding::wrong;
  } else if (blind && !all_replaced_compared(found)) {
    check.finding = Finding::not_compared;
    check.detail = "nothing was compared: " + (limits.empty() ? std::string("no output is known") : check.limits);
    check.limits.clear();
  } else if (found.undefined_differ > 0) {
    check.finding = Finding::differs;
    check.detail = limits.back();
  } else {
    check.finding = Finding::same;
  }
  return check;
}

}  // namespace

double allowed_for(double own, double tolerance) { return std::max(tolerance, kOwnErrors * own); }

Verifier::Verifier(const LoadedModel& model, fs::path before, cost::Runtime& runtime, CheckOptions options,
                   CheckTime time)
    : model_(model),
      before_(std::move(before)),
      runtime_(runtime),
      options_(options),
      time_(std::move(time)),
      original_(std::make_unique<Original>(model, options.threads, options.seed, end_)) {
  if (options_.seeds < 1) fail("a check needs at least one set of inputs, not {}", options_.seeds);
}

Verifier::~Verifier() = default;

Check Verifier::exact(const rules::Replayed& rewritten) { return exact(rewritten, budget()); }

// At the sizes that are chosen.
Check Verifier::exact_once(const rules::Replayed& rewritten, const Budget& budget) {
  verify::AgreementOptions options;
  options.threads = options_.threads;
  Check check{.by = "rlgo in double precision", .detail = "", .kind = Check::Kind::exact};
  if (smaller_) check.by += " at " + to_text(smaller_->samples);
  int sets = 0;
  bool replaced_seen = false;
  try {
    const rules::Replayed here = at_checked_sizes(rewritten);
    verify::AgreementCheck both(original_->runs(1), here.graph, here.replaced, options);
    while (sets < options_.seeds && (sets == 0 || budget.fits(kExactFraction, exact_s_))) {
      const Stopwatch watch;
      original_->runs(sets + 1);
      both.run(sets++);
      exact_s_ = watch.seconds();
      if (both.found().wrong || !both.found().interface.empty()) break;
    }
    check.by += ", " + counted(sets, "input");
    replaced_seen = all_replaced_compared(both.found());
    check = verdict_of(both.found(), checked().graph, options.tolerance, std::move(check));
  } catch (const Stopped&) {
    return skipped(std::move(check));
  } catch (const Error& e) {
    check.detail = e.what();
    return check;
  }
  if (sets < options_.seeds && check.finding == Finding::same)
    add_limit(check,
              fmt::format("{} of {} inputs are skipped for lack of time", options_.seeds - sets, options_.seeds));
  const CheckCoverage coverage = check_coverage(rewritten.graph);
  if (check.finding == Finding::same && coverage.nothing() && coverage.all() > 0 && !replaced_seen) {
    check.finding = Finding::not_compared;
    check.detail = to_text(coverage);
  } else if (coverage.nothing() && replaced_seen) {
    check.limits = to_text(coverage) + " at the outputs; all values that rewrites replaced were compared";
  } else if (const std::string text = to_text(coverage); !text.empty()) {
    check.limits = check.limits.empty() ? text : text + "; " + check.limits;
  }
  return check;
}

void declare(OptionSink& o, CheckOptions& check) {
  o.heading("Final check");
  o.integer("check.seeds", check.seeds, 1, 1000,
            "sets of random inputs of the equivalence check, whose kinds take turns");
  o.number("check.tolerance", check.tolerance, 0, 1,
           "largest relative error in single precision; 8 times the original's own where that is more", true);
  o.integer("check.repeats", check.repeats, 3, 10000, "paired end-to-end runs of the model before and after, at most");
}

// `after`, read from a file, in single precision against what is expected, next to the rounding of the original itself.
// Its values in double precision show whether more than rounding separates them.
void Verifier::add_rounding(const Expected& expected, const graph::Graph& after, Check& check) const {
  evaluate::TensorMap reference = expected.outputs;
  const auto left_out = verify::incomparable_outputs(expected.unknown, after);
  for (const auto& name : left_out) reference.erase(name);
  if (!left_out.empty()) {
    check.limits = fmt::format(
        "not compared: output {}, behind an unknown operator whose result, or its shape, is known in one file only",
        join(std::vector(left_out.begin(), left_out.end()), ", "));
    if (reference.empty()) check.detail = check.limits;
  }
  if (reference.empty()) return;
  if (check.finding == Finding::not_compared) check.finding = Finding::same;
  const auto exact = verify::output_errors(
      reference, verify::exact_outputs(after, expected.inputs, options_.threads, original_->weights(), end_));
  const auto rounded =
      verify::output_errors(reference, verify::native_outputs(after, expected.inputs, options_.threads, end_));
  for (const auto& [name, error] : exact) {
    const double own = expected.own_errors.at(name), allowed = allowed_for(own, options_.tolerance);
    const double worst = std::max(error, rounded.at(name));
    note_error(check, name, worst, allowed, fmt::format("; the original's own {:.2g}", own));
    if (!expected.centred && error > std::max({kWrongError, kWrongErrors * kFoldedError, kWrongErrors * own}))
      check.finding = Finding::wrong;
    else if (worst > allowed && check.finding == Finding::same)
      check.finding = Finding::rounding;
  }
}

// `after`, read from a file, on inputs across the range of numbers, as far as there is time.
void Verifier::add_ranges(const graph::Graph& after, const Budget& budget, Check& check) const {
  const auto left_out = verify::incomparable_outputs(verify::unknown_types(model_.graph), after);
  if (!left_out.empty()) return;
  for (int set = 0; set < verify::kRangeSets && !budget.over(kFileFraction); ++set) {
    const verify::RangeSet* range = original_->range(set);
    const std::string lost =
        range ? verify::lost_in_range(*range, model_.graph, after, options_.threads) : std::string();
    if (lost.empty()) continue;
    check.finding = Finding::differs;
    check.detail = lost + ", on inputs across the range of numbers";
    return;
  }
}

Check Verifier::file_again(const fs::path& file, const Check& exact, const Budget& budget) {
  Check check{.by = "the file, read again, in rlgo", .detail = "", .kind = Check::Kind::file};
  // It takes about as long as the comparison in double precision; the runtime's is kept free.
  if (runtime_.reads_files() && !budget.fits_end(exact_s_ + runtime_s() + time_.kept_s))
    return skipped(std::move(check));
  try {
    const LoadedModel read = read_again(checked(), file);
    const bool centred = original_->has_centred();
    double last_s = 0;
    for (int set = 0; set < (centred ? kRoundingSets : std::min(options_.seeds, kRoundingSets)); ++set) {
      const bool fits =
          centred ? budget.fits_end(last_s + runtime_s() + time_.kept_s) : budget.fits(kFileFraction, last_s);
      if (set > 0 && check.finding != Finding::same) break;
      if (set > 0 && !fits) {
        add_limit(check, "one input is skipped for lack of time");
        break;
      }
      const Stopwatch watch;
      add_rounding(original_->expected(set), read.graph, check);
      last_s = watch.seconds();
    }
    if (check.finding == Finding::same) add_ranges(read.graph, budget, check);
    if (!exact.done() && check.finding == Finding::same) {  // it sees no more
      check.finding = Finding::not_compared;
      check.detail = exact.detail;
    }
  } catch (const Stopped&) {
    return skipped(std::move(check));
  } catch (const Error& e) {
    check.finding = Finding::not_compared;
    check.detail = e.what();
  }
  return check;
}

Check Verifier::by_runtime(const graph::Graph& graph, const fs::path& file, const OwnErrors& own_errors, double least,
                           int sets, const std::string& where) const {
  Check check;
  check.kind = where.empty() ? Check::Kind::runtime : Check::Kind::other;
  check.by = fmt::format("{}, {}{}", runtime_.name(), counted(sets, "input"), where);
  if (!runtime_.answers_outputs()) {
    check.detail = "this measurer answers no outputs";
    return check;
  }
  const auto found = measure::compare_outputs(runtime_, {&model_.graph, before_}, {&graph, file}, sets);
  check.detail = found.detail;
  if (!found.done) {
    if (found.second_failed) check.finding = Finding::differs;
    return time_.end.over() ? skipped(std::move(check)) : check;
  }
  check.finding = found.alike ? Finding::same : Finding::differs;
  // What single precision makes of the original, and the runtime's own optimisation: each takes runs of its own.
  std::optional<std::map<std::string, double>> rounding, own;
  for (const auto& [name, error] : found.errors) {
    double allowed = std::max(least, options_.tolerance);
    if (error > allowed && !rounding) rounding = own_errors();
    if (error > allowed && rounding->contains(name))
      allowed = std::max(allowed, allowed_for(rounding->at(name), options_.tolerance));
    std::string remark;
    if (error > allowed) {
      // ... a rewrite may do, too: double precision has judged the rewrites.
      if (!own) own = measure::own_rounding(runtime_, {&model_.graph, before_}, sets);
      const double moved = own->contains(name) ? own->at(name) : 0;
      allowed = std::max(allowed, std::min(kOwnErrors * moved, kWrongError));
      remark = fmt::format("; the runtime's own {:.2g}", moved);
    }
    note_error(check, name, error, allowed, remark);
    if (error > allowed && check.finding == Finding::same) check.finding = Finding::rounding;
  }
  if (check.finding == Finding::same && found.errors.empty()) check.allowed = std::max(least, options_.tolerance);
  return check;
}

Check Verifier::in_runtime(const rules::Replayed& rewritten, const fs::path& file) const {
  return in_runtime(rewritten, file, std::min(options_.seeds, kRoundingSets));
}

Check Verifier::in_runtime(const rules::Replayed& rewritten, const fs::path& file, int sets) const {
  try {
    end_.check();
    const auto own = [&] { return original_->runs(1)->own_errors(0); };
    return by_runtime(rewritten.graph, file, own, options_.tolerance, sets);
  } catch (const Stopped&) {
    return skipped({.by = runtime_.name(), .detail = "", .kind = Check::Kind::runtime});
  }
}

Check Verifier::at_sizes(const AtSizes& original, const fs::path& file) const {
  Check check{fmt::format("rlgo at {}", to_text(original.sizes)), Finding::not_compared, 0, 0, ""};
  try {
    ModelOptions options;
    options.graph = file.string();
    options.written = true;
    add_rounding(original.expected, load_at_sizes(options, original.sizes, true).graph, check);
  } catch (const Stopped&) {
    return skipped(std::move(check));
  } catch (const Error& e) {
    check.finding = Finding::wrong;
    check.detail = fmt::format("the original runs, the rewritten model does not: {}", e.what());
  }
  // Behind a synthetic function a difference is a reason to refuse, and no proof.
  if (check.finding == Finding::wrong && original.synthetic) check.finding = Finding::differs;
  return check;
}

// As many sizes as there is time for, the smallest ones first where that is short.
void Verifier::at_other_sizes(const fs::path& file, const Budget& budget, std::vector<Check>& checks) {
  int done = 0;
  double last_s = 0;
  bool in_time = true;
  while (done < kSizes && (in_time = done == 0 ? budget.fits_end(time_.kept_s) : budget.fits(1, last_s))) {
    const Stopwatch watch;
    const AtSizes* original = other_sizes(static_cast<size_t>(done), !budget.fits(1, kLargeSizes * exact_s_), in_time);
    if (original == nullptr) break;
    ++done;
    const Check check = at_sizes(*original, file);
    last_s = watch.seconds();
    checks.push_back(check);
    if (check.finding == Finding::wrong || !runtime_.reads_files() || !budget.fits(1, runtime_s())) continue;
    runtime_.set_input_shapes(original->shapes);
    // Double precision has judged the rewrites at these sizes; of the runtime's own rounding (of saturated ends, for
    // example) only what is gross counts.
    const auto own = [&] { return original->expected.own_errors; };
    const Check other = by_runtime(model_.graph, file, own, kWrongError, 1, " at " + to_text(original->sizes));
    runtime_.set_input_shapes(run_shapes(model_));
    if (!other.done()) continue;  // a runtime need not admit them
    checks.push_back(other);
    ran_at_.push_back({to_text(original->sizes), original->shapes});
  }
  if (!in_time) {
    checks.push_back(skipped(
        {.by = fmt::format("rlgo and {} at {} more other sizes", runtime_.name(), kSizes - done), .detail = ""}));
  } else if (done == 0)
    checks.push_back(
        {"rlgo at other sizes", Finding::not_compared, 0, 0, "the original runs at none of the sizes that were tried"});
}

std::vector<Check> Verifier::check(const rules::Replayed& rewritten, const fs::path& file) {
  const Budget budget = this->budget();
  ran_at_.clear();
  try {
    choose_sizes(budget);
  } catch (const Stopped&) {
    // What follows finds no time either, and reports so.
  }
  std::vector<Check> checks = {exact(rewritten, budget)};
  if (checks[0].finding == Finding::wrong) return checks;
  checks.push_back(file_again(file, checks[0], budget));
  const int all_sets = std::min(options_.seeds, kRoundingSets);
  const int sets = budget.fits(1, all_sets * runtime_s()) ? all_sets : 1;
  if (runtime_.reads_files()) {
    checks.push_back(in_runtime(rewritten, file, sets));
    if (sets < all_sets && checks.back().done()) add_limit(checks.back(), "one input is skipped for lack of time");
  }
  if (!model_.samples.empty()) at_other_sizes(file, budget, checks);
  return checks;
}

void write_and_read_again(const LoadedModel& model, const graph::Graph& graph, const fs::path& verified,
                          const fs::path& path, const Deadline& deadline) {
  deadline.check();
  try {
    export_model(model, graph, path, [&](const fs::path& written) {
      deadline.check();
      // Without weights: their hashes show as much.
      const auto checked = read_again(model, verified, false, deadline);
      const auto again = read_again(model, written, false, deadline);
      if (checked.graph.hash() != again.graph.hash())
        fail("the file holds another model than the one that was checked, and is left out");
    });
  } catch (const Error&) {
    deadline.check();
    throw;
  }
}

}  // namespace rlgo::optimise
