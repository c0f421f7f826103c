#include "core/env/candidates.h"

#include "core/base/error.h"

namespace rlgo::env {
namespace {

constexpr int32_t kReader = kOps;  // behind those of all operators

template <typename T>
void append(const std::vector<T>& from, std::vector<T>& to, T offset = 0) {
  for (const T value : from) to.push_back(value + offset);
}

// Returns the index of the node that reads all others.
int32_t append_graph(const mdp::Observation& candidate, mdp::Observation& to) {
  const auto first = static_cast<int32_t>(to.node_op.size());
  append(candidate.node_op, to.node_op);
  append(candidate.node_feat, to.node_feat);
  append(candidate.edge_src, to.edge_src, first);
  append(candidate.edge_dst, to.edge_dst, first);
  append(candidate.edge_feat, to.edge_feat);
  const auto reader = static_cast<int32_t>(to.node_op.size());
  for (int32_t node = first; node < reader; ++node) {
    to.edge_src.push_back(node);
    to.edge_dst.push_back(reader);
  }
  to.edge_feat.resize(to.edge_src.size() * kEdgeFeatures);
  to.node_op.push_back(kReader);
  to.node_feat.resize(to.node_op.size() * kNodeFeatures);
  return reader;
}

}  // namespace

void add_candidates(const rules::RuleSet& rules, const graph::Graph& graph, std::span<const search::Place> places,
                    const FeatureBuilder& features, const Progress& progress, mdp::Observation& observation) {
  RLGO_CHECK_EQ(places.size(), observation.loc_node.size());
  observation.loc_rest.clear();
  observation.loc_rest_end.clear();
  for (size_t l = 0; l < places.size(); ++l) {
    const auto made = rules::apply(rules, *places[l].move->match, graph);
    if (!made) fail("rule {} did not apply although it matched (a bug of rlgo)", rules.name(places[l].step.rule));
    FeatureBuilder own = features;
    own.update(made->graph, made->delta.added, made->delta.touched);
    observation.loc_node[l] = append_graph(own.observe(made->graph, {}, rules.size(), progress), observation);
  }
}

}  // namespace rlgo::env
