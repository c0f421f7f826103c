// What the inputs and weights of a graph hold when a rule is checked.
#pragma once

#include <map>

#include "core/graph/graph.h"
#include "core/rulegen/semantics/eval.h"
#include "core/rulegen/semantics/ring_poly.h"
#include "core/rulegen/semantics/ring_z3.h"

namespace rlgo::rulegen {

// How the free numbers of one evaluation are drawn.
struct Draw {
  uint64_t seed = 0;
  int negative_percent = 50;  // relu and max need to be seen from both sides
};

// Equal for the same leaf in two graphs.
uint64_t leaf_key(const graph::Graph& graph, graph::NodeId id);

// Leaves are free numbers in [-2, 2), with three exceptions. Known contents: integer weights and weights of one element
// (conditions of rules look at them). Indices: integer inputs stay below the extents of the gathers that read them.
// Domains: what a square root, logarithm, power (base), variance or divisor reads is positive. The decisions are made
// on one graph and hold, by input name and by weight contents, for those that are compared with it.
class InputValues {
 public:
  explicit InputValues(const graph::Graph& graph);

  // Contents of input or weight `id` of `graph`.
  TensorOf<PrimeRing> prime(PrimeRing& ring, const Draw& draw, const graph::Graph& graph, graph::NodeId id) const;
  // Free numbers are variables; integers are those of `draw`.
  TensorOf<PolyRing> polynomial(PolyRing& ring, const Draw& draw, const graph::Graph& graph, graph::NodeId id) const;
  // The same, without a thought for domains: the ring keeps track of where its terms have values.
  TensorOf<Z3Ring> term(Z3Ring& ring, const Draw& draw, const graph::Graph& graph, graph::NodeId id) const;

 private:
  struct Input {
    bool positive = false;
    int64_t bound = 0;          // integer inputs: exclusive
    std::vector<double> known;  // contents
  };
  template <class R, class Free>
  TensorOf<R> filled(R& ring, const Draw& draw, const graph::Graph& graph, graph::NodeId id, Free free) const;
  const Input& find(const graph::Graph& graph, graph::NodeId id) const;
  std::map<uint64_t, Input> inputs_;  // by leaf_key()
};

}  // namespace rlgo::rulegen
