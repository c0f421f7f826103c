#include "core/rulegen/prove/sym_constants.h"

namespace rlgo::rulegen::sym {
namespace {

using ops::Attr;
using ops::Op;

// Calls found(node) for each term of the operator that is known to be equal, until it returns true.
template <typename Found>
bool any_member(const EGraph& graph, TermId term, Op op, Found found) {
  for (const TermId t : graph.members(term)) {
    const Node& node = graph.node(t);
    if (node.op == static_cast<int>(op) && found(node)) return true;
  }
  return false;
}

bool is_number(World& world, ExtentId extent, int64_t number) { return world.pool.extents.value(extent) == number; }

// 0, 1, 2, ...
bool counts_up(const EGraph& graph, World& world, TermId term) {
  return any_member(graph, term, Op::cumsum, [&](const Node& sum) {
    const Params& params = world.pool.params_of(sum.params);
    const bool plain = is_number(world, find(params, Attr::exclusive)->id, 1) &&
                       is_number(world, find(params, Attr::reverse)->id, 0) &&
                       world.pool.shape_of(sum.outs[0]).size() == 1;
    return plain && any_member(graph, sum.kids[0], Op::fill, [&](const Node& ones) {
             return find(world.pool.params_of(ones.params), Attr::value)->id == world.pool.real(1);
           });
  });
}

}  // namespace

std::optional<std::pair<ExtentId, ExtentId>> progression(const EGraph& graph, World& world, TermId term) {
  std::optional<std::pair<ExtentId, ExtentId>> out;
  const auto is_part = [&](const Node& part) {
    if (!counts_up(graph, world, part.kids[0])) return false;
    const Params& params = world.pool.params_of(part.params);
    const Shape &starts = find(params, Attr::starts)->list, &steps = find(params, Attr::steps)->list;
    if (starts.size() != 1 || steps.size() != 1) return false;
    out.emplace(starts[0], steps[0]);
    return true;
  };
  if (any_member(graph, term, Op::slice, is_part)) return out;
  any_member(graph, term, Op::reshape,
             [&](const Node& seen) { return any_member(graph, seen.kids[0], Op::slice, is_part); });
  return out;
}

Truth varies_along(const EGraph& graph, World& world, TermId term, int64_t axis) {
  bool is_line = false;
  const auto along = [&](const Node& repeated) {
    const Shape& line = world.pool.shape_of(graph.node(repeated.kids[0]).outs[0]);
    if (line.size() != world.pool.shape_of(repeated.outs[0]).size()) return false;
    is_line = true;
    for (size_t k = 0; k < line.size(); ++k) {
      if (static_cast<int64_t>(k) != axis && !is_number(world, line[k], 1)) return false;
    }
    return true;
  };
  if (any_member(graph, term, Op::expand, along)) return Truth::yes;
  return is_line ? Truth::no : Truth::unknown;
}

}  // namespace rlgo::rulegen::sym
