// Graphs and the zoo.
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/draw/layout.h"
#include "core/draw/svg.h"
#include "core/graph/text.h"
#include "core/onnx/onnx.h"
#include "core/ops/op.h"
#include "core/zoo/zoo.h"
#include "launch/python/bindings.h"
#include "launch/python/interrupt.h"

namespace rlgo::python {
namespace {

std::vector<std::string> assignments(const std::map<std::string, int64_t>& sizes) {
  std::vector<std::string> words;
  for (const auto& [name, size] : sizes) words.push_back(fmt::format("{}={}", name, size));
  return words;
}

PyGraph load(const std::string& graph, const std::map<std::string, int64_t>& sizes,
             const std::map<std::string, int64_t>& dims, const zoo::ZooOptions& zoo, bool weights) {
  optimise::ModelOptions options;
  options.graph = graph;
  options.sizes = assignments(sizes);
  options.dims = assignments(dims);
  options.zoo = zoo;
  Interrupt interrupt;
  const auto stop = [&] { return interrupt.stop(); };
  auto model = std::make_shared<optimise::LoadedModel>(
      interrupt.watch([&] { return optimise::read_model(options, weights, stop); }));
  return {model->graph, std::move(model)};
}

void save(const PyGraph& graph, const std::filesystem::path& path) { write_graph(*graph.source, graph.graph, path); }

std::vector<std::pair<std::string, std::string>> inputs(const PyGraph& graph) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto id : graph.graph.inputs())
    out.emplace_back(graph.graph.node(id).info->name, ops::to_string(graph.graph.type({id, 0})));
  return out;
}

std::vector<std::pair<std::string, std::string>> outputs(const PyGraph& graph) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& output : graph.graph.outputs())
    out.emplace_back(output.name, ops::to_string(graph.graph.type(output.value)));
  return out;
}

std::map<std::string, int> operators(const PyGraph& graph) {
  std::map<std::string, int> counts;
  for (const auto id : graph.graph.order()) {
    const auto& node = graph.graph.node(id);
    if (!node.constant && !node.inputs.empty()) ++counts[std::string(ops::name(node.op()))];
  }
  return counts;
}

// What `graph` does not share with `before` is marked; ids live on through rewriting.
graph::Picture marked(const PyGraph& graph, const PyGraph* before, bool only_changed) {
  graph::PictureOptions options;
  if (before != nullptr) {
    options.mark = [before](graph::NodeId id) -> std::string_view { return before->graph.contains(id) ? "" : "added"; };
    options.only_marked = only_changed;
  }
  return graph::picture(graph.graph, options);
}

std::string svg(const PyGraph& graph, const PyGraph* before, bool only_changed) {
  return graph::to_svg(marked(graph, before, only_changed));
}

// Boxes with places (of their centres) and sizes, and the ways of arrows, for those who draw by themselves; in pixels.
nb::dict drawing(const PyGraph& graph, const PyGraph* before) {
  constexpr double kLetter = 7, kMargin = 12, kHeight = 22;
  const graph::Picture picture = marked(graph, before, false);
  std::vector<graph::Size> sizes;
  for (const auto& box : picture.boxes)
    sizes.push_back({kLetter * static_cast<double>(box.title.size()) + 2 * kMargin, kHeight});
  std::set<std::pair<int, int>> arrows;  // without doubles
  for (const auto& arrow : picture.arrows) arrows.emplace(arrow.from, arrow.to);
  const std::vector<std::pair<int, int>> ways(arrows.begin(), arrows.end());
  const graph::Layout layout = graph::layered_layout(sizes, ways);
  nb::list boxes, routes;
  for (size_t k = 0; k < picture.boxes.size(); ++k) {
    nb::dict one;
    one["title"] = picture.boxes[k].title;
    one["look"] = picture.boxes[k].look;
    one["x"] = layout.centres[k].x;
    one["y"] = layout.centres[k].y;
    one["width"] = sizes[k].width;
    one["height"] = sizes[k].height;
    boxes.append(one);
  }
  for (const auto& route : layout.routes) {
    nb::list points;
    for (const auto& point : route) points.append(nb::make_tuple(point.x, point.y));
    routes.append(points);
  }
  nb::dict all;
  all["boxes"] = boxes;
  all["routes"] = routes;
  all["width"] = layout.width;
  all["height"] = layout.height;
  return all;
}

}  // namespace

void write_graph(const optimise::LoadedModel& model, const graph::Graph& graph, const std::filesystem::path& path) {
  check_not_read(model, path);
  onnx_io::ExportOptions options;
  options.limits = model.source.limits;
  const onnx_io::Folded nothing_folded;
  if (model.skeleton)
    onnx_io::export_model(*model.skeleton, graph, nothing_folded, path, options);
  else
    onnx_io::export_graph(graph, nothing_folded, path);
}

void bind_graph(nb::module_& m) {
  nb::class_<PyGraph>(m, "Graph")
      .def_prop_ro("name", [](const PyGraph& g) { return g.graph.name(); })
      .def_prop_ro("hash", [](const PyGraph& g) { return hex(g.graph.hash()); })
      .def_prop_ro("about", [](const PyGraph& g) { return g.source->about; })
      .def_prop_ro("sizes", [](const PyGraph& g) { return g.source->samples; })
      .def_prop_ro("open_dims", [](const PyGraph& g) { return g.source->open_dims; })
      .def_prop_ro("inputs", &inputs)
      .def_prop_ro("outputs", &outputs)
      .def_prop_ro("operators", &operators)
      .def("__len__", [](const PyGraph& g) { return g.graph.size(); })
      .def("__copy__", [](const PyGraph& g) { return g; })
      .def("to_text", [](const PyGraph& g) { return graph::to_text(g.graph); })
      .def("svg", &svg, nb::arg("before").none() = nullptr, nb::arg("only_changed") = false)
      .def("drawing", &drawing, nb::arg("before").none() = nullptr)
      .def("save", &save, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "load_graph",
      [](const std::string& graph, const std::map<std::string, int64_t>& sizes,
         const std::map<std::string, int64_t>& dims, int batch, int layers, int sequence, int image, uint64_t seed,
         bool weights) {
        return load(graph, sizes, dims, {batch, layers, sequence, image, seed}, weights);
      },
      nb::arg("graph"), nb::arg("sizes"), nb::arg("dims"), nb::arg("batch"), nb::arg("layers"), nb::arg("sequence"),
      nb::arg("image"), nb::arg("seed"), nb::arg("weights"), nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "external_data_of", [](const std::string& model) { return onnx_io::external_data_of(model); }, nb::arg("model"),
      nb::call_guard<nb::gil_scoped_release>());
  m.def("zoo", &zoo::names);
}

}  // namespace rlgo::python
