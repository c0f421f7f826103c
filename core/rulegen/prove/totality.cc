#include "core/rulegen/prove/totality.h"

#include <algorithm>
#include <cmath>

#include "core/ops/moves.h"

namespace rlgo::rulegen::sym {
namespace {

using ops::Attr;
using ops::Op;

class Totality {
 public:
  Totality(const EGraph& graph, World& world) : graph_(graph), pool_(world.pool) {
    if (!world.goals) return;
    for (const auto& goal : *world.goals) demand(goal.first);
  }

  bool of_class(TermId term) {
    const TermId root = graph_.find(term);
    if (demanded_.contains(root)) return true;
    const auto [place, is_new] = known_.emplace(root, false);  // a term that contains itself: not by this way
    if (!is_new) return place->second;
    const auto members = graph_.members(root);
    const bool total = std::ranges::any_of(members, [&](TermId t) { return of_term(graph_.node(t)); });
    known_[root] = total;
    return total;
  }

 private:
  // The term has values, and so has all that it is computed from.
  void demand(TermId term) {
    const TermId root = graph_.find(term);
    if (!demanded_.insert(root).second) return;
    for (const TermId t : graph_.members(root)) {
      const Node& node = graph_.node(t);
      if (node.op >= kVariable || !reads_all(static_cast<Op>(node.op))) continue;
      for (const TermId kid : node.kids) demand(kid);
    }
  }

  // Whether the operator's outputs are computed from all elements of its operands: no windows, slices, parts.
  static bool reads_all(Op op) {
    switch (op) {
      case Op::concat:
      case Op::transpose:
      case Op::reshape:
      case Op::pad:
      case Op::global_avg_pool:
      case Op::softmax:
      case Op::log_softmax:
      case Op::lp_norm:
      case Op::cumsum:
      case Op::depth_to_space:
      case Op::space_to_depth:
      case Op::batch_norm:
      case Op::matmul:
        return true;
      default:
        return ops::spec(op).elementwise || ops::is_reduction(op) || ops::is_normalisation(op);
    }
  }

  bool of_term(const Node& node) {
    if (node.op == kVariable) return true;
    if (node.op != kPort && !defined(node)) return false;
    return std::ranges::all_of(node.kids, [&](TermId kid) { return of_class(kid); });
  }

  // Whether the operator has values wherever its operands have.
  bool defined(const Node& node) {
    const Params& params = pool_.params_of(node.params);
    const auto op = static_cast<Op>(node.op);
    if (ops::is_normalisation(op)) {
      const auto eps = pool_.real_value(find(params, Attr::eps)->id);
      return eps && *eps > 0;
    }
    switch (op) {
      case Op::attention:  // a query whose mask is false everywhere has no values
        return node.kids.size() < 4;
      case Op::fill: {
        const auto value = pool_.real_value(find(params, Attr::value)->id);
        return !value || std::isfinite(*value);
      }
      case Op::div: {
        const auto divisor = number_of(node.kids[1]);
        return divisor && *divisor != 0;
      }
      case Op::pow: {
        const auto exponent = number_of(node.kids[1]);
        return exponent && *exponent >= 1 && *exponent == std::floor(*exponent);
      }
      case Op::sqrt:
      case Op::log:
      case Op::reciprocal:
      case Op::mod:
      case Op::reduce_log_sum:
      case Op::batch_norm:
      case Op::opaque:
        return false;
      default:
        return true;
    }
  }

  std::optional<double> number_of(TermId term) const {
    for (const TermId t : graph_.members(term)) {
      const Node& node = graph_.node(t);
      if (node.op != static_cast<int>(Op::fill)) continue;
      return pool_.real_value(find(pool_.params_of(node.params), Attr::value)->id);
    }
    return std::nullopt;
  }

  const EGraph& graph_;
  Pool& pool_;
  std::map<TermId, bool> known_;
  std::set<TermId> demanded_;
};

}  // namespace

bool has_values(const EGraph& graph, World& world, TermId term) { return Totality(graph, world).of_class(term); }

}  // namespace rlgo::rulegen::sym
