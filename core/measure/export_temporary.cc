#include "core/measure/measurer.h"

namespace rlgo::measure {

std::filesystem::path export_temporary(Measurer& measurer, const graph::Graph& graph, const onnx_io::Folded& folded,
                                       int opset) {
  std::filesystem::path path = measurer.temporary("model");
  onnx_io::export_graph(graph, folded, path, opset);
  return path;
}

}  // namespace rlgo::measure
