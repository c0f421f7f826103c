// Apart from reading models, which computes no constants.
#include <algorithm>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/skeleton.h"
#include "core/onnx/weight_files.h"
#include "core/optimise/model.h"
#include "core/verify/constant_values.h"
#include "core/verify/fold.h"

namespace rlgo::optimise {
namespace {

int constant_operators(const graph::Graph& graph) {
  return static_cast<int>(std::ranges::count_if(graph.order(), [&](graph::NodeId id) {
    return graph.node(id).constant && graph.node(id).op() != ops::Op::weight;
  }));
}

}  // namespace

LoadedModel load_model(const ModelOptions& given, bool with_weights, const std::function<bool()>& should_stop) {
  LoadedModel model = read_model(given, with_weights, should_stop);
  if (!model.skeleton) return model;
  const auto& origins = model.skeleton->origins;
  const int operators = constant_operators(model.graph);
  const graph::NodeId first_new = model.graph.id_bound();
  const auto name_of = [&](graph::Value value) {
    const auto origin = origins.find(value.node);
    return origin == origins.end() ? std::string() : origin->second.outputs.at(static_cast<size_t>(value.port));
  };
  model.graph = verify::fold_rounded_constants(std::move(model.graph), name_of, Deadline::when(should_stop));
  model.worked_out = operators - constant_operators(model.graph);
  model.worked_out_weights =
      static_cast<int>(std::ranges::count_if(model.graph.order(), [&](graph::NodeId id) { return id >= first_new; }));
  return model;
}

std::string normalisation_text(const onnx_io::ExportReport& report) {
  std::vector<std::string> parts;
  if (report.folded_operators > 0)
    parts.push_back(fmt::format("{} operators on weights alone computed into {} weights", report.folded_operators,
                                report.folded_weights));
  if (report.denormals > 0)
    parts.push_back(
        fmt::format("{} denormal numbers in {} weights set to zero", report.denormals, report.denormal_tensors));
  if (report.annotations > 0)
    parts.push_back(fmt::format("{} quantisation annotations of values that are gone left out", report.annotations));
  return join(parts, ", ");
}

onnx_io::ExportReport export_model(const LoadedModel& model, const graph::Graph& graph,
                                   const std::filesystem::path& path,
                                   std::function<void(const std::filesystem::path&)> verify) {
  check_not_read(model, path);
  const auto through =
      model.skeleton ? onnx_io::read_through(*model.skeleton, graph) : std::unordered_set<graph::NodeId>();
  const auto folded = verify::fold(graph, model.graph.id_bound(), model.folded.get(), through);
  onnx_io::ExportOptions options;
  if (model.weight_files && path.parent_path() == model.weight_files->folder())
    options.weight_files = model.weight_files;
  options.limits = model.source.limits;
  options.verify = std::move(verify);
  if (!model.skeleton) return onnx_io::export_graph(graph, folded, path, onnx_io::kDefaultOpset, options);
  auto report = onnx_io::export_model(*model.skeleton, graph, folded, path, options);
  report.folded_operators += model.worked_out;
  report.folded_weights += model.worked_out_weights;
  return report;
}

}  // namespace rlgo::optimise
