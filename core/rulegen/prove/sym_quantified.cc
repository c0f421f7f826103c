#include "core/rulegen/prove/sym_quantified.h"

#include <z3++.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::rulegen::sym {
namespace {

using rules::Operand;

constexpr int32_t kFresh = 1'000'000;  // numbers of bound variables; those of the goals are below

// A form of an axiom: both sides over variables that stand for all tensors of their shapes.
struct Form {
  int32_t axiom = 0;
  const EGraph* graph = nullptr;  // where the terms are
  TermId left = 0, right = 0;
  std::set<TermId> bound;
};

// The binding of a match with fresh variables in place of the tensors, in an e-graph of its own.
class Generalised {
 public:
  Generalised(const rules::CompiledRule& rule, const EGraph& from, const Binding& match)
      : rule_(rule), from_(from), match_(match), binding_(match), made_(rule.left.size(), -1) {
    const auto fresh = [&](TermId& t) {
      const auto [held, is_new] = variables_.try_emplace(from_.find(t), -1);
      if (is_new)
        held->second = graph.add(kVariable, kFresh + static_cast<int32_t>(variables_.size()), {}, from_.node(t).outs);
      t = held->second;
    };
    for (size_t k = 0; k < binding_.tensors.size(); ++k) {
      if (binding_.masks.tensors >> k & 1u) fresh(binding_.tensors[k]);
    }
    for (size_t k = 0; k < binding_.sequences.size(); ++k) {
      if (binding_.masks.sequences >> k & 1u) std::ranges::for_each(binding_.sequences[k], fresh);
    }
    for (auto& t : binding_.scalars) t = copy(t);
    for (size_t k = 0; k < rule.left.size(); ++k) binding_.nodes[k] = node(k);
  }

  EGraph graph;
  const Binding& binding() const { return binding_; }
  std::set<TermId> bound() const {
    std::set<TermId> all;
    for (const auto& [term, variable] : variables_) all.insert(variable);
    return all;
  }

 private:
  // Constants of the axiom: terms without variables.
  TermId copy(TermId t) {
    if (t < 0) return t;
    const Node& node = from_.node(t);
    Kids kids;
    for (TermId kid : node.kids) kids.push_back(copy(kid));
    return graph.add(node.op, node.params, kids, node.outs);
  }
  TermId node(size_t index) {
    if (made_[index] >= 0) return made_[index];
    const Node& matched = from_.node(match_.nodes[index]);
    Kids kids;
    for (const auto& operand : rule_.left[index].operands) {
      const auto slot = static_cast<size_t>(operand.index);
      if (operand.kind == Operand::Kind::tensor) kids.push_back(binding_.tensors[slot]);
      if (operand.kind == Operand::Kind::scalar) kids.push_back(binding_.scalars[slot]);
      if (operand.kind == Operand::Kind::sequence) {
        for (TermId t : binding_.sequences[slot]) kids.push_back(t);
      }
      if (operand.kind != Operand::Kind::left) continue;
      const TermId inner = node(slot);
      const int ports = static_cast<int>(graph.node(inner).outs.size());
      const bool split = rule_.left[slot].op == ops::Op::split;
      const int first = operand.spread || !split ? 0 : operand.port;
      for (int port = first; port < (operand.spread ? ports : first + 1); ++port)
        kids.push_back(split ? port_of(graph, inner, port) : inner);
    }
    return made_[index] = graph.add(matched.op, matched.params, kids, matched.outs);
  }

  const rules::CompiledRule& rule_;
  const EGraph& from_;
  const Binding& match_;
  Binding binding_;
  std::map<TermId, TermId> variables_;
  std::vector<TermId> made_;
};

// Forms of axioms that occur, found by saturation that does not know the goals.
class Forms {
 public:
  Forms(const AxiomSet& axioms, const EGraph& start, World& world, const QuantifiedLimits& limits)
      : axioms_(axioms), graph_(start), w_(world), limits_(limits) {}

  void collect() {
    for (int k = 0; k < limits_.iterations; ++k) {
      add_split_terms(graph_, w_, limits_.terms, seeded_);
      const int32_t terms = graph_.size();
      const auto before = graph_.instances().size();
      if (!round() || (graph_.size() == terms && graph_.instances().size() == before)) return;
    }
  }
  const std::vector<Form>& all() const { return forms_; }

 private:
  // False where there are enough terms.
  bool round() {
    std::vector<std::pair<int32_t, Binding>> found;
    for (size_t k = 0; k < axioms_.axioms().size(); ++k) {
      const auto& rule = axioms_.axioms()[k].rule;
      const auto span = graph_.of_op(static_cast<int>(rule.left[0].op));
      const std::vector<TermId> roots(span.begin(), span.end());
      AxiomMatcher matcher(rule, graph_, w_);
      for (TermId root : roots) {
        if (!graph_.node(root).duplicate)
          matcher.at(root, [&](const Binding& b) { found.emplace_back(static_cast<int32_t>(k), b); });
      }
    }
    for (auto& [axiom, binding] : found) {
      if (graph_.size() > limits_.terms) return false;
      keep(axiom, binding);
      apply_axiom(axioms_.axioms()[static_cast<size_t>(axiom)].rule, axiom, graph_, w_, std::move(binding));
    }
    return true;
  }
  void keep(int32_t axiom, const Binding& binding) {
    const auto& rule = axioms_.axioms()[static_cast<size_t>(axiom)].rule;
    if (axioms_.axioms()[static_cast<size_t>(axiom)].asks_total) return;  // not for all terms of these shapes
    auto general = std::make_unique<Generalised>(rule, graph_, binding);
    if (!apply_axiom(rule, axiom, general->graph, w_, general->binding())) return;
    bool used = false;
    for (const auto& instance : general->graph.instances()) {
      std::string text = std::to_string(axiom);
      write(general->graph, instance.left, text);
      write(general->graph, instance.right, text);
      if (!seen_.insert(text).second) continue;
      forms_.push_back({axiom, &general->graph, instance.left, instance.right, general->bound()});
      used = true;
    }
    if (used) kept_.push_back(std::move(general));
  }
  static void write(const EGraph& graph, TermId t, std::string& text) {
    const Node& node = graph.node(t);
    text += fmt::format("({} {}", node.op, node.params);
    for (int32_t shape : node.outs) text += fmt::format(" {}", shape);
    for (TermId kid : node.kids) write(graph, kid, text);
    text += ")";
  }

  const AxiomSet& axioms_;
  EGraph graph_;
  World& w_;
  const QuantifiedLimits& limits_;
  int32_t seeded_ = 0;
  std::set<std::string> seen_;
  std::vector<Form> forms_;
  std::vector<std::unique_ptr<Generalised>> kept_;
};

class Query {
 public:
  explicit Query(unsigned effort)
      : tensor_(c_.uninterpreted_sort("T")), shape_(c_.function("shape", tensor_, c_.int_sort())), solver_(c_) {
    z3::params how(c_);
    how.set("mbqi", false);
    how.set("auto_config", false);
    how.set("rlimit", effort);
    how.set("timeout", 10'000u);  // ms; a last resort
    solver_.set(how);
  }

  void goals(const EGraph& graph, const Goals& goals) {
    std::set<TermId> shaped;
    const std::map<TermId, z3::expr> none;
    z3::expr_vector different(c_);
    for (const auto& [a, b] : goals) {
      different.push_back(term(graph, a, none) != term(graph, b, none));
      for (const TermId t : {a, b}) has_shapes(graph, t, none, shaped, [&](const z3::expr& f) { solver_.add(f); });
    }
    solver_.add(z3::mk_or(different));
  }
  void add(const Form& form) {
    if (form.bound.contains(form.left)) return;
    std::map<TermId, z3::expr> bound;
    z3::expr_vector variables(c_);
    z3::expr condition = c_.bool_val(true);
    for (TermId v : form.bound) {
      const z3::expr x = c_.constant(fmt::format("x{}", v).c_str(), tensor_);
      if (!reads(*form.graph, form.left, v)) {
        if (reads(*form.graph, form.right, v)) return;  // no trigger would bind it
        continue;
      }
      bound.emplace(v, x);
      variables.push_back(x);
      condition = condition && shape_(x) == shape_id(form.graph->node(v).outs);
    }
    const z3::expr left = term(*form.graph, form.left, bound), right = term(*form.graph, form.right, bound);
    z3::expr body = left == right;
    std::set<TermId> shaped(form.bound.begin(), form.bound.end());
    for (const TermId t : {form.left, form.right})
      has_shapes(*form.graph, t, bound, shaped, [&](const z3::expr& f) { body = body && f; });
    assume(form.axiom, variables.empty() ? body : forall(variables, left, z3::implies(condition, body)));
    ++formulas_;
  }
  // Commutativity, of every operator and shape that occurs.
  void commute() {
    for (const auto& [name, function] : commutative_) {
      z3::expr_vector variables(c_);
      const z3::expr x = c_.constant("x", tensor_), y = c_.constant("y", tensor_);
      variables.push_back(x);
      variables.push_back(y);
      assume(-1, forall(variables, function(x, y), function(x, y) == function(y, x)));
    }
  }
  bool proved(std::vector<int32_t>& axioms) {
    z3::expr_vector assumptions(c_);
    for (const auto& [axiom, literal] : literals_) assumptions.push_back(literal);
    if (solver_.check(assumptions) != z3::unsat) return false;
    const auto core = solver_.unsat_core();
    for (unsigned k = 0; k < core.size(); ++k) axioms.push_back(std::stoi(core[k].decl().name().str().substr(1)));
    std::ranges::sort(axioms);
    return true;
  }
  int formulas() const { return formulas_; }

 private:
  static bool reads(const EGraph& graph, TermId t, TermId variable) {
    return t == variable ||
           std::ranges::any_of(graph.node(t).kids, [&](TermId kid) { return reads(graph, kid, variable); });
  }
  int shape_id(const Kids& outs) {
    return shapes_.try_emplace(std::vector<int32_t>(outs.begin(), outs.end()), static_cast<int>(shapes_.size()))
        .first->second;
  }
  z3::expr forall(const z3::expr_vector& variables, const z3::expr& trigger, const z3::expr& body) {
    // The pattern is kept in an object that counts references: Z3 4.8 aborts without.
    Z3_ast patterns_of[] = {trigger};
    const z3::ast pattern(c_, Z3_pattern_to_ast(c_, Z3_mk_pattern(c_, 1, patterns_of)));
    auto* raw = reinterpret_cast<Z3_pattern>(static_cast<Z3_ast>(pattern));
    std::vector<Z3_app> names;
    for (unsigned k = 0; k < variables.size(); ++k) names.push_back(Z3_to_app(c_, variables[k]));
    const Z3_ast made = Z3_mk_forall_const(c_, 0, static_cast<unsigned>(names.size()), names.data(), 1, &raw, body);
    c_.check_error();
    return z3::expr(c_, made);
  }
  void assume(int32_t axiom, const z3::expr& fact) {
    const auto held = literals_.try_emplace(axiom, c_.bool_const(("a" + std::to_string(axiom)).c_str())).first;
    solver_.add(z3::implies(held->second, fact));
  }
  template <class Add>
  void has_shapes(const EGraph& graph, TermId t, const std::map<TermId, z3::expr>& bound, std::set<TermId>& seen,
                  const Add& add) {
    if (!seen.insert(t).second) return;
    const Node& node = graph.node(t);
    add(shape_(term(graph, t, bound)) == shape_id(node.outs));
    for (TermId kid : node.kids) has_shapes(graph, kid, bound, seen, add);
  }
  z3::expr term(const EGraph& graph, TermId t, const std::map<TermId, z3::expr>& bound) {
    if (const auto held = bound.find(t); held != bound.end()) return held->second;
    const Node& node = graph.node(t);
    z3::expr_vector kids(c_);
    z3::sort_vector domain(c_);
    for (TermId kid : node.kids) {
      kids.push_back(term(graph, kid, bound));
      domain.push_back(tensor_);
    }
    const std::string name = function_name(node);
    const z3::func_decl function = c_.function(name.c_str(), domain, tensor_);
    if (EGraph::commutative(node.op) && node.kids.size() == 2) commutative_.emplace(name, function);
    return function(kids);
  }

  z3::context c_;
  z3::sort tensor_;
  z3::func_decl shape_;
  z3::solver solver_;
  std::map<std::vector<int32_t>, int> shapes_;
  std::map<std::string, z3::func_decl> commutative_;
  std::map<int32_t, z3::expr> literals_;
  int formulas_ = 0;
};

}  // namespace

QuantifiedResult prove_quantified(const AxiomSet& axioms, const EGraph& start, const Goals& goals, World& world,
                                  const QuantifiedLimits& limits) {
  QuantifiedResult result;
  if (std::ranges::all_of(goals, [](const auto& pair) { return pair.first == pair.second; })) {
    result.proved = true;
    return result;
  }
  Forms forms(axioms, start, world, limits);
  forms.collect();
  try {
    Query query(limits.effort);
    query.goals(start, goals);
    for (const auto& form : forms.all()) query.add(form);
    query.commute();
    result.formulas = query.formulas();
    result.proved = query.proved(result.axioms);
  } catch (const z3::exception& e) {
    fail("Z3: {}", e.msg());
  }
  return result;
}

}  // namespace rlgo::rulegen::sym
