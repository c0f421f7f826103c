#include "core/agent/network.h"

#include <cmath>

#include "core/agent/local_rows.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::agent {
namespace {

// Tensors by name, of the shapes that they must have.
class Reader {
 public:
  explicit Reader(const Tensors& tensors) : tensors_(tensors) {}

  const std::vector<float>& values(const std::string& name, const std::vector<int64_t>& shape) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) fail("agent: there is no tensor '{}'", name);
    const Tensor& tensor = found->second;
    if (tensor.shape != shape) {
      fail("agent: tensor '{}' has shape [{}], expected [{}]: the agent is of another network, or of other rules", name,
           fmt::join(tensor.shape, ", "), fmt::join(shape, ", "));
    }
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    if (static_cast<int64_t>(tensor.values.size()) != count)
      fail("agent: tensor '{}' has {} numbers, expected {}", name, tensor.values.size(), count);
    for (const float value : tensor.values) {
      if (!std::isfinite(value)) fail("agent: tensor '{}' holds {}; the weights are damaged", name, value);
    }
    return tensor.values;
  }
  float scalar(const std::string& name) const { return values(name, {})[0]; }

  // Stored as [out, in].
  Linear linear(const std::string& name, int64_t in, int64_t out, bool bias = true) const {
    Linear result{in, out, std::vector<float>(static_cast<size_t>(in * out)), {}};
    const auto& stored = values(name + ".weight", {out, in});
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < in; ++i)
        result.weight[static_cast<size_t>(i * out + o)] = stored[static_cast<size_t>(o * in + i)];
    }
    if (bias) result.bias = values(name + ".bias", {out});
    return result;
  }
  Norm norm(const std::string& name, int64_t width) const {
    return {values(name + ".weight", {width}), values(name + ".bias", {width})};
  }

 private:
  const Tensors& tensors_;
};

Block read_block(const Reader& read, const std::string& name, const Shape& shape) {
  const int64_t w = shape.width, received = shape.both_directions ? 2 * w : w;
  return {.edge_in = read.linear(name + "edge_in", w, w),
          .edge_out = read.linear(name + "edge_out", w, w),
          .node_in = read.linear(name + "node_in", received, w),
          .node_out = read.linear(name + "node_out", w, w),
          .global_in = read.linear(name + "global_in", 2 * w, w),
          .global_out = read.linear(name + "global_out", w, w),
          .node_parts = read.linear(name + "node_parts", w, 3 * w, false),
          .global_parts = read.linear(name + "global_parts", w, w, false),
          .edge_norm = read.norm(name + "edge_norm", w),
          .node_norm = read.norm(name + "node_norm", w),
          .global_norm = read.norm(name + "global_norm", w)};
}

// One map to the outputs of several, which read the same.
Linear side_by_side(const std::vector<Linear>& parts) {
  Linear all{parts[0].in, 0, {}, {}};
  for (const Linear& part : parts) all.out += part.out;
  for (int64_t i = 0; i < all.in; ++i) {
    for (const Linear& part : parts) {
      const auto row = part.weight.begin() + i * part.out;
      all.weight.insert(all.weight.end(), row, row + part.out);
    }
  }
  for (const Linear& part : parts) {
    if (part.bias.empty()) all.bias.insert(all.bias.end(), static_cast<size_t>(part.out), 0.0f);
    all.bias.insert(all.bias.end(), part.bias.begin(), part.bias.end());
  }
  return all;
}

}  // namespace

Network::Network(const mdp::ObservationSpec& of, const Shape& sizes, const Tensors& tensors) : spec(of), shape(sizes) {
  if (shape.rounds < 1 || shape.rounds > 16 || shape.width < 4 || shape.width > 1024)
    fail("agent: {} rounds of width {} are out of bounds (1..16, 4..1024)", shape.rounds, shape.width);
  const Reader read(tensors);
  const int64_t w = shape.width, locations = spec.location_features;
  node_feat = read.linear("encoder.node_feat", static_cast<int64_t>(local_columns(spec).size()), w);
  edge_feat = read.linear("encoder.edge_feat", spec.edge_features, w);
  global_feat = read.linear("encoder.global_feat", spec.global_features, w);
  op_table = read.values("encoder.op_table", {spec.ops, w});
  for (int b = 0; b < (shape.shared ? 1 : shape.rounds); ++b)
    blocks.push_back(read_block(read, fmt::format("encoder.block{}.", b), shape));

  if (locations > 0) {
    beta = std::exp(read.scalar("log_beta"));
    savings = read.linear("savings", 2, w, false);
  }
  std::vector<Linear> of_node = {read.linear("xfer_nodes", w, w), read.linear("xfer_rest", w, w, false)};
  if (shape.pointer) {
    of_node.push_back(read.linear("location_nodes", w, w));
    of_node.push_back(read.linear("location_rest", w, w, false));
    location_index = read.linear("location_index", 1 + locations, w, false);
  }
  node_heads = side_by_side(of_node);
  rule_pooled = read.linear("xfer_pooled", 2 * w + 1, w);
  rule_global = read.linear("xfer_global", w, w, false);
  rule_table = read.values("xfer_table", {spec.rules, w});
  rule_score = read.linear("xfer_score", w, 1);
  noop_hidden = read.linear("noop_hidden", w, w);
  noop_score = read.linear("noop_score", w, 1);
  location_global = read.linear("location_global", w, w, !shape.pointer);
  location_table = read.values("location_table", {spec.rules, w});
  location_score = read.linear("location_score", w, shape.pointer ? 1 : spec.max_locations);

  value_hidden = read.linear("value_hidden", w, w);
  value_out = read.linear("value_out", w, 1);
  location_value_hidden = read.linear("location_value_hidden", w, w);
  location_value_out = read.linear("location_value_out", w, 1);
  location_value_table = read.values("location_value_table", {spec.rules + 1, w});
  value_shift = read.scalar("value_shift");
  value_scale = read.scalar("value_scale");
}

}  // namespace rlgo::agent
