#include "core/exec/measured_cost.h"

namespace rlgo::exec {
namespace {

std::string model_name(const Device& device) {
  return device.kind == Device::Kind::cpu ? "measured:cpu" : "measured:cuda";
}

Measurement measure_node(const graph::Graph& graph, graph::NodeId id, const Device& device,
                         const MeasureOptions& options) {
  const auto& node = graph.node(id);
  if (cost::is_free(node)) return {};
  return measure_op(node.op(), node.attrs(), graph.input_types(id), device, options);
}

}  // namespace

cost::TableCost::OnMiss measure_on_miss(Device device, MeasureOptions options) {
  return [device, options](const graph::Graph& graph, graph::NodeId id) {
    const Measurement measured = measure_node(graph, id, device, options);
    return cost::Measured{measured.median_us, measured.spread_us, measured.samples};
  };
}

cost::TableOrigin measured_origin(const Device& device, const MeasureOptions& options) {
  return {model_name(device), describe(device), options.threads};
}

}  // namespace rlgo::exec
