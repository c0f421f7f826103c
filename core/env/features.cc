#include "core/env/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/base/error.h"
#include "core/env/rewrite_env.h"
#include "core/ops/op.h"

namespace rlgo::env {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Value;
using ops::Attr;
using ops::Op;

// Places in a node's row; the names below are in this order.
enum NodeFeature {
  kLogElements,
  kDim1,
  kDim2,
  kDim3,
  kDim4,
  kRank,
  kLogUs,
  kLogFlops,
  kLogBytes,
  kIsInput,
  kKernelH,
  kKernelW,
  kStride,
  kLogGroup,
  kFused,
  kConstantInputs,
  kOutputs,  // of the node alone
  kIsOutput,
  kUses,
  kCostShare,
  kInitialShare,
  kPosition,  // of the node in its graph
};
constexpr std::array<std::string_view, kNodeFeatures> kNodeNames = {"log_elements",
                                                                    "log_dim_-1",
                                                                    "log_dim_-2",
                                                                    "log_dim_-3",
                                                                    "log_dim_-4",
                                                                    "rank",
                                                                    "log_us",
                                                                    "log_flops",
                                                                    "log_bytes",
                                                                    "is_input",
                                                                    "kernel_h",
                                                                    "kernel_w",
                                                                    "stride",
                                                                    "log_group",
                                                                    "has_fused_activation",
                                                                    "constant_inputs",
                                                                    "outputs",
                                                                    "is_output",
                                                                    "uses",
                                                                    "cost_share",
                                                                    "initial_cost_share",
                                                                    "position"};
constexpr std::array<std::string_view, kEdgeFeatures> kEdgeNames = {"log_elements", "input",      "port",
                                                                    "rank",         "log_dim_-1", "log_dim_1"};
constexpr std::array<std::string_view, kGlobalFeatures> kGlobalNames = {
    "cost_ratio", "best_cost_ratio", "log_initial_us", "log_nodes", "log_edges", "log_matches"};

// Changes of cost below this fraction of the whole are rounding, as they are to searches.
constexpr double kNoChange = 1e-9;

float log_elements(const ops::TensorType& type) {
  return type.is_static() ? std::log1p(static_cast<float>(type.elements())) / 20.0f : 0.0f;
}
float log_dim(int64_t extent) { return std::log2(static_cast<float>(std::max<int64_t>(extent, 0)) + 1.0f) / 12.0f; }

// Of the last two of the window's axes; one that is not there has a single element.
void window_features(std::span<const int64_t> extents, float* row) {
  row[kKernelH] = extents.size() > 1 ? static_cast<float>(extents[extents.size() - 2]) / 8.0f : 1.0f / 8.0f;
  row[kKernelW] = static_cast<float>(extents.back()) / 8.0f;
}

void kernel_features(const Graph& graph, const graph::Node& node, float* row) {
  if (node.op() == Op::conv2d) {
    const auto& weight = graph.type(node.inputs[1]).shape;
    window_features(std::span(weight.data() + 2, weight.size() - 2), row);
    row[kLogGroup] = std::log2(static_cast<float>(node.attrs().i(Attr::group))) / 10.0f;
  } else if (node.attrs().find(Attr::kernel) != nullptr) {
    window_features(node.attrs().ints(Attr::kernel), row);
  }
  if (node.attrs().find(Attr::strides) != nullptr)
    row[kStride] = static_cast<float>(node.attrs().ints(Attr::strides)[0]) / 4.0f;
  if (node.attrs().find(Attr::act) != nullptr) row[kFused] = node.attrs().word(Attr::act) == "none" ? 0.0f : 1.0f;
}

// What edges show of an output.
EdgePort port_of(const ops::TensorType& type) {
  return {log_elements(type), static_cast<float>(type.rank()) / 6.0f,
          type.rank() > 0 ? log_dim(type.shape.back()) : 0.0f, type.rank() > 1 ? log_dim(type.shape[1]) : 0.0f};
}

void edge_features(const EdgePort& port, size_t input, int32_t output, float* row) {
  row[0] = port.log_elements;
  row[1] = std::min(4.0f, static_cast<float>(input) / 4.0f);
  row[2] = std::min(4.0f, static_cast<float>(output) / 4.0f);
  row[3] = port.rank;
  row[4] = port.log_last_dim;
  row[5] = port.log_dim_1;
}

// Those that depend on the node alone.
void own_features(const Graph& graph, NodeId id, const cost::Cost& c, float* f) {
  const graph::Node& node = graph.node(id);
  const ops::TensorType& type = node.info->outputs.empty() ? ops::TensorType() : node.info->outputs[0];
  f[kLogElements] = log_elements(type);
  for (int d = 0; d < std::min(4, type.rank()); ++d) f[kDim1 + d] = log_dim(type.shape[type.rank() - 1 - d]);
  f[kRank] = static_cast<float>(type.rank()) / 6.0f;
  f[kLogUs] = std::log10(1.0f + static_cast<float>(c.runtime_us)) / 4.0f;
  f[kLogFlops] = std::log10(1.0f + static_cast<float>(c.flops)) / 12.0f;
  f[kLogBytes] = std::log10(1.0f + static_cast<float>(c.bytes)) / 10.0f;
  f[kIsInput] = node.op() == Op::input ? 1.0f : 0.0f;
  if (node.op() != Op::opaque) kernel_features(graph, node, f);
  const auto constants = std::count_if(node.inputs.begin(), node.inputs.end(),
                                       [&](const Value& v) { return graph.node(v.node).constant; });
  f[kConstantInputs] = std::min(2.0f, static_cast<float>(constants) / 4.0f);
  f[kOutputs] = std::min(2.0f, static_cast<float>(node.info->outputs.size()) / 8.0f);
}

// Those that depend on its place in the graph, but for the ones that describe the whole graph.
void place_features(const graph::Node& node, double us, float initial_us, float* f) {
  f[kUses] = std::min(4.0f, static_cast<float>(node.uses.size()) / 4.0f);
  f[kInitialShare] = 10.0f * static_cast<float>(us) / initial_us;
}

int32_t seen_as(Op op) { return static_cast<int32_t>(static_cast<int32_t>(op) < kOps ? op : Op::opaque); }

std::array<float, kLocationFeatures> location_row(const search::Move& move, double initial_us) {
  const bool known = std::isfinite(move.delta_us);
  const double change = known && std::abs(move.delta_us) > kNoChange * initial_us ? move.delta_us / initial_us : 0;
  return {static_cast<float>(100 * change), known && !move.is_estimate ? 0.0f : 1.0f};
}

std::vector<float> global_row(const Progress& progress, size_t nodes, size_t edges, size_t locations) {
  const auto current = static_cast<float>(std::max(progress.current_us, 1e-9));
  const auto initial = static_cast<float>(std::max(progress.initial_us, 1e-9));
  return {current / initial,
          static_cast<float>(progress.best_us) / initial,
          std::log10(1.0f + initial) / 6.0f,
          std::log1p(static_cast<float>(nodes)) / 8.0f,
          std::log1p(static_cast<float>(edges)) / 8.0f,
          std::log1p(static_cast<float>(locations)) / 8.0f};
}

}  // namespace

mdp::ObservationSpec observation_spec(const rules::RuleSet& rules, const EnvOptions& options) {
  mdp::ObservationSpec spec;
  spec.ops = kOps;
  spec.node_features = kNodeFeatures;
  spec.edge_features = kEdgeFeatures;
  spec.global_features = kGlobalFeatures;
  spec.rules = rules.size();
  if (options.candidates) ++spec.ops;  // of the node that stands for a candidate
  spec.max_locations = options.max_locations;
  spec.rule_names = rules.names();
  spec.nonlocal_node_features = nonlocal_node_features();
  spec.location_features = options.prices_locations ? kLocationFeatures : 0;
  return spec;
}

std::span<const std::string_view> node_feature_names() { return kNodeNames; }
std::vector<int32_t> nonlocal_node_features() { return {kCostShare, kPosition}; }
std::span<const std::string_view> edge_feature_names() { return kEdgeNames; }
std::span<const std::string_view> global_feature_names() { return kGlobalNames; }

void FeatureBuilder::learn(const Graph& graph, NodeId id) {
  if (rows_.size() <= static_cast<size_t>(id)) {
    rows_.resize(graph.id_bound());
    bytes_.resize(graph.id_bound());
    fresh_.resize(graph.id_bound());
  }
  fresh_[id] = 1;
  Row row;
  const graph::Node& node = graph.node(id);
  bytes_[id] = cost::output_bytes(node);
  if (!node.constant) {
    row.cost = cost::node_cost(*model_, graph, id);
    for (const auto& output : node.info->outputs) row.ports.push_back(port_of(output));
    own_features(graph, id, row.cost, row.features);
  }
  rows_[id] = row;
}

void FeatureBuilder::reset(const Graph& graph) {
  rows_.assign(graph.id_bound(), Row());
  bytes_.assign(graph.id_bound(), {});
  fresh_.assign(graph.id_bound(), 1);
  last_.clear();
  for (NodeId id : graph.order()) learn(graph, id);
}

cost::Cost FeatureBuilder::cost(const Graph& graph) const {
  cost::Cost sum;
  for (NodeId id : graph.order()) {
    const cost::Cost& c = rows_[id].cost;
    sum.runtime_us += c.runtime_us;
    sum.flops += c.flops;
    sum.bytes += c.bytes;
    sum.launches += c.launches;
  }
  sum.peak_bytes = cost::peak_bytes(graph, bytes_);
  return sum;
}

size_t FeatureBuilder::add_edges(const Graph& graph, NodeId id, const std::vector<int32_t>& index, size_t count,
                                 mdp::Observation& out) const {
  const graph::Node& node = graph.node(id);
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const Value v = node.inputs[k];
    if (index[v.node] < 0) continue;
    out.edge_src[count] = index[v.node];
    out.edge_dst[count] = index[id];
    edge_features(rows_[v.node].ports[v.port], k, v.port, out.edge_feat.data() + count * kEdgeFeatures);
    ++count;
  }
  return count;
}

void FeatureBuilder::update(const Graph& graph, std::span<const NodeId> added, std::span<const NodeId> touched) {
  for (NodeId id : added) learn(graph, id);
  for (NodeId id : touched) learn(graph, id);
  if (model_->is_local()) return;
  std::vector<NodeId> changed(added.begin(), added.end());
  changed.insert(changed.end(), touched.begin(), touched.end());
  for (NodeId id : model_->dependents(graph, changed)) learn(graph, id);
}

// A node that was not learned again is as it was, and so is an edge between two such nodes.
void FeatureBuilder::report_changes(const Graph& graph, const std::vector<NodeId>& nodes, float current_us,
                                    mdp::Changes& changes) const {
  const auto row_before = [this](NodeId id) { return static_cast<size_t>(id) < last_.size() ? last_[id] : -1; };
  changes.from.resize(nodes.size());
  changes.kept.resize(nodes.size());
  bool moved = nodes.size() != last_nodes_;
  for (size_t i = 0; i < nodes.size(); ++i) {
    changes.from[i] = row_before(nodes[i]);
    const auto& inputs = graph.node(nodes[i]).inputs;
    changes.kept[i] = changes.from[i] >= 0 && !fresh_[nodes[i]] &&
                      std::none_of(inputs.begin(), inputs.end(), [&](const Value& v) { return fresh_[v.node] != 0; });
    moved |= changes.kept[i] != 0 && changes.from[i] != static_cast<int32_t>(i);
  }
  changes.varying = uint64_t{moved} << kPosition | uint64_t{current_us != last_current_us_} << kCostShare;
}

void FeatureBuilder::add_locations(std::span<const search::Place> places, const std::vector<int32_t>& index,
                                   double initial_us, mdp::Observation& out) const {
  out.loc_node.reserve(places.size());
  out.loc_feat.reserve(places.size() * kLocationFeatures);
  out.loc_rest_end.reserve(places.size());
  for (const search::Place& place : places) {
    const search::Move& move = *place.move;
    const auto& nodes = move.match->nodes;
    ++out.counts[static_cast<size_t>(place.step.rule)];
    RLGO_CHECK(index[nodes[0]] >= 0);
    out.loc_node.push_back(index[nodes[0]]);
    for (size_t k = 1; k < nodes.size(); ++k) {
      if (index[nodes[k]] >= 0) out.loc_rest.push_back(index[nodes[k]]);
    }
    out.loc_rest_end.push_back(static_cast<int32_t>(out.loc_rest.size()));
    const auto features = location_row(move, initial_us);
    out.loc_feat.insert(out.loc_feat.end(), features.begin(), features.end());
  }
}

mdp::Observation FeatureBuilder::observe(const Graph& graph, std::span<const search::Place> places, int rules,
                                         const Progress& progress, mdp::Changes* changes) {
  mdp::Observation out;
  std::vector<int32_t> index(graph.id_bound(), -1);
  std::vector<NodeId> nodes;
  nodes.reserve(graph.size());
  size_t edges = 0;  // at most
  for (NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    if (node.constant) continue;
    index[id] = static_cast<int32_t>(nodes.size());
    nodes.push_back(id);
    edges += node.inputs.size();
  }
  out.node_op.resize(nodes.size());
  out.node_feat.resize(nodes.size() * kNodeFeatures);
  out.edge_src.resize(edges);
  out.edge_dst.resize(edges);
  out.edge_feat.resize(edges * kEdgeFeatures);
  edges = 0;
  const auto current = static_cast<float>(std::max(progress.current_us, 1e-9));
  const auto initial = static_cast<float>(std::max(progress.initial_us, 1e-9));
  for (size_t i = 0; i < nodes.size(); ++i) {
    const graph::Node& node = graph.node(nodes[i]);
    const Row& row = rows_[nodes[i]];
    out.node_op[i] = seen_as(node.op());
    float* f = out.node_feat.data() + i * kNodeFeatures;
    std::copy_n(row.features, kNodeFeatures, f);
    place_features(node, row.cost.runtime_us, initial, f);
    f[kCostShare] = 10.0f * static_cast<float>(row.cost.runtime_us) / current;
    f[kPosition] = static_cast<float>(i) / static_cast<float>(nodes.size());
    edges = add_edges(graph, nodes[i], index, edges, out);
  }
  for (const auto& o : graph.outputs()) {
    if (index[o.value.node] >= 0)
      out.node_feat[static_cast<size_t>(index[o.value.node]) * kNodeFeatures + kIsOutput] = 1.0f;
  }
  out.edge_src.resize(edges);
  out.edge_dst.resize(edges);
  out.edge_feat.resize(edges * kEdgeFeatures);
  out.counts.resize(static_cast<size_t>(rules));
  add_locations(places, index, std::max(progress.initial_us, 1e-9), out);
  out.globals = global_row(progress, nodes.size(), out.edge_src.size(), places.size());
  if (changes != nullptr) report_changes(graph, nodes, current, *changes);
  last_ = std::move(index);
  last_nodes_ = nodes.size();
  last_current_us_ = current;
  fresh_.assign(graph.id_bound(), 0);
  return out;
}

int64_t FeatureBuilder::bytes() const {
  return static_cast<int64_t>(rows_.size() * sizeof(Row) + bytes_.size() * sizeof(cost::OutputBytes) + fresh_.size() +
                              last_.size() * sizeof(int32_t));
}

}  // namespace rlgo::env
