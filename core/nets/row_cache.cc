#include "core/nets/row_cache.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/nets/kernels.h"

namespace rlgo::nets {
namespace {

// Rows are forgotten beyond this: what is still needed is soon computed again.
constexpr size_t kMostFloats = size_t{64} << 18;  // 64 MiB

std::vector<float> floats_of(const torch::Tensor& tensor) {
  const auto host = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

// The parameters of a module by name.
class Weights {
 public:
  explicit Weights(const torch::nn::Module& module) : all_(module.named_parameters()) {}
  const torch::Tensor& operator[](const std::string& name) const {
    const auto* tensor = all_.find(name);
    if (tensor == nullptr) fail("row cache: the network has no tensor '{}'", name);
    return *tensor;
  }
  Linear linear(const std::string& name) const {
    const auto& weight = (*this)[name + ".weight"];  // [out, in]
    const auto* bias = all_.find(name + ".bias");
    return {weight.size(1), weight.size(0), floats_of(weight.t()),
            bias == nullptr ? std::vector<float>() : floats_of(*bias)};
  }

 private:
  torch::OrderedDict<std::string, torch::Tensor> all_;
};

// Rows x [rows, in] through a map, behind what `to` has: [rows, out].
void append(std::vector<float>& to, const float* x, size_t rows, const Linear& map) {
  const size_t first = to.size();
  to.resize(first + rows * static_cast<size_t>(map.out));
  kernels::linear(to.data() + first, x, map.weight.data(), map.bias.empty() ? nullptr : map.bias.data(),
                  static_cast<int64_t>(rows), map.in, map.out);
}

void add(float* to, const float* from, size_t width) {
  for (size_t c = 0; c < width; ++c) to[c] += from[c];
}

}  // namespace

RowCache::RowCache(const AgentImpl& agent)
    : spec_(agent.spec()),
      options_(agent.local_encoder().value()),
      width_(static_cast<size_t>(options_.width)),
      table_(spec_, options_) {
  load(agent);
}

void RowCache::load(const AgentImpl& agent) {
  const Weights weights(agent);
  node_feat_ = weights.linear("encoder.node_feat");
  edge_feat_ = weights.linear("encoder.edge_feat");
  global_feat_ = weights.linear("encoder.global_feat");
  op_table_ = floats_of(weights["encoder.op_table"]);
  blocks_.clear();
  for (int b = 0; b < (options_.shared ? 1 : options_.rounds); ++b) {
    const auto name = fmt::format("encoder.block{}.", b);
    const auto linear = [&](const char* part) { return weights.linear(name + part); };
    const auto norm = [&](const std::string& part) {
      return Norm{floats_of(weights[name + part + ".weight"]), floats_of(weights[name + part + ".bias"])};
    };
    blocks_.push_back({linear("edge_in"), linear("edge_out"), linear("node_in"), linear("node_out"),
                       linear("global_in"), linear("global_out"), linear("node_parts"), linear("global_parts"),
                       norm("edge_norm"), norm("node_norm"), norm("global_norm")});
  }
  forget();
}

void RowCache::forget() {
  table_ = RowTable(spec_, options_);
  values_.assign(static_cast<size_t>(options_.rounds) + 1, {});
}

void RowCache::compute_features() {
  auto& now = values_[0];
  const size_t first_node = now.nodes.size() / width_, nodes = static_cast<size_t>(table_.nodes(0)) - first_node;
  const size_t columns = table_.columns().size();
  std::vector<float> x(nodes * columns);
  for (size_t i = 0; i < nodes; ++i) table_.node_features(static_cast<int32_t>(first_node + i), x.data() + i * columns);
  append(now.nodes, x.data(), nodes, node_feat_);
  for (size_t i = first_node; i < first_node + nodes; ++i)
    add(now.nodes.data() + i * width_,
        op_table_.data() + static_cast<size_t>(table_.node_op(static_cast<int32_t>(i))) * width_, width_);
  const size_t first_edge = now.edges.size() / width_, edges = static_cast<size_t>(table_.edges(0)) - first_edge;
  x.resize(edges * static_cast<size_t>(table_.edge_columns()));
  for (size_t i = 0; i < edges; ++i)
    table_.edge_features(static_cast<int32_t>(first_edge + i),
                         x.data() + i * static_cast<size_t>(table_.edge_columns()));
  append(now.edges, x.data(), edges, edge_feat_);
  append(now.node_parts, now.nodes.data() + first_node * width_, nodes, block(1).node_parts);
  append(now.edge_in, now.edges.data() + first_edge * width_, edges, block(1).edge_in);
  computed_ += static_cast<int64_t>(nodes + edges);
}

void RowCache::finish(const std::vector<float>& before, std::vector<float>& hidden, const Linear& out, const Norm& norm,
                      std::vector<float>& values) {
  for (float& h : hidden) h = h < 0 ? 0 : h;
  const size_t first = values.size(), rows = before.size() / width_;
  append(values, hidden.data(), rows, out);
  add(values.data() + first, before.data(), before.size());
  kernels::layer_norm(values.data() + first, norm.scale.data(), norm.shift.data(), static_cast<int64_t>(rows),
                      static_cast<int64_t>(width_));
}

void RowCache::compute_edges(int round) {
  auto& now = values_[static_cast<size_t>(round)];
  const auto& last = values_[static_cast<size_t>(round) - 1];
  const size_t first = now.edges.size() / width_, rows = static_cast<size_t>(table_.edges(round)) - first;
  std::vector<float> before(rows * width_), hidden(rows * width_);
  for (size_t i = 0; i < rows; ++i) {
    const auto recipe = table_.edge(round, static_cast<int32_t>(first + i));
    const auto edge = static_cast<size_t>(recipe.before) * width_;
    float* h = hidden.data() + i * width_;
    std::copy_n(last.edges.data() + edge, width_, before.data() + i * width_);
    std::copy_n(last.edge_in.data() + edge, width_, h);
    add(h, last.node_parts.data() + static_cast<size_t>(recipe.src) * 3 * width_, width_);
    add(h, last.node_parts.data() + static_cast<size_t>(recipe.dst) * 3 * width_ + width_, width_);
  }
  finish(before, hidden, block(round).edge_out, block(round).edge_norm, now.edges);
  if (round < options_.rounds) append(now.edge_in, now.edges.data() + first * width_, rows, block(round + 1).edge_in);
  computed_ += static_cast<int64_t>(rows);
}

void RowCache::receive(std::span<const int32_t> edges, const std::vector<float>& values, float* to) const {
  for (const int32_t e : edges) add(to, values.data() + static_cast<size_t>(e) * width_, width_);
  if (options_.aggregation == Aggregation::sum || edges.size() < 2) return;
  for (size_t c = 0; c < width_; ++c) to[c] /= static_cast<float>(edges.size());
}

void RowCache::compute_nodes(int round) {
  auto& now = values_[static_cast<size_t>(round)];
  const auto& last = values_[static_cast<size_t>(round) - 1];
  const size_t first = now.nodes.size() / width_, rows = static_cast<size_t>(table_.nodes(round)) - first;
  const size_t received_width = options_.both_directions ? 2 * width_ : width_;
  std::vector<float> before(rows * width_), received(rows * received_width), hidden;
  for (size_t i = 0; i < rows; ++i) {
    const auto recipe = table_.node(round, static_cast<int32_t>(first + i));
    std::copy_n(last.nodes.data() + static_cast<size_t>(recipe.before) * width_, width_, before.data() + i * width_);
    receive(recipe.in, now.edges, received.data() + i * received_width);
    if (options_.both_directions) receive(recipe.out, now.edges, received.data() + i * received_width + width_);
  }
  append(hidden, received.data(), rows, block(round).node_in);
  for (size_t i = 0; i < rows; ++i) {
    const auto recipe = table_.node(round, static_cast<int32_t>(first + i));
    add(hidden.data() + i * width_, last.node_parts.data() + (static_cast<size_t>(recipe.before) * 3 + 2) * width_,
        width_);
  }
  finish(before, hidden, block(round).node_out, block(round).node_norm, now.nodes);
  if (round < options_.rounds)
    append(now.node_parts, now.nodes.data() + first * width_, rows, block(round + 1).node_parts);
  computed_ += static_cast<int64_t>(rows);
}

void RowCache::pool(int round, const RowIds& ids, float* to) const {
  const auto& now = values_[static_cast<size_t>(round)];
  const auto sum = [&](const std::vector<int32_t>& rows, const std::vector<float>& values, float* out) {
    for (const int32_t row : rows) add(out, values.data() + static_cast<size_t>(row) * width_, width_);
    if (options_.pooling == Aggregation::sum || rows.empty()) return;
    for (size_t c = 0; c < width_; ++c) out[c] /= static_cast<float>(rows.size());
  };
  sum(ids.nodes, now.nodes, to);
  sum(ids.edges, now.edges, to + width_);
}

// `ids`: after the last round.
torch::Tensor RowCache::globals(std::span<const mdp::Observation* const> observations, std::vector<RowIds> ids) {
  const size_t graphs = observations.size();
  std::vector<float> pooled(static_cast<size_t>(options_.rounds) * graphs * 2 * width_), x, global;
  for (int round = options_.rounds; round > 0; --round) {
    float* rows = pooled.data() + static_cast<size_t>(round - 1) * graphs * 2 * width_;
    for (size_t g = 0; g < graphs; ++g) {
      pool(round, ids[g], rows + g * 2 * width_);
      for (int32_t& id : ids[g].nodes) id = table_.node(round, id).before;
      for (int32_t& id : ids[g].edges) id = table_.edge(round, id).before;
    }
  }
  for (const auto* o : observations) x.insert(x.end(), o->globals.begin(), o->globals.end());
  append(global, x.data(), graphs, global_feat_);
  for (int round = 1; round <= options_.rounds; ++round) {
    std::vector<float> hidden, own, next;
    append(hidden, pooled.data() + static_cast<size_t>(round - 1) * graphs * 2 * width_, graphs,
           block(round).global_in);
    append(own, global.data(), graphs, block(round).global_parts);
    add(hidden.data(), own.data(), hidden.size());
    finish(global, hidden, block(round).global_out, block(round).global_norm, next);
    global = std::move(next);
  }
  return torch::tensor(global).reshape({static_cast<int64_t>(graphs), static_cast<int64_t>(width_)});
}

GraphBatch RowCache::collate(std::span<const mdp::Observation* const> observations) {
  size_t held = 0;
  for (const auto& v : values_) held += v.nodes.size() + v.node_parts.size() + v.edges.size() + v.edge_in.size();
  if (held > kMostFloats) forget();
  std::vector<RowIds> ids;
  size_t nodes = 0;
  for (const auto* o : observations) {
    mdp::check(*o, spec_);
    ids.push_back(table_.add(*o));
    nodes += ids.back().nodes.size();
  }
  compute_features();
  for (int round = 1; round <= options_.rounds; ++round) {
    compute_edges(round);
    compute_nodes(round);
  }
  auto encoded = std::make_shared<Encoding>();
  encoded->nodes = torch::empty({static_cast<int64_t>(nodes), static_cast<int64_t>(width_)});
  float* next = encoded->nodes.data_ptr<float>();
  for (const auto& graph : ids) {
    for (const int32_t id : graph.nodes)
      next = std::copy_n(values_.back().nodes.data() + static_cast<size_t>(id) * width_, width_, next);
  }
  encoded->global = globals(observations, std::move(ids));
  return collate_encoded(observations, spec_, std::move(encoded));
}

}  // namespace rlgo::nets
