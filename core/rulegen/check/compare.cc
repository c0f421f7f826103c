#include "core/rulegen/check/compare.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace rlgo::rulegen {
namespace {

using Outputs = std::vector<TensorOf<PrimeRing>>;

constexpr int kRedraws = 8;          // where an order was too near to decide
constexpr double kTolerance = 1e-6;  // real numbers that differ by less (relative) may be equal

std::string index_text(const ops::Shape& shape, size_t element) {
  std::string text;
  const Steps steps = strides_of(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    text += fmt::format("{}{}", d == 0 ? "" : ",", static_cast<int64_t>(element) / steps[d] % shape[d]);
  }
  return "[" + text + "]";
}

struct Side {
  std::optional<Outputs> outputs;
  graph::NodeId failed = graph::kNoNode;
};

Side evaluate(PrimeRing& ring, const InputValues& plan, const Draw& draw, const graph::Graph& graph) {
  Side side;
  side.outputs = eval_graph<PrimeRing>(
      ring, graph, [&](const graph::Graph& g, graph::NodeId id) { return plan.prime(ring, draw, g, id); },
      &side.failed);
  return side;
}

std::string no_meaning(const graph::Graph& graph, graph::NodeId id) {
  return fmt::format("{} of {} is not evaluated over the reals", ops::name(graph.node(id).op()),
                     graph.input_types(id).empty() ? "nothing" : ops::to_string(graph.input_types(id)[0]));
}

}  // namespace

Comparison::Comparison(const graph::Graph& left, const graph::Graph& right) : left_(left), right_(right), plan_(left) {
  if (left.outputs().size() != right.outputs().size()) {
    fail("graphs with {} and {} outputs cannot be compared", left.outputs().size(), right.outputs().size());
  }
}

bool Comparison::in_field(Draw draw, CheckResult& result) const {
  for (int redraw = 0;; ++redraw, draw.seed = mix64(draw.seed)) {
    PrimeRing ring(draw.seed);
    const Side a = evaluate(ring, plan_, draw, left_);
    const Side b = a.outputs ? evaluate(ring, plan_, draw, right_) : Side();
    if (a.outputs && !b.outputs && ring.no_element()) {  // a runtime fails where it did not
      const std::string op(ops::name(right_.node(b.failed).op()));
      settle(fmt::format("an index of {}, which names no element on the right side alone", op), 0, 0, result);
      return false;
    }
    if (!a.outputs || !b.outputs) {
      result.why = a.outputs ? no_meaning(right_, b.failed) : no_meaning(left_, a.failed);
      return false;
    }
    if (ring.ambiguous() && redraw < kRedraws) continue;
    bool rounded = false;
    for (size_t k = 0; k < a.outputs->size(); ++k) {
      if (!same((*a.outputs)[k], (*b.outputs)[k], left_.outputs()[k].name, rounded, result)) return false;
    }
    if (rounded && redraw < kRedraws) continue;
    if (rounded) result.why = "equal as rounded numbers, but not by the laws that the prime ring knows";
    return true;
  }
}

bool Comparison::in_field(int seeds, uint64_t seed, CheckResult& result) const {
  for (int k = 0; k < seeds; ++k) {
    if (!in_field(Draw{hash_combine(seed, static_cast<uint64_t>(k)), k == 1 ? 90 : 50}, result)) return false;
  }
  return true;
}

std::optional<bool> Comparison::exactly(int64_t most_terms, uint64_t seed) const {
  PolyRing ring(most_terms);
  const Draw draw{seed, 50};
  const Leaves<PolyRing> leaves = [&](const graph::Graph& g, graph::NodeId id) {
    return plan_.polynomial(ring, draw, g, id);
  };
  const auto a = eval_graph<PolyRing>(ring, left_, leaves);
  if (!a || ring.failed()) return std::nullopt;
  const auto b = eval_graph<PolyRing>(ring, right_, leaves);
  if (!b || ring.failed()) return std::nullopt;
  for (size_t k = 0; k < a->size(); ++k) {
    if ((*a)[k].data != (*b)[k].data) return false;
  }
  return true;
}

bool Comparison::by_z3(int64_t most_terms, uint64_t seed, bool* gave_up) const {
  Z3Ring ring(most_terms);
  const Draw draw{seed, 50};
  const Leaves<Z3Ring> leaves = [&](const graph::Graph& g, graph::NodeId id) { return plan_.term(ring, draw, g, id); };
  const auto a = eval_graph<Z3Ring>(ring, left_, leaves);
  if (!a || ring.failed()) return false;
  const auto b = eval_graph<Z3Ring>(ring, right_, leaves);
  if (!b || ring.failed()) return false;
  for (size_t k = 0; k < a->size(); ++k) {
    const auto &x = (*a)[k], &y = (*b)[k];
    if (!(x.type == y.type)) return false;
    for (size_t e = 0; e < x.data.size(); ++e) {
      if (ring.prove_equal(x.data[e], y.data[e]) == Z3Ring::Answer::equal) continue;
      if (gave_up && ring.gave_up()) *gave_up = true;
      return false;
    }
  }
  return true;
}

bool Comparison::same(const TensorOf<PrimeRing>& a, const TensorOf<PrimeRing>& b, const std::string& name,
                      bool& rounded, CheckResult& result) const {
  if (!(a.type == b.type)) {
    settle(name + " " + ops::to_string(a.type) + " against " + ops::to_string(b.type), 0, 0, result);
    return false;
  }
  // Where the left side has no value at one place, a zero times that may leave the right side without one at another;
  // an order against it decides nothing.
  const bool defined = std::ranges::all_of(a.data, [](const auto& item) { return std::isfinite(item.real); });
  for (size_t k = 0; k < a.data.size(); ++k) {
    const double x = a.data[k].real, y = b.data[k].real;
    if (!std::isfinite(x) || (!std::isfinite(y) && !defined)) continue;
    if (a.data[k].field == b.data[k].field && std::isfinite(y)) continue;
    if (std::isfinite(y) && std::abs(x - y) <= kTolerance * (1 + std::abs(x))) {
      rounded = true;
      continue;
    }
    settle(name + index_text(a.shape(), k), x, y, result);
    return false;
  }
  return true;
}

void Comparison::settle(std::string where, double x, double y, CheckResult& result) const {
  result.verdict = CheckVerdict::different;
  result.counterexample = Counterexample{left_, right_, std::move(where), x, y};
}

}  // namespace rlgo::rulegen
