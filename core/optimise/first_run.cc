#include "core/optimise/first_run.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/isolate.h"
#include "core/base/text.h"
#include "core/ops/folding.h"
#include "core/optimise/likely_sizes.h"
#include "core/optimise/original.h"
#include "core/verify/fold.h"

namespace rlgo::optimise {
namespace {

constexpr int kFirstRounds = 3;
constexpr double kFirstFraction = 0.1;  // of the time that is left, for the first timing
// Of the time that is left: then no further sizes are tried. More of it, up to so many seconds, where there is little.
constexpr double kSizesFraction = 0.3, kMostSizesFraction = 0.7, kLeastSizesSeconds = 10;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Half of the memory that is free: a check holds tensors of the original and of the result.
uint64_t usable_bytes() { return available_memory_bytes() / 2; }

// The model read with these sizes where they can be sample sizes, and the shapes to run it with where they cannot.
// Nothing where its declarations contradict them.
std::optional<LoadedModel> read_at(const ModelOptions& given, const Sizes& sizes) {
  try {
    auto shapes = input_shapes(load_at_sizes(given, sizes, false).graph);
    ModelOptions other = given;
    other.sizes.clear();
    for (const auto& [name, size] : sizes)
      other.sizes.push_back(fmt::format("{}={}", name, std::max<int64_t>(2, size)));
    LoadedModel loaded = load_model(other, true);
    if (shapes != input_shapes(loaded.graph)) loaded.other_shapes = std::move(shapes);
    return loaded;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Sizes with which the runtime runs the model, which is then read with them; nothing where there are none.
std::optional<Sizes> find_sizes(const ModelOptions& given, LoadedModel& model, cost::Runtime& runtime,
                                OptimiseClock& clock) {
  const double left_s = std::max(0.0, clock.left());
  const double until_s =
      clock.passed() + std::max(kSizesFraction * left_s, std::min(kLeastSizesSeconds, kMostSizesFraction * left_s));
  clock.end_by(until_s, kSearchAnswer_s);
  const Sizes wanted = given_sizes(given.sizes, model.open_places);
  for (const Sizes& sizes : likely_sizes(model.open_places, wanted, fitting_extents(model.graph))) {
    if (clock.over(until_s)) break;
    try {
      const auto loaded = load_at_sizes(given, sizes, false);
      if (!no_room(loaded.graph, usable_bytes()).empty()) continue;
      runtime.set_input_shapes(input_shapes(loaded.graph));
    } catch (const Error&) {
      continue;  // its declarations contradict them
    }
    const cost::RunnableModel alone[] = {{&model.graph, given.graph}};
    if (!runtime.compare(alone, {.repeats = 1, .twin = false}).error.empty()) continue;
    if (auto loaded = read_at(given, sizes)) {
      model = std::move(*loaded);
      return sizes;
    }
  }
  return std::nullopt;
}

void not_run(const std::string& why, const LoadedModel& model, Result& result) {
  result.end_to_end.error = why;
  result.candidates.push_back({.name = "no rewrites", .graph = model.graph});
}

// What is reported of a model that the runtime cannot run.
void cannot_run(const std::string& why, const LoadedModel& model, Result& result) {
  const std::string shapes = shapes_text(model.graph);
  Sizes sizes = model.samples;
  result.verdict = fmt::format("nothing found: {} cannot run the model{}: {}", result.target,
                               shapes.empty() ? "" : " with " + shapes, why);
  if (!sizes.empty())
    result.verdict += fmt::format("; it runs with no likely sizes either: give others, as {}", as_options(sizes));
  result.verdict += "; --input NAME=VALUE gives inputs other numbers or texts, --target another runtime";
  not_run(why, model, result);
}

}  // namespace

std::string no_room(const graph::Graph& graph, uint64_t available_bytes) {
  for (const graph::NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    double bytes = 0;
    const auto add = [&](const ops::TensorType& type) {
      if (!type.is_static()) return;
      const auto own = static_cast<double>(type.bytes());
      bytes += ops::is_float(type.dtype) ? own * 8 / static_cast<double>(ops::size_bytes(type.dtype)) : own;
    };
    for (auto in = node.inputs.begin(); in != node.inputs.end(); ++in) {
      if (std::find(node.inputs.begin(), in, *in) == in) add(graph.type(*in));
    }
    for (const auto& type : node.info->outputs) add(type);
    if (bytes > static_cast<double>(available_bytes)) {
      return fmt::format("{} makes {}: its tensors take {} where they are checked; {} can be used",
                         ops::name(node.op()), node.info->outputs.empty() ? "" : to_string(node.info->outputs[0]),
                         human_bytes(bytes), human_bytes(static_cast<double>(available_bytes)));
    }
  }
  return {};
}

std::string too_much_folding(const graph::Graph& graph) {
  const auto left = verify::left_unfolded(graph);
  if (left.empty()) return {};
  double flops = 0;
  for (const graph::NodeId id : left) flops += graph.node(id).info->work.flops;
  return fmt::format("{} operators on weights alone take {:.2g} operations; of such at most {:.0g} are done",
                     left.size(), flops, ops::kMostFoldedFlops);
}

bool first_run(const ModelOptions& given, LoadedModel& model, Benchmark& benchmark, cost::Runtime& runtime,
               OptimiseClock& clock, Result& result) {
  if (const std::string why = too_much_folding(model.graph); !why.empty()) {
    result.verdict = fmt::format("nothing found: the model is not run, its checks would take too long: {}", why);
    not_run(why, model, result);
    return false;
  }
  const auto time_it = [&] {
    cost::Comparison refused;
    refused.error = no_room(model.graph, usable_bytes());
    return refused.error.empty() ? benchmark.compare({}, kFirstRounds, kFirstFraction * clock.left(), 1, false)
                                 : refused;
  };
  auto first = time_it();
  if (!first.error.empty()) {
    const std::string why = first.error;
    const auto sizes = find_sizes(given, model, runtime, clock);
    clock.end_by(kNever, kSearchAnswer_s);
    runtime.set_input_shapes(run_shapes(model));
    if (sizes) first = time_it();
    if (!first.error.empty()) {
      cannot_run(why, model, result);
      result.interrupted = clock.interrupted();
      if (result.interrupted) result.verdict = "nothing found: the model had not run yet";
      return false;
    }
    result.sizes = as_options(*sizes);
    result.before = model.graph;
    result.about = model.about;
    result.changes = model.changes;
  }
  result.assumed = first.assumed;
  auto values = first.assumed;
  values.insert(result.given.begin(), result.given.end());
  runtime.set_input_values(std::move(values));
  return true;
}

}  // namespace rlgo::optimise
