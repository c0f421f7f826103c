#include "core/rulegen/check.h"

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/graph/text.h"
#include "core/rulegen/leaves.h"
#include "core/rules/instance.h"

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

Side evaluate(PrimeRing& ring, const LeafPlan& plan, const Draw& draw, const graph::Graph& graph) {
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

// One evaluation of both sides. False where the verdict is settled.
class Comparison {
 public:
  Comparison(const graph::Graph& left, const graph::Graph& right, CheckResult& result)
      : left_(left), right_(right), plan_(left), result_(result) {}

  bool at(Draw draw) {
    Side a, b;
    for (int redraw = 0; redraw < kRedraws; ++redraw) {
      PrimeRing ring(draw.seed);
      a = evaluate(ring, plan_, draw, left_);
      if (a.outputs) b = evaluate(ring, plan_, draw, right_);
      if (!a.outputs || !b.outputs || !ring.ambiguous()) break;
      draw.seed = mix64(draw.seed);
    }
    if (!a.outputs || !b.outputs) {
      result_.why = a.outputs ? no_meaning(right_, b.failed) : no_meaning(left_, a.failed);
      return false;
    }
    for (size_t k = 0; k < a.outputs->size(); ++k) {
      if (!same((*a.outputs)[k], (*b.outputs)[k], left_.outputs()[k].name)) return false;
    }
    return true;
  }

  // Whether all outputs are the same polynomials; nothing where they grow too large.
  std::optional<bool> exactly(const CheckOptions& options) const {
    PolyRing ring(options.exact_terms);
    const Draw draw{options.seed, 50};
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

 private:
  bool same(const TensorOf<PrimeRing>& a, const TensorOf<PrimeRing>& b, const std::string& name) {
    if (!(a.type == b.type)) {
      settle(name + " " + ops::to_string(a.type) + " against " + ops::to_string(b.type), 0, 0);
      return false;
    }
    for (size_t k = 0; k < a.data.size(); ++k) {
      const double x = a.data[k].real, y = b.data[k].real;
      if (!std::isfinite(x)) continue;  // the left side has no value here
      if (a.data[k].field == b.data[k].field && std::isfinite(y)) continue;
      if (std::isfinite(y) && std::abs(x - y) <= kTolerance * (1 + std::abs(x))) {
        result_.why = "equal as rounded numbers, but not by the laws that the prime ring knows";
        continue;
      }
      settle(name + index_text(a.shape(), k), x, y);
      return false;
    }
    return true;
  }
  void settle(std::string where, double x, double y) {
    result_.verdict = Verdict::different;
    result_.counterexample = Counterexample{left_, right_, std::move(where), x, y};
  }

  const graph::Graph& left_;
  const graph::Graph& right_;
  LeafPlan plan_;
  CheckResult& result_;
};

// Adds one pair to the result. False where the verdict is settled.
bool compare(const graph::Graph& left, const graph::Graph& right, const CheckOptions& options, uint64_t seed,
             CheckResult& result) {
  if (left.outputs().size() != right.outputs().size())
    fail("graphs with {} and {} outputs are compared", left.outputs().size(), right.outputs().size());
  Comparison comparison(left, right, result);
  for (int k = 0; k < options.seeds; ++k) {
    if (!comparison.at({hash_combine(seed, static_cast<uint64_t>(k)), k == 1 ? 90 : 50})) return false;
  }
  ++result.instances;
  if (result.exact + result.inexact >= options.exact_instances) return true;
  if (const auto exact = comparison.exactly(options)) ++(*exact ? result.exact : result.inexact);
  return true;
}

CheckResult conclude(CheckResult result) {
  if (result.verdict == Verdict::different || !result.why.empty()) return result;
  if (result.instances > 0) result.verdict = Verdict::equal;
  return result;
}

}  // namespace

std::string Counterexample::to_text() const {
  return fmt::format("left: {}right: {}{}: left {:.6g}, right {:.6g}\n", graph::to_text(left), graph::to_text(right),
                     output, left_value, right_value);
}

CheckResult check_graphs(const graph::Graph& left, const graph::Graph& right, const CheckOptions& options) {
  CheckResult result;
  compare(left, right, options, options.seed, result);
  return conclude(std::move(result));
}

CheckResult check_rule(const rules::RuleSet& rules, int rule, const CheckOptions& options) {
  CheckResult result;
  Rng rng({options.seed, rules.rule(rule).hash});
  for (int attempt = 0; attempt < options.attempts && result.instances < options.instances; ++attempt) {
    const auto left = rules::random_instance(rules.rule(rule), rng);
    if (!left) continue;
    for (const auto& match : rules::find_matches(rules, rule, *left)) {
      const auto right = rules::apply(rules, match, *left);
      if (right && !compare(*left, right->graph, options, rng.next(), result)) return conclude(std::move(result));
    }
  }
  if (result.instances == 0 && result.why.empty()) {
    result.why = fmt::format("no instance on which the conditions hold in {} attempts", options.attempts);
  }
  return conclude(std::move(result));
}

}  // namespace rlgo::rulegen
