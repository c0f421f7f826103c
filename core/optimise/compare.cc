#include "core/optimise/compare.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/measure/outputs.h"
#include "core/optimise/inputs.h"
#include "core/optimise/json.h"
#include "core/optimise/verify.h"

namespace rlgo::optimise {
namespace {

struct Named {
  std::string what, name, type;
  bool operator==(const Named&) const = default;
};

// Inputs and outputs in order; open dimensions by their sample sizes.
std::vector<Named> interface_of(const graph::Graph& graph) {
  std::vector<Named> out;
  for (const auto id : graph.inputs())
    out.push_back({"input", graph.node(id).info->name, ops::to_string(graph.node(id).info->outputs[0])});
  for (const auto& output : graph.outputs())
    out.push_back({"output", output.name, std::string(ops::name(graph.type(output.value).dtype))});
  return out;
}

void check_interfaces(const LoadedModel& first, const LoadedModel& second) {
  const auto one = interface_of(first.graph), two = interface_of(second.graph);
  for (size_t k = 0; k < std::max(one.size(), two.size()); ++k) {
    const auto text = [&](const std::vector<Named>& all) {
      return k < all.size() ? fmt::format("{} '{}' ({})", all[k].what, all[k].name, all[k].type) : "nothing more";
    };
    if (k < one.size() && k < two.size() && one[k] == two[k]) continue;
    fail("{}: has {} where {} has {}; compare takes two models of the same inputs and outputs", second.source.graph,
         text(two), first.source.graph, text(one));
  }
}

// Gives open dimensions at these places the sizes that `like` has there.
void take_sizes(const std::vector<onnx_io::OpenDim>& places, const LoadedModel& like, ModelOptions& options) {
  const auto shapes = input_shapes(like.graph);
  Sizes sizes;
  for (const auto& open : places) {
    const auto shape = shapes.find(open.input);
    if (shape == shapes.end() || shape->second.size() != static_cast<size_t>(open.rank)) continue;
    sizes.emplace(open.name, shape->second[static_cast<size_t>(open.axis)]);
  }
  for (const auto& [name, size] : sizes)
    (size >= 2 ? options.sizes : options.dims).push_back(fmt::format("{}={}", name, size));
}

// Both models, at the same sizes of open dimensions: those that are given, else those that one of them has fixed, else
// synthetic.
std::pair<LoadedModel, LoadedModel> load_both(const CompareModelsOptions& options,
                                              const std::function<bool()>& should_stop) {
  ModelOptions first = options.model, second = options.model;
  second.graph = options.other;
  second.dims.clear();
  second.sizes.clear();
  first.limits.should_stop = second.limits.should_stop = should_stop;
  const LoadedModel other = read_model(second, false);
  if (first.dims.empty() && first.sizes.empty()) {
    auto places = read_model(first, false).open_places;  // where the second one has a size
    std::erase_if(places, [&](const auto& place) {
      return std::ranges::any_of(
          other.open_places, [&](const auto& open) { return open.input == place.input && open.axis == place.axis; });
    });
    take_sizes(places, other, first);
  }
  LoadedModel loaded = load_model(first, true);
  take_sizes(other.open_places, loaded, second);
  return {std::move(loaded), load_model(second, true)};
}

Check compare_outputs(const CompareModelsOptions& options, cost::Runtime& runtime, const cost::RunnableModel& first,
                      const cost::RunnableModel& second) {
  const int sets = static_cast<int>(options.sets);
  Check check{.by = fmt::format("{}, {}", runtime.name(), counted(options.sets, "input")), .detail = ""};
  if (!runtime.answers_outputs()) {
    check.detail = "this measurer answers no outputs";
    return check;
  }
  const auto found = measure::compare_outputs(runtime, first, second, sets);
  check.detail = found.detail;
  if (!found.done && !found.second_failed) return check;
  check.finding = found.done && found.alike ? Finding::same : Finding::differs;
  const auto own =
      check.finding == Finding::same ? measure::own_rounding(runtime, first, sets) : std::map<std::string, double>{};
  check.allowed = options.tolerance;
  for (const auto& [name, error] : found.errors) {
    const auto moved = own.find(name);
    const double allowed = allowed_for(moved == own.end() ? 0 : moved->second, options.tolerance);
    if (error * check.allowed < check.error * allowed) continue;  // closer to what it may be stands another one
    check.error = error;
    check.allowed = allowed;
    check.detail = fmt::format("output '{}'", name);
    if (error > allowed) check.finding = Finding::differs;
  }
  return check;
}

}  // namespace

void declare(OptionSink& o, CompareModelsOptions& options) {
  declare_sizes(o, options.model);
  o.texts("input", options.inputs, "NAME=VALUE[,VALUE...]: numbers or texts for an input whose values matter");
  o.number("seconds", options.seconds, 0.1, 1e6, "time for the measurement, about, s");
  o.number("limit", options.limit, 1, 1000,
           "ratio of latencies above which the second model counts as slower (status 3): 1.05 allows 5 %");
  o.integer("rounds", options.rounds, Benchmark::kLeastRounds, 10000, "paired runs, at most");
  o.integer("sets", options.sets, 1, 1000, "sets of random inputs whose outputs are compared");
  o.number("tolerance", options.tolerance, 0, 1,
           "relative error that outputs may have; 8 times the runtime's own rounding is allowed in any case");
  o.integer("seed", options.seed, 0, kNoLimit, "of the orders in which models are loaded and run");
}

ModelComparison compare_models(const CompareModelsOptions& options, cost::Runtime& runtime,
                               const std::function<bool()>& should_stop) {
  const auto [first, second] = load_both(options, should_stop);
  check_interfaces(first, second);
  runtime.set_input_shapes(run_shapes(first));
  runtime.set_input_values(parse_inputs(options.inputs, first.graph));

  const cost::RunnableModel models[] = {{&first.graph, options.model.graph}, {&second.graph, options.other}};
  Benchmark benchmark(runtime, models[0], options.seed << 20);
  const auto probe = benchmark.compare({&models[1], 1}, 1, 0, 1, false);
  if (!probe.error.empty()) fail("{} does not run the models: {}", runtime.name(), probe.error);
  for (size_t k = 0; k < 2; ++k) {
    if (!probe.models[k].ok()) {
      fail("{}: {} does not run it: {}{}", models[k].file.string(), runtime.name(), probe.models[k].error,
           first.samples.empty() ? "" : "; --size gives its open dimensions other sizes");
    }
  }
  ModelComparison out;
  out.first = options.model.graph;
  out.second = options.other;
  out.target = runtime.name();
  out.device = runtime.device();
  out.threads = runtime.threads();
  out.sizes = first.samples;
  out.assumed = probe.assumed;
  out.limit = options.limit;
  out.outputs = compare_outputs(options, runtime, models[0], models[1]);
  out.latency = benchmark.measure(models[1], static_cast<int>(options.rounds), options.seconds, should_stop);
  if (!out.latency.ok()) fail("{}", out.latency.error);
  return out;
}

std::string to_text(const ModelComparison& found) {
  const Latency& latency = found.latency;
  std::string out = latency.faster     ? fmt::format("{:.2f}x as fast", 1 / latency.ratio)
                    : found.too_slow() ? fmt::format("SLOWER: {:.3f} of the latency", latency.ratio)
                    : latency.slower   ? fmt::format("slower, within --limit: {:.3f} of the latency", latency.ratio)
                                       : "no difference in latency is shown";
  out += found.same() ? ", same outputs" : found.outputs.done() ? ", OTHER OUTPUTS" : ", outputs not compared";
  out += fmt::format("\n  latency   {}, {}\n", to_text(latency, found.target + ", " + found.device),
                     counted(found.threads, "thread"));
  out += fmt::format("            {}\n", effort_text(latency));
  out += fmt::format("  outputs   {}: {}\n", found.outputs.by, to_text(found.outputs));
  if (!found.sizes.empty()) out += fmt::format("  sizes     {}\n", to_text(found.sizes));
  if (!found.assumed.empty()) out += fmt::format("  inputs    assumed {}\n", to_text(found.assumed));
  return out;
}

report::Json to_json(const ModelComparison& found) {
  return {{"first", report::file_json(found.first)},
          {"second", report::file_json(found.second)},
          {"target", {{"runtime", found.target}, {"device", found.device}, {"threads", found.threads}}},
          {"latency", to_json(found.latency)},
          {"limit", found.limit},
          {"too_slow", found.too_slow()},
          {"same_outputs", found.outputs.done() ? report::Json(found.same()) : report::Json()},
          {"checks", to_json(std::vector<Check>{found.outputs})},
          {"sizes", found.sizes},
          {"inputs", {{"assumed", found.assumed}}}};
}

}  // namespace rlgo::optimise
