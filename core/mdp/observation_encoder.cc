#include <cstring>

#include "core/mdp/observation_align.h"
#include "core/mdp/observation_code.h"

namespace rlgo::mdp {
namespace {

Facts facts_of(const Observation& o) {
  Facts facts;
  facts.in_order = in_order(o, &facts.sizes);
  if (facts.in_order) facts.first_edge = first_edges(o, facts.sizes.nodes);
  return facts;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// Their codes without a base are the same.
bool same_graph(const Observation& a, const Observation& b) {
  return a.node_op == b.node_op && a.edge_src == b.edge_src && a.edge_dst == b.edge_dst && a.counts == b.counts &&
         a.loc_node == b.loc_node && same_bits(a.node_feat, b.node_feat) && same_bits(a.edge_feat, b.edge_feat) &&
         same_bits(a.globals, b.globals);
}

}  // namespace

void encode_observation(const Observation* base, const Observation& observation, ByteWriter& out) {
  Relations relations;
  put_coded(base, base == nullptr ? Facts() : facts_of(*base), observation, facts_of(observation), relations, out);
}

struct ObservationEncoder::State {
  const Observation* base = nullptr;
  Facts base_facts;
  Relations relations;
  // Of the last one without a base: most episodes start alike.
  Observation start;
  Facts start_facts;
  std::string start_code;
};

ObservationEncoder::ObservationEncoder() : state_(std::make_unique<State>()) {}
ObservationEncoder::~ObservationEncoder() = default;

void ObservationEncoder::restart() { state_->base = nullptr; }

void ObservationEncoder::put(const Observation& observation, ByteWriter& out) {
  State& s = *state_;
  if (s.base != nullptr) {
    Facts facts = facts_of(observation);
    put_coded(s.base, s.base_facts, observation, facts, s.relations, out);
    s.base_facts = std::move(facts);
  } else {
    if (s.start_code.empty() || !same_graph(s.start, observation)) {
      s.start = observation;
      s.start_facts = facts_of(observation);
      ByteWriter code;
      put_coded(nullptr, {}, observation, s.start_facts, s.relations, code);
      s.start_code = code.take();
    }
    for (const char byte : s.start_code) out.put(byte);
    s.base_facts = s.start_facts;
  }
  s.base = &observation;
}

}  // namespace rlgo::mdp
