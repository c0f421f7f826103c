#include <cstring>

#include "core/codec/observation_align.h"
#include "core/codec/observation_code.h"

namespace rlgo::mdp {
namespace {

Facts facts_of(const Observation& o, bool known = false) {
  Facts facts;
  facts.in_order = in_order(o, &facts.sizes, known);
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
         same_bits(a.globals, b.globals) && same_bits(a.loc_feat, b.loc_feat) && a.loc_rest_end == b.loc_rest_end &&
         a.loc_rest == b.loc_rest;
}

}  // namespace

void encode_observation(const Observation* base, const Observation& observation, ByteWriter& out) {
  Relations relations;
  put_coded(base, base == nullptr ? Facts() : facts_of(*base), observation, facts_of(observation), nullptr, relations,
            out);
}

struct ObservationEncoder::State {
  size_t number = 0;  // of the next observation of the episode
  Facts before_facts;
  Relations relations;
  // Of the first of the episode: most episodes start alike.
  Observation start;
  Facts start_facts;
  std::string start_code;
};

ObservationEncoder::ObservationEncoder() : state_(std::make_unique<State>()) {}
ObservationEncoder::~ObservationEncoder() = default;
ObservationEncoder::ObservationEncoder(ObservationEncoder&&) noexcept = default;

void ObservationEncoder::put(const Observation* before, const Observation& now, ByteWriter& out,
                             const Changes* reported) {
  State& s = *state_;
  if (before == nullptr) {
    if (s.start_code.empty() || !same_graph(s.start, now)) {
      s.start = now;
      s.start_facts = facts_of(now);
      ByteWriter code;
      put_coded(nullptr, {}, now, s.start_facts, nullptr, s.relations, code);
      s.start_code = code.take();
    }
    out.put_bytes(s.start_code);
    s.before_facts = s.start_facts;
    s.number = 1;
    return;
  }
  const bool known = reported != nullptr && !reported->from.empty();
  Facts facts = facts_of(now, known);
  if (const size_t base = base_of(s.number); base == s.number - 1) {
    put_coded(before, s.before_facts, now, facts, known ? reported : nullptr, s.relations, out);
  } else {
    put_coded(&s.start, s.start_facts, now, facts, nullptr, s.relations, out);
  }
  s.before_facts = std::move(facts);
  ++s.number;
}

}  // namespace rlgo::mdp
