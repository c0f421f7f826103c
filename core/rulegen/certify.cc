#include "core/rulegen/certify.h"

#include <z3++.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"

namespace rlgo::rulegen::sym {

struct Certifier::Impl {
  z3::context context;
  z3::sort tensor = context.uninterpreted_sort("T");
};

Certifier::Certifier() : impl_(std::make_unique<Impl>()) {}
Certifier::~Certifier() = default;
Certifier::Certifier(Certifier&&) noexcept = default;

namespace {

class Query {
 public:
  Query(z3::context& context, const z3::sort& tensor, const EGraph& graph)
      : c_(context), tensor_(tensor), graph_(graph), solver_(context, z3::solver::simple()), goals_(context) {}

  void assume(int32_t instance) {
    const auto& held = graph_.instances()[static_cast<size_t>(instance)];
    track(instance, term(held.left) == term(held.right));
  }
  void refute(TermId a, TermId b) { goals_.push_back(term(a) != term(b)); }
  bool contradiction(std::vector<int32_t>& core) {
    solver_.add(z3::mk_or(goals_));
    for (size_t k = 0; k < swaps_.size(); ++k) track(-1 - static_cast<int32_t>(k), swaps_[k]);
    z3::expr_vector assumptions(c_);
    for (const auto& [name, literal] : literals_) assumptions.push_back(literal);
    if (solver_.check(assumptions) != z3::unsat) return false;
    const auto used = solver_.unsat_core();
    for (unsigned k = 0; k < used.size(); ++k) {
      const int32_t number = std::stoi(used[k].decl().name().str().substr(1));
      core.push_back(number < 0 ? -1 : number);
    }
    std::sort(core.begin(), core.end());
    core.erase(std::unique(core.begin(), core.end()), core.end());
    return true;
  }

 private:
  void track(int32_t number, const z3::expr& fact) {
    const z3::expr literal = c_.bool_const(("i" + std::to_string(number)).c_str());
    solver_.add(z3::implies(literal, fact));
    literals_.emplace_back(number, literal);
  }
  // One function symbol for each operator with its attributes and number of operands. Terms of a commutative operator
  // are said to be equal with their operands exchanged.
  z3::expr term(TermId t) {
    if (const auto held = terms_.find(t); held != terms_.end()) return held->second;
    const Node& node = graph_.node(t);
    z3::expr_vector kids(c_);
    for (TermId kid : node.kids) kids.push_back(term(kid));
    const std::string name = fmt::format("f{}_{}_{}", node.op, node.params, node.kids.size());
    std::vector<z3::sort> sorts(node.kids.size(), tensor_);
    z3::sort_vector domain(c_);
    for (const auto& sort : sorts) domain.push_back(sort);
    const z3::func_decl function = c_.function(name.c_str(), domain, tensor_);
    const z3::expr made = function(kids);
    terms_.emplace(t, made);
    if (EGraph::commutative(node.op) && node.kids[0] != node.kids[1])
      swaps_.push_back(made == function(kids[1], kids[0]));
    return made;
  }

  z3::context& c_;
  z3::sort tensor_;
  const EGraph& graph_;
  z3::solver solver_;
  z3::expr_vector goals_;
  std::map<TermId, z3::expr> terms_;
  std::vector<z3::expr> swaps_;
  std::vector<std::pair<int32_t, z3::expr>> literals_;
};

}  // namespace

bool Certifier::entails(const EGraph& graph, const std::vector<int32_t>& instances,
                        const std::vector<std::pair<TermId, TermId>>& goals, std::vector<int32_t>& core) {
  core.clear();
  if (std::ranges::all_of(goals, [](const auto& pair) { return pair.first == pair.second; })) return true;
  try {
    Query query(impl_->context, impl_->tensor, graph);
    for (int32_t instance : instances) query.assume(instance);
    for (const auto& [a, b] : goals) query.refute(a, b);
    return query.contradiction(core);
  } catch (const z3::exception& e) {
    fail("Z3: {}", e.msg());
  }
}

}  // namespace rlgo::rulegen::sym
