#include "core/optimise/verify.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/equivalence.h"
#include "core/measure/outputs.h"
#include "core/optimise/check_coverage.h"
#include "launch/target.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

// What rlgo wrote: dimensions that --dim fixed are fixed there, the others still open.
LoadedModel read_again(const OptimiseRequest& request, const fs::path& file, bool with_weights = true) {
  RunConfig config = request.config;
  config.graph = file.string();
  config.dims.clear();
  return load_model(config, with_weights);
}

Check by_libtorch(const OptimiseRequest& request, const graph::Graph& before, const graph::Graph& after,
                  double tolerance) {
  exec::EquivalenceOptions options;
  options.seeds = static_cast<int>(request.config.outcome_seeds);
  options.seed = static_cast<uint64_t>(request.config.seed) + 1;
  Check check;
  check.by = fmt::format("LibTorch interpreter, {} random input{}", options.seeds, options.seeds == 1 ? "" : "s");
  try {
    const auto found = exec::equivalence(before, after, options);
    check.done = true;
    check.same = found.within(tolerance);
    check.error = found.max_rel_error;
    check.detail = found.comparable ? found.worst_output : found.reason;
    const Sight sight = sight_of(after);
    check.limits = to_text(sight);
    const bool blind = sight.nothing() && sight.all() > 0;
    if (check.same && (blind || found.not_compared == static_cast<int>(after.outputs().size()))) {
      check.done = false;
      check.detail = blind ? std::exchange(check.limits, "") : "no output has a shape that is known";
    }
  } catch (const Error& e) {
    check.detail = e.what();
  }
  return check;
}

Check by_target(const OptimiseRequest& request, measure::Measurer& measurer, const fs::path& after, int sets,
                const char* where, double tolerance) {
  Check check;
  check.by = fmt::format("{}, {} random input{}{}", target_name(&measurer), sets, sets == 1 ? "" : "s", where);
  if (!measurer.hello().outputs) {
    check.detail = "this measurer answers no outputs";
    return check;
  }
  const auto found = measure::compare_outputs(measurer, request.config.graph, after, sets);
  check.done = found.done;
  check.same = found.alike && found.max_rel_error <= tolerance;
  check.error = found.max_rel_error;
  check.detail = found.detail;
  return check;
}

void refuse_differences(const OptimiseRequest& request, const Story& story) {
  std::vector<std::string> why;
  bool any = false;
  for (const Check& check : story.checks) {
    any |= check.done;
    if (!check.done) why.push_back(fmt::format("{}: {}", check.by, check.detail));
    if (!check.done || check.same) continue;
    fail(
        "the rewritten model does not compute the same by {}: relative error {:.3g} ({}), tolerance {:.3g}; nothing is "
        "written. Rules: {}. This is a bug of a rule or of "
        "rlgo; please report it, and use --rules without that rule",
        check.by, check.error, check.detail, story.tolerance, rules_used(story));
  }
  if (any || request.force) return;
  fail(
      "it cannot be checked that the rewritten model computes the same ({}); nothing is written. --force writes it "
      "unchecked",
      join(why, "; "));
}

}  // namespace

std::map<std::string, std::vector<int64_t>> input_shapes(const graph::Graph& graph, bool second_sizes) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto id : graph.inputs()) {
    const auto& type = graph.type({id, 0});
    if (!type.is_static()) continue;
    const auto& shape = second_sizes ? type.alternative_shape() : type.shape;
    shapes[graph.node(id).info->name] = {shape.begin(), shape.end()};
  }
  return shapes;
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

void verify(const OptimiseRequest& request, const LoadedModel& model, measure::Measurer* measurer, Story& story) {
  const fs::path& file = story.best().file;
  if (file.empty()) fail("{}", story.best().error);
  const LoadedModel after = read_again(request, file);
  story.checks.push_back(by_libtorch(request, model.graph, after.graph, story.tolerance));
  if (measurer != nullptr) {
    const int sets = static_cast<int>(request.config.outcome_seeds);
    story.checks.push_back(by_target(request, *measurer, file, sets, "", story.tolerance));
    const auto shapes = input_shapes(model.graph), others = input_shapes(model.graph, true);
    if (others != shapes && story.checks.back().done) {
      measurer->set_input_shapes(others);
      const Check check = by_target(request, *measurer, file, 1, " at other sizes", story.tolerance);
      if (check.done) story.checks.push_back(check);  // sizes are made up: not every model can have them
      measurer->set_input_shapes(shapes);
    }
  }
  refuse_differences(request, story);
}

void write_and_read_again(const OptimiseRequest& request, const LoadedModel& model, const Story& story) {
  export_model(model, story.best().graph, request.out);
  std::string problem;
  try {
    // Without weights: their hashes tell as much.
    const auto verified = read_again(request, story.best().file, false);
    const auto written = read_again(request, request.out, false);
    if (verified.graph.hash() != written.graph.hash()) problem = "it holds another model than the one that was checked";
  } catch (const Error& e) {
    problem = e.what();
  }
  if (problem.empty()) return;
  std::error_code ignored;
  fs::remove(request.out, ignored);
  fail("{}: what was written cannot be trusted and is removed: {}", request.out, problem);
}

}  // namespace rlgo::launch
