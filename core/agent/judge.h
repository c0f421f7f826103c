// What an agent thinks of a graph's legal rewrites: the heads over the rows of its encoder (row_values.h), by plain
// loops. The same numbers as core/nets/actor_critic.cc, up to rounding.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/agent/network.h"
#include "core/agent/row_values.h"

namespace rlgo::agent {

// The legal locations of a graph, by rule, then location. Nodes are rows of the encoder's last round.
struct Locations {
  std::vector<int32_t> counts;    // [rules]
  std::vector<int32_t> root;      // [L]
  std::vector<int32_t> rest_end;  // [L] the other matched nodes of location l end here in `rest`; empty: none has any
  std::vector<int32_t> rest;
  std::vector<float> features;  // [L, location features]: mdp::Observation::loc_feat
};

// The rest of what heads read.
struct Summary {
  std::vector<float> globals;  // [global features]
  // [rounds, 2 * width] after each round: mean (or sum) of the graph's node rows, and of its edge rows.
  std::vector<float> pooled;
};

struct Judgement {
  std::vector<float> score;    // [L] logits of the locations: beta times what each saves, plus `learned`
  std::vector<float> learned;  // [L]
  float stop = 0;              // logit of leaving the graph as it is
  std::vector<float> global;   // [width] the latent of the graph
};

class Judge {  // values and probabilities of one observation at a time
 public:
  explicit Judge(std::shared_ptr<const Network> network) : network_(std::move(network)) {}

  // `rows` has computed all rows that are named. The result holds until the next call.
  const Judgement& judge(const RowValues& rows, const Summary& summary, const Locations& locations);
  // Values, in units of reward, of a graph by its latent: before a rule is chosen, and after (rules: NO-OP).
  float value_of_rule(const std::vector<float>& global) const;
  float value_of_location(const std::vector<float>& global, int32_t rule) const;

 private:
  // A run of locations of one rule.
  struct Pair {
    int32_t rule, begin, end;
  };
  void find_pairs(const Locations& locations);
  void encode_graph(const Summary& summary, const Locations& locations);
  // at_rule_, at_location_: what the heads read of each location's nodes.
  void gather(const RowValues& rows, const Locations& locations);
  void score_rules();
  void score_locations(const Locations& locations);
  void score_by_number();

  std::shared_ptr<const Network> network_;
  Judgement result_;
  std::vector<Pair> pairs_;
  std::vector<int64_t> pair_of_, own_;  // [L] of each location; 0, 1, 2, ...
  std::vector<float> at_rule_, at_location_, rule_scores_, features_;
};

}  // namespace rlgo::agent
