#include "core/optimise/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/exec/agreement.h"
#include "core/measure/outputs.h"
#include "core/optimise/check_coverage.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;
namespace {

constexpr double kOwnErrors = 8;      // the result's rounding may be so many times the original's own
constexpr double kWrongErrors = 1e3;  // ... and beyond so many times (and kWrongError) no rounding explains it
constexpr double kWrongError = 1e-2;
constexpr double kFoldedError = 1e-6;  // weights that the export worked out are rounded to single precision
constexpr int kSizes = 3;              // sets of sizes at which a model with open dimensions is checked
constexpr int kRoundingSets = 2;
// Elements of the inputs at other sizes: at most so many times those at the sample sizes, or so few.
constexpr int64_t kMoreElements = 4, kFewElements = int64_t{1} << 16, kMostElements = int64_t{1} << 26;

std::string plural(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

// What rlgo wrote: dimensions that were fixed are fixed there, the others still open.
LoadedModel read_again(const LoadedModel& model, const fs::path& file, bool with_weights = true) {
  ModelOptions options;
  options.graph = file.string();
  options.sizes = model.source.sizes;
  return load_model(options, with_weights);
}

// `file` with its open dimensions fixed; nothing where it cannot have these sizes.
std::optional<graph::Graph> at_sizes(const std::string& file, const std::vector<std::string>& dims, const Sizes& sizes,
                                     std::string& why) {
  ModelOptions options;
  options.graph = file;
  options.dims = dims;
  for (const auto& [name, size] : sizes) options.dims.push_back(fmt::format("{}={}", name, size));
  try {
    return load_model(options, true).graph;
  } catch (const Error& e) {
    why = e.what();
    return std::nullopt;
  }
}

int64_t input_elements(const graph::Graph& graph) {
  int64_t sum = 0;
  for (const graph::NodeId id : graph.inputs()) {
    const auto& type = graph.type({id, 0});
    if (type.is_static()) sum += std::min(type.elements(), kMostElements);
  }
  return sum;
}

// How often each kind of operator is unknown: kept as it is, with a made-up function in its place.
std::map<std::string, int64_t> unknown_operators(const graph::Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const graph::NodeId id : graph.order()) {
    if (const auto& opaque = graph.node(id).info->opaque) ++counts[opaque->op_type];
  }
  return counts;
}

// Whether the original can have these sizes, as far as shapes tell, at about the work that the sample sizes take. Where
// its shapes contradict each other (a picture whose height must be a multiple of 32, say), the import leaves the
// operators behind as they are, unknown.
bool admits(const graph::Graph& at_sizes, const graph::Graph& at_samples) {
  return input_elements(at_sizes) <= std::max(kMoreElements * input_elements(at_samples), kFewElements) &&
         std::ranges::all_of(unknown_operators(at_sizes), [known = unknown_operators(at_samples)](const auto& kind) {
           const auto found = known.find(kind.first);
           return found != known.end() && kind.second <= found->second;
         });
}

// Every value that a rewrite replaced was compared with what stands in its place: whatever is behind them is then
// equal.
bool all_replaced_compared(const exec::Agreement& found) {
  return !found.replaced_compared.empty() &&
         std::ranges::all_of(found.replaced_compared, [](bool seen) { return seen; });
}

// What the comparison in double precision amounts to.
Check verdict_of(const exec::Agreement& found, const graph::Graph& before, double tolerance, Check check) {
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
  const bool replaced_seen = all_replaced_compared(found);
  std::vector<std::string> limits;
  if (!silent.empty()) limits.push_back("nothing was compared of output " + join(silent, ", ") + " (NaN or infinite)");
  if (!still.empty()) limits.push_back("output " + join(still, ", ") + " is constant whatever the inputs");
  if (found.unstable > 0)
    limits.push_back(fmt::format("{} of {} elements stand on an edge where rounding decides: not compared",
                                 found.unstable, found.unstable + found.compared));
  if (found.undefined_differ > 0)
    limits.push_back(fmt::format("{} elements are NaN or infinite in the original and something else in the result",
                                 found.undefined_differ));
  check.limits = join(limits, "; ");
  if (found.wrong) {
    check.finding = Finding::wrong;
  } else if (blind && !replaced_seen) {
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

Verifier::Verifier(const LoadedModel& model, fs::path before, cost::Runtime& runtime, CheckOptions options)
    : model_(model), before_(std::move(before)), runtime_(runtime), options_(options) {
  if (options_.seeds < 1) fail("a check needs at least one set of inputs, not {}", options_.seeds);
}

Check Verifier::exact(const Replayed& rewritten) const {
  exec::AgreementOptions options;
  options.threads = options_.threads;
  const Stopwatch watch;
  Check check;
  int sets = 0;
  bool replaced_seen = false;
  try {
    exec::AgreementCheck both(model_.graph, rewritten.graph, rewritten.replaced, options);
    while (sets < options_.seeds && (sets == 0 || options_.seconds <= 0 || watch.seconds() < options_.seconds / 2)) {
      both.run(exec::check_inputs(model_.graph, options_.seed + 1 + static_cast<uint64_t>(sets / exec::kInputKinds),
                                  sets % exec::kInputKinds));
      ++sets;
      if (both.found().wrong || !both.found().interface.empty()) break;
    }
    check.by = "LibTorch in double precision, " + plural(sets, "input");
    replaced_seen = all_replaced_compared(both.found());
    check = verdict_of(both.found(), model_.graph, options.tolerance, std::move(check));
  } catch (const Error& e) {
    check.by = "LibTorch in double precision";
    check.detail = e.what();
    return check;
  }
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

// `after` in single precision against `before` in double, beside the rounding of `before` itself. Where `after` was
// read from a file, its values in double precision tell whether more than rounding separates them.
Check Verifier::rounding(const graph::Graph& before, const graph::Graph& after, int sets, std::string by) const {
  Check check;
  check.by = std::move(by);
  check.finding = Finding::same;
  for (int set = 0; set < sets; ++set) {
    const auto inputs = exec::check_inputs(before, options_.seed + 1, set % exec::kInputKinds);
    const auto reference = exec::exact_outputs(before, inputs, options_.threads);
    const auto own = exec::output_error(reference, exec::native_outputs(before, inputs, options_.threads));
    const auto exact = exec::output_error(reference, exec::exact_outputs(after, inputs, options_.threads));
    const auto rounded = exec::output_error(reference, exec::native_outputs(after, inputs, options_.threads));
    const auto worst = std::max({exact, rounded}, [](const auto& a, const auto& b) { return a.error < b.error; });
    const double allowed = std::max(options_.tolerance, kOwnErrors * own.error);
    if (worst.error >= check.error) {
      check.error = worst.error;
      check.allowed = allowed;
      check.detail =
          worst.worst.empty() ? "" : fmt::format("output '{}'; the original's own {:.2g}", worst.worst, own.error);
    }
    if (exact.error > std::max({kWrongError, kWrongErrors * kFoldedError, kWrongErrors * own.error}))
      check.finding = Finding::wrong;
    else if (worst.error > allowed && check.finding == Finding::same)
      check.finding = Finding::rounding;
    if (check.finding != Finding::same) break;
  }
  return check;
}

Check Verifier::by_runtime(const graph::Graph& graph, const fs::path& file, double allowed,
                           const std::string& where) const {
  Check check;
  const int sets = where.empty() ? std::min(options_.seeds, kRoundingSets) : 1;
  check.by = fmt::format("{}, {}{}", runtime_.name(), plural(sets, "input"), where);
  if (!runtime_.answers_outputs()) {
    check.detail = "this measurer answers no outputs";
    return check;
  }
  const auto found = measure::compare_outputs(runtime_, {&model_.graph, before_}, {&graph, file}, sets);
  check.error = found.max_rel_error;
  check.allowed = std::max(allowed, options_.tolerance);
  check.detail = found.detail;
  if (!found.done) {
    if (found.second_failed) check.finding = Finding::differs;
    return check;
  }
  check.finding = !found.alike                           ? Finding::differs
                  : found.max_rel_error <= check.allowed ? Finding::same
                                                         : Finding::rounding;
  return check;
}

void Verifier::at_other_sizes(const fs::path& file, std::vector<Check>& checks) const {
  const Stopwatch watch;
  int done = 0;
  for (const Sizes& sizes : check_sizes(model_.samples)) {
    if (done == kSizes || (done > 0 && options_.seconds > 0 && watch.seconds() > options_.seconds / 2)) break;
    std::string why;
    const auto before = at_sizes(model_.source.graph, model_.source.dims, sizes, why);
    if (!before || !admits(*before, model_.graph)) continue;
    Check check;
    const std::string by = fmt::format("LibTorch at {}", to_text(sizes));
    try {
      exec::native_outputs(*before, exec::check_inputs(*before, options_.seed + 1, 0), options_.threads);
    } catch (const Error&) {
      continue;  // the model does not admit them
    }
    if (const auto after = at_sizes(file.string(), {}, sizes, why)) {
      try {
        check = rounding(*before, *after, 1, by);
      } catch (const Error& e) {
        why = e.what();
      }
    }
    if (check.by.empty()) check = {by, Finding::wrong, 0, 0, "the original runs, the rewritten model does not: " + why};
    ++done;
    // Behind a made-up function a difference is a reason to refuse, and no proof.
    if (check.finding == Finding::wrong && !unknown_operators(*before).empty()) check.finding = Finding::differs;
    checks.push_back(check);
    if (check.finding == Finding::wrong || !runtime_.reads_files()) continue;
    runtime_.set_input_shapes(input_shapes(*before));
    // LibTorch has judged the rewrites at these sizes; of the runtime's own rounding (of saturated ends, say) only what
    // is gross counts.
    const Check other = by_runtime(*before, file, std::max(check.allowed, kWrongError), " at " + to_text(sizes));
    runtime_.set_input_shapes(input_shapes(model_.graph));
    if (other.done()) checks.push_back(other);  // a runtime need not admit them
  }
  if (done == 0)
    checks.push_back({"LibTorch at other sizes", Finding::not_compared, 0, 0,
                      "the original runs at none of the sizes that were tried"});
}

std::vector<Check> Verifier::check(const Replayed& rewritten, const fs::path& file) const {
  std::vector<Check> checks = {exact(rewritten)};
  if (checks[0].finding == Finding::wrong) return checks;
  try {
    const LoadedModel read = read_again(model_, file);
    checks.push_back(rounding(model_.graph, read.graph, std::min(options_.seeds, kRoundingSets),
                              "the file, read again, in LibTorch"));
    if (!checks[0].done() && checks[1].finding == Finding::same) {  // it sees no more
      checks[1].finding = Finding::not_compared;
      checks[1].detail = checks[0].detail;
    }
  } catch (const Error& e) {
    checks.push_back({"the file, read again, in LibTorch", Finding::not_compared, 0, 0, e.what()});
  }
  if (runtime_.reads_files()) checks.push_back(by_runtime(rewritten.graph, file, checks.back().allowed));
  if (!model_.samples.empty()) at_other_sizes(file, checks);
  return checks;
}

const Check* refusal(const std::vector<Check>& checks) {
  const auto wrong = std::ranges::find(checks, Finding::wrong, &Check::finding);
  if (wrong != checks.end()) return &*wrong;
  const auto first = std::ranges::find_if(checks, &Check::refuses);
  return first == checks.end() ? nullptr : &*first;
}

bool any_done(const std::vector<Check>& checks) { return std::ranges::any_of(checks, &Check::done); }

void write_and_read_again(const LoadedModel& model, const graph::Graph& graph, const fs::path& verified,
                          const fs::path& path) {
  export_model(model, graph, path);
  std::string problem;
  try {
    // Without weights: their hashes tell as much.
    const auto checked = read_again(model, verified, false), written = read_again(model, path, false);
    if (checked.graph.hash() != written.graph.hash()) problem = "it holds another model than the one that was checked";
  } catch (const Error& e) {
    problem = e.what();
  }
  if (problem.empty()) return;
  std::error_code ignored;
  fs::remove(path, ignored);
  fail("{}: what was written cannot be trusted and is removed: {}", path.string(), problem);
}

}  // namespace rlgo::optimise
