#include "core/nets/batch.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/nets/arena.h"
#include "core/nets/distinct.h"

namespace rlgo::nets {
namespace {

using torch::Tensor;

int64_t count_of(const std::vector<int32_t>& values) { return static_cast<int64_t>(values.size()); }

// Copies into a tensor front to back.
template <typename T>
class Filler {
 public:
  explicit Filler(const Tensor& to) : next_(to.data_ptr<T>()) {}
  template <typename From>
  void copy(const std::vector<From>& values, T offset = 0) {
    for (const From value : values) *next_++ = static_cast<T>(value) + offset;
  }
  void copy(std::span<const T> values) { next_ = std::copy(values.begin(), values.end(), next_); }
  void repeat(int64_t times, T value) { next_ = std::fill_n(next_, times, value); }
  void put(T value) { *next_++ = value; }

 private:
  T* next_;
};

void set_sizes(GraphBatch& batch, std::span<const mdp::Observation* const> observations,
               const mdp::ObservationSpec& spec, bool checked) {
  batch.graphs = static_cast<int64_t>(observations.size());
  batch.rules = spec.rules;
  batch.max_locations = spec.max_locations;
  batch.node_offset = {0};
  batch.edge_offset = {0};
  batch.loc_offset = {0};
  batch.rest_offset = {0};
  for (const auto* o : observations) {
    if (!checked) mdp::check(*o, spec);
    batch.node_offset.push_back(batch.nodes += count_of(o->node_op));
    batch.edge_offset.push_back(batch.edges += count_of(o->edge_src));
    batch.rest_offset.push_back(batch.rest_offset.back() + count_of(o->loc_rest));
    for (const int32_t count : o->counts) {
      batch.loc_offset.push_back(batch.locations += count);
      if (count > 0) ++batch.pairs;
    }
  }
}

bool any_dreamed(std::span<const mdp::Observation* const> observations) {
  return std::any_of(observations.begin(), observations.end(), [](const auto* o) { return is_dreamed(*o); });
}

void lay_out_graphs(GraphBatch& batch, const mdp::ObservationSpec& spec, IntArena& ints, FloatArena& floats) {
  for (auto* part : {&batch.node_op, &batch.node_graph}) ints.add(part, {batch.nodes});
  for (auto* part : {&batch.edge_src, &batch.edge_dst, &batch.edge_graph}) ints.add(part, {batch.edges});
  floats.add(&batch.node_feat, {batch.nodes, spec.node_features});
  floats.add(&batch.edge_feat, {batch.edges, spec.edge_features});
}

void lay_out(GraphBatch& batch, const mdp::ObservationSpec& spec, bool dreamed, IntArena& ints, FloatArena& floats) {
  ints.add(&batch.counts, {batch.graphs, batch.rules});
  ints.add(&batch.loc_node, {dreamed ? 0 : batch.locations});
  for (auto* part : {&batch.loc_graph, &batch.loc_rule, &batch.loc_index, &batch.loc_pair})
    ints.add(part, {batch.locations});
  for (auto* part : {&batch.pair_graph, &batch.pair_rule, &batch.pair_first}) ints.add(part, {batch.pairs});
  ints.add(&batch.loc_first, {batch.graphs});
  for (auto* part : {&batch.rest_node, &batch.rest_loc}) ints.add(part, {dreamed ? 0 : batch.rest_offset.back()});
  floats.add(&batch.loc_feat, {dreamed ? 0 : batch.locations, spec.location_features});
  floats.add(&batch.rest_fraction, {dreamed ? 0 : batch.locations});
  floats.add(&batch.globals, {batch.graphs, spec.global_features});
  floats.add(&batch.latent, {batch.graphs, spec.latent_features});
  floats.add(&batch.loc_latent, {batch.locations, spec.location_latents});
}

void fill_graphs(GraphBatch& batch, std::span<const mdp::Observation* const> observations) {
  Filler<int64_t> node_op(batch.node_op), node_graph(batch.node_graph), src(batch.edge_src), dst(batch.edge_dst),
      edge_graph(batch.edge_graph);
  Filler<float> node_feat(batch.node_feat), edge_feat(batch.edge_feat);
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const auto& o = *observations[static_cast<size_t>(g)];
    const int64_t first_node = batch.node_offset[static_cast<size_t>(g)];
    node_op.copy(o.node_op);
    node_feat.copy(o.node_feat);
    node_graph.repeat(count_of(o.node_op), g);
    src.copy(o.edge_src, first_node);
    dst.copy(o.edge_dst, first_node);
    edge_feat.copy(o.edge_feat);
    edge_graph.repeat(count_of(o.edge_src), g);
  }
}

void fill_globals(GraphBatch& batch, std::span<const mdp::Observation* const> observations,
                  const mdp::ObservationSpec& spec) {
  Filler<float> globals(batch.globals), latent(batch.latent), places(batch.loc_latent);
  for (size_t i = 0; i < observations.size(); ++i) {
    const auto* o = observations[i];
    const int64_t locations = batch.loc_offset[(i + 1) * static_cast<size_t>(spec.rules)] -
                              batch.loc_offset[i * static_cast<size_t>(spec.rules)];
    if (o->globals.empty()) {
      globals.repeat(spec.global_features, 0);
    } else {
      globals.copy(o->globals);
    }
    if (o->latent.empty()) {
      latent.repeat(spec.latent_features, 0);
      places.repeat(locations * spec.location_latents, 0);
    } else {
      const std::span<const float> all(o->latent);
      latent.copy(all.first(static_cast<size_t>(spec.latent_features)));
      places.copy(all.subspan(static_cast<size_t>(spec.latent_features)));
    }
  }
}

// node_row: of each node of each graph, in Encoding.nodes; empty: nodes one after the other.
void fill_actions(GraphBatch& batch, std::span<const mdp::Observation* const> observations,
                  const std::vector<int64_t>& node_row) {
  const bool dreamed = any_dreamed(observations);
  Filler<int64_t> counts(batch.counts), node(batch.loc_node), graph(batch.loc_graph), rule(batch.loc_rule),
      index(batch.loc_index), pair(batch.loc_pair), pair_graph(batch.pair_graph), pair_rule(batch.pair_rule),
      first(batch.pair_first), first_of_graph(batch.loc_first);
  int64_t pairs = 0, locations = 0;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const auto& o = *observations[static_cast<size_t>(g)];
    const int64_t first_node = batch.node_offset[static_cast<size_t>(g)];
    counts.copy(o.counts);
    first_of_graph.put(locations);
    if (!dreamed && node_row.empty()) {
      node.copy(o.loc_node, first_node);
    } else if (!dreamed) {
      for (const int32_t n : o.loc_node) node.put(node_row[static_cast<size_t>(first_node + n)]);
    }
    for (int64_t x = 0; x < batch.rules; ++x) {
      const int64_t count = o.counts[static_cast<size_t>(x)];
      if (count == 0) continue;
      graph.repeat(count, g);
      rule.repeat(count, x);
      for (int64_t i = 0; i < count; ++i) index.put(i);
      pair.repeat(count, pairs++);
      pair_graph.put(g);
      pair_rule.put(x);
      first.put(locations);
      locations += count;
    }
  }
}

// What is known of locations besides their roots.
void fill_details(GraphBatch& batch, std::span<const mdp::Observation* const> observations,
                  const std::vector<int64_t>& node_row) {
  if (any_dreamed(observations)) return;
  Filler<int64_t> node(batch.rest_node), location(batch.rest_loc);
  Filler<float> features(batch.loc_feat), fraction(batch.rest_fraction);
  int64_t locations = 0;
  for (int64_t g = 0; g < batch.graphs; ++g) {
    const auto& o = *observations[static_cast<size_t>(g)];
    const int64_t first_node = batch.node_offset[static_cast<size_t>(g)];
    features.copy(o.loc_feat);
    for (const int32_t n : o.loc_rest)
      node.put(node_row.empty() ? first_node + n : node_row[static_cast<size_t>(first_node + n)]);
    int32_t begin = 0;
    for (size_t l = 0; l < o.loc_node.size(); ++l) {
      const int32_t end = o.loc_rest_end.empty() ? 0 : o.loc_rest_end[l];
      location.repeat(end - begin, locations++);
      fraction.put(1.0f / static_cast<float>(std::max(1, end - begin)));
      begin = end;
    }
  }
}

}  // namespace

void GraphBatch::convert(torch::ScalarType type) {
  for (auto* part : {&node_feat, &edge_feat, &globals, &latent, &loc_latent, &loc_feat, &rest_fraction}) {
    if (part->defined()) *part = part->to(type);
  }
  if (!distinct) return;
  distinct = std::make_shared<DistinctRows>(*distinct);
  for (auto* part :
       {&distinct->node_feat, &distinct->edge_feat, &distinct->nodes_per_graph, &distinct->edges_per_graph})
    *part = part->to(type);
}

// A batch on its way.
struct Collator::Pending {
  std::vector<const mdp::Observation*> observations;
  GraphBatch batch;
  Ints node_row;
};
struct Collator::Parts {
  std::deque<Pending> pending;
  IntArena ints;
  FloatArena floats;
};

Collator::Collator(const mdp::ObservationSpec& spec, torch::Device device)
    : spec_(spec), device_(device), parts_(std::make_unique<Parts>()) {}
Collator::~Collator() = default;

// With its sizes.
Collator::Pending& Collator::begin(std::span<const mdp::Observation* const> observations, bool checked) {
  if (observations.empty()) fail("collate: no observations");
  auto& pending = parts_->pending.emplace_back();
  pending.observations.assign(observations.begin(), observations.end());
  set_sizes(pending.batch, observations, spec_, checked);
  return pending;
}

void Collator::add(std::span<const mdp::Observation* const> observations) {
  auto& [own, batch, node_row] = begin(observations, false);
  lay_out_graphs(batch, spec_, parts_->ints, parts_->floats);
  lay_out(batch, spec_, any_dreamed(own), parts_->ints, parts_->floats);
}

void Collator::add(std::span<const mdp::Observation* const> observations, const RowTable& table,
                   std::span<const RowIds* const> rows) {
  RLGO_CHECK_EQ(observations.size(), rows.size());
  auto& [own, batch, node_row] = begin(observations, true);
  lay_out(batch, spec_, false, parts_->ints, parts_->floats);
  batch.distinct = std::make_shared<DistinctRows>();
  node_row = add_distinct(table, rows, device_.is_cpu(), *batch.distinct, parts_->ints, parts_->floats);
}

int64_t Collator::bytes() const { return parts_->ints.bytes() + parts_->floats.bytes(); }

std::deque<GraphBatch> Collator::finish() {
  const bool away = !device_.is_cpu();
  const auto parts = std::exchange(parts_, std::make_unique<Parts>());
  parts->ints.allocate(away);
  parts->floats.allocate(away);
  for (auto& [observations, batch, node_row] : parts->pending) {
    if (!batch.distinct) fill_graphs(batch, observations);
    fill_globals(batch, observations, spec_);
    fill_actions(batch, observations, node_row);
    fill_details(batch, observations, node_row);
  }
  if (away) {
    parts->ints.move(device_);
    parts->floats.move(device_);
  }
  std::deque<GraphBatch> batches;
  for (auto& pending : parts->pending) {
    auto& batch = batches.emplace_back(std::move(pending.batch));
    if (!batch.distinct) continue;
    trace_last(*batch.distinct);
    batch.nodes = batch.distinct->rounds.back().nodes;
    batch.edges = batch.distinct->rounds.back().edges;
  }
  return batches;
}

GraphBatch collate(std::span<const mdp::Observation* const> observations, const mdp::ObservationSpec& spec,
                   torch::Device device) {
  Collator collator(spec, device);
  collator.add(observations);
  return std::move(collator.finish()[0]);
}

GraphBatch collate(std::span<const mdp::Observation* const> observations, const mdp::ObservationSpec& spec,
                   const RowTable& table, std::span<const RowIds* const> rows, torch::Device device) {
  Collator collator(spec, device);
  collator.add(observations, table, rows);
  return std::move(collator.finish()[0]);
}

GraphBatch collate(const mdp::Observation& observation, const mdp::ObservationSpec& spec, torch::Device device) {
  const mdp::Observation* const one[] = {&observation};
  return collate(one, spec, device);
}

}  // namespace rlgo::nets
