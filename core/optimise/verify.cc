#include "core/optimise/verify.h"

#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/equivalence.h"
#include "core/measure/outputs.h"
#include "core/optimise/check_coverage.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;
namespace {

// What rlgo wrote: dimensions that were fixed are fixed there, the others still open.
LoadedModel read_again(const LoadedModel& model, const fs::path& file, bool with_weights = true) {
  ModelOptions options;
  options.graph = file.string();
  options.sizes = model.source.sizes;
  return load_model(options, with_weights);
}

Check by_libtorch(const graph::Graph& before, const graph::Graph& after, const CheckOptions& given) {
  exec::EquivalenceOptions options;
  options.seeds = given.seeds;
  options.seed = given.seed + 1;
  Check check;
  check.by = fmt::format("LibTorch interpreter, {} random input{}", options.seeds, options.seeds == 1 ? "" : "s");
  try {
    const auto found = exec::equivalence(before, after, options);
    check.done = true;
    check.same = found.within(given.tolerance);
    check.error = found.max_rel_error;
    check.detail = found.comparable ? found.worst_output : found.reason;
    const CheckCoverage coverage = check_coverage(after);
    check.limits = to_text(coverage);
    const bool blind = coverage.nothing() && coverage.all() > 0;
    if (check.same && (blind || found.not_compared == static_cast<int>(after.outputs().size()))) {
      check.done = false;
      check.detail = blind ? std::exchange(check.limits, "") : "no output has a shape that is known";
    }
  } catch (const Error& e) {
    check.detail = e.what();
  }
  return check;
}

Check by_runtime(cost::Runtime& runtime, const cost::RunnableModel& before, const cost::RunnableModel& after, int sets,
                 const char* where, double tolerance) {
  Check check;
  check.by = fmt::format("{}, {} random input{}{}", runtime.name(), sets, sets == 1 ? "" : "s", where);
  if (!runtime.answers_outputs()) {
    check.detail = "this measurer answers no outputs";
    return check;
  }
  const auto found = measure::compare_outputs(runtime, before, after, sets);
  check.done = found.done;
  check.same = found.alike && found.max_rel_error <= tolerance;
  check.error = found.max_rel_error;
  check.detail = found.detail;
  return check;
}

cost::InputShapes second_shapes(const graph::Graph& graph) {
  cost::InputShapes shapes;
  for (const auto id : graph.inputs()) {
    const auto& type = graph.type({id, 0});
    if (!type.is_static()) continue;
    const auto& shape = type.alternative_shape();
    shapes[graph.node(id).info->name] = {shape.begin(), shape.end()};
  }
  return shapes;
}

}  // namespace

void refuse_differences(const std::vector<Check>& checks, double tolerance, const std::string& rules, bool force) {
  std::vector<std::string> why;
  bool any = false;
  for (const Check& check : checks) {
    any |= check.done;
    if (!check.done) why.push_back(fmt::format("{}: {}", check.by, check.detail));
    if (!check.done || check.same) continue;
    fail(
        "the rewritten model does not compute the same by {}: relative error {:.3g} ({}), tolerance {:.3g}; nothing is "
        "written. Rules: {}. This is a bug of a rule or of rlgo; please report it, and use --rules without that rule",
        check.by, check.error, check.detail, tolerance, rules);
  }
  if (any || force) return;
  fail(
      "it cannot be checked that the rewritten model computes the same ({}); nothing is written. --force writes it "
      "unchecked",
      join(why, "; "));
}

std::string coarse_steps(const graph::Graph& graph) {
  std::map<std::string, int> counts;
  for (const auto id : graph.order()) {
    const auto& opaque = graph.node(id).info->opaque;
    if (opaque && opaque->op_type.find("Quantize") != std::string::npos) ++counts[opaque->op_type];
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", name, count));
  return join(parts, ", ");
}

std::vector<Check> verify(const LoadedModel& model, const fs::path& before, const cost::RunnableModel& after,
                          cost::Runtime& runtime, const CheckOptions& options) {
  std::vector<Check> checks;
  const LoadedModel read = read_again(model, after.file);
  checks.push_back(by_libtorch(model.graph, read.graph, options));
  if (!runtime.reads_files()) return checks;
  const cost::RunnableModel original{&model.graph, before};
  checks.push_back(by_runtime(runtime, original, after, options.seeds, "", options.tolerance));
  const auto shapes = input_shapes(model.graph), others = second_shapes(model.graph);
  if (others != shapes && checks.back().done) {
    runtime.set_input_shapes(others);
    const Check check = by_runtime(runtime, original, after, 1, " at other sizes", options.tolerance);
    if (check.done) checks.push_back(check);  // sizes are made up: not every model can have them
    runtime.set_input_shapes(shapes);
  }
  return checks;
}

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
