#include "core/optimise/model.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/optimise/constant_evaluator.h"
#include "core/zoo/zoo.h"

namespace rlgo::optimise {
namespace {

std::map<std::string, int64_t> parse_dims(const std::vector<std::string>& dims, const char* option, int64_t least) {
  std::map<std::string, int64_t> out;
  for (const auto& text : dims) {
    const auto equals = text.rfind('=');
    const auto value = equals == std::string::npos ? std::nullopt : parse_int(text.substr(equals + 1));
    if (!value || *value < least || equals == 0) {
      fail("--{} '{}': expected NAME=VALUE with a whole number{}, such as --{} batch={}{}", option, text,
           least > 0 ? fmt::format(" of at least {}", least) : "", option, std::max<int64_t>(1, least),
           least > 1 && value == 1 ? fmt::format("; --dim {} fixes a size of 1", text) : "");
    }
    out[text.substr(0, equals)] = *value;
  }
  return out;
}

// Not a zoo graph's name.
bool names_file(const ModelOptions& given) {
  std::error_code error;
  const std::string& graph = given.graph;
  return graph.find('/') != std::string::npos || graph.ends_with(".onnx") || std::filesystem::exists(graph, error);
}

// Whatever the file holds.
void check(const ModelOptions& given) {
  parse_dims(given.dims, "dim", 0);
  parse_dims(given.sizes, "size", 2);
  const bool shaped = given.zoo.batch != 1 || given.zoo.layers != 0 || given.zoo.sequence != 0 || given.zoo.image != 0;
  if (names_file(given)) {
    if (shaped) fail("--zoo.* options are for zoo graphs; set the dimensions of {} with --dim NAME=VALUE", given.graph);
    return;
  }
  if (given.graph.find(',') != std::string::npos)
    fail("--graph {}: these are several graphs, and one is taken here; name one of them", given.graph);
  zoo::check_name(given.graph);
  if (!given.dims.empty() || !given.sizes.empty())
    fail(
        "--dim and --size are for ONNX files; the zoo graph '{}' takes --zoo.batch, --zoo.layers, --zoo.sequence, "
        "--zoo.image",
        given.graph);
}

LoadedModel load_onnx(const ModelOptions& given, bool with_weights, const std::function<bool()>& should_stop) {
  onnx_io::ImportOptions options;
  options.dims = parse_dims(given.dims, "dim", 0);
  options.samples = parse_dims(given.sizes, "size", 2);
  options.keep_weights = with_weights;
  options.sample_open = true;
  options.later_dims = given.later_sizes;
  options.change_bodies = !given.written;
  options.quantised = given.quantised;
  options.limits = given.limits;
  options.limits.should_stop = should_stop;
  if (!given.python.empty()) options.evaluate = constant_evaluator(given.python, should_stop);
  auto model = onnx_io::import_model(given.graph, options);
  LoadedModel loaded{given,
                     std::move(model.graph),
                     std::move(model.skeleton),
                     model.report.summary(),
                     model.report.unresolved_dims,
                     model.report.sampled,
                     std::move(model.samples),
                     model.report.open_dims,
                     {},
                     model.report.folded + model.report.moved,
                     0,
                     0,
                     {}};
  loaded.data_files = std::move(model.report.data_files);
  loaded.quantised = std::move(model.report.quantised);
  for (const auto& change : model.report.changes) {
    loaded.changes.push_back(onnx_io::to_text(change));
    loaded.simplified += change.kind == onnx_io::Change::Kind::respelled;
    if (change.kind == onnx_io::Change::Kind::left_out) loaded.left_out.push_back(loaded.changes.back());
  }
  return loaded;
}

LoadedModel load_zoo(const ModelOptions& given) {
  LoadedModel model;
  model.source = given;
  model.graph = zoo::make(given.graph, given.zoo);
  model.about = fmt::format("zoo graph {}: {} parameters", given.graph, zoo::parameter_count(model.graph));
  return model;
}

}  // namespace

void declare(OptionSink& o, ModelOptions& model) {
  o.text("graph", model.graph,
         "what to optimise: a zoo graph's name or the path of an .onnx file; training and search take several, with "
         "commas between");
  declare_sizes(o, model);
}

void declare_sizes(OptionSink& o, ModelOptions& model) {
  o.texts("dim", model.dims,
          "NAME=SIZE or INPUT:AXIS=SIZE fixes an open dimension, in the written model too; may be given several times");
  o.texts("size", model.sizes,
          "NAME=SIZE or INPUT:AXIS=SIZE (2 or more): the size at which costs and times of a dimension that stays open "
          "are taken; none: synthetic; may be given several times");
}

std::vector<ModelOptions> each_model(const ModelOptions& options) {
  std::error_code error;
  if (std::filesystem::exists(options.graph, error)) return {options};
  std::vector<ModelOptions> models;
  for (const auto& name : split(options.graph, ',')) {
    models.push_back(options);
    models.back().graph = trim(name);
  }
  return models;
}

LoadedModel read_model(const ModelOptions& given, bool with_weights, const std::function<bool()>& should_stop) {
  as_usage([&] { check(given); });
  if (names_file(given)) return load_onnx(given, with_weights, should_stop);
  return as_usage([&] { return load_zoo(given); });
}

void check_not_read(const LoadedModel& model, const std::filesystem::path& path) {
  std::error_code error;
  for (const auto& file : model.data_files) {
    if (std::filesystem::equivalent(file, path, error))
      fail("{}: holds weights of {}; name another file", path.string(), model.source.graph);
  }
}

std::map<std::string, std::vector<int64_t>> open_input_shapes(const graph::Graph& graph) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto id : graph.inputs()) {
    const auto& type = graph.node(id).info->outputs[0];
    if (type.open) shapes[graph.node(id).info->name] = {type.shape.begin(), type.shape.end()};
  }
  return shapes;
}

std::map<std::string, std::vector<int64_t>> input_shapes(const graph::Graph& graph) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto id : graph.inputs()) {
    const auto& type = graph.type({id, 0});
    if (type.is_static()) shapes[graph.node(id).info->name] = {type.shape.begin(), type.shape.end()};
  }
  return shapes;
}

std::map<std::string, std::vector<int64_t>> run_shapes(const LoadedModel& model) {
  return model.other_shapes.empty() ? input_shapes(model.graph) : model.other_shapes;
}

void check_rewritable(const LoadedModel& model, const std::string& name) {
  for (const auto id : model.graph.order()) {
    const auto& node = model.graph.node(id);
    if (!node.constant && node.info->opaque == nullptr && !node.inputs.empty()) return;
  }
  if (model.open_dims.empty() || model.sampled) fail("{}: has no operator that rlgo can rewrite", name);
  fail(
      "{}: has no operator that rlgo can rewrite as long as dimensions are open: {}; give them values with --dim "
      "NAME=VALUE",
      name, join(model.open_dims, ", "));
}

}  // namespace rlgo::optimise
