#include "core/rulegen/prove/certify.h"

#include <z3++.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "core/base/error.h"

namespace rlgo::rulegen::sym {

namespace {

struct Known {
  Certifier::Answer answer = Certifier::Answer::no;
  std::vector<int32_t> core;  // places in the list of instances; -1: commutativity
};

// A query up to the names of operators and terms: equal keys are one problem of uninterpreted functions.
class Key {
 public:
  explicit Key(const EGraph& graph) : graph_(graph) {}
  void pair(TermId a, TermId b) {
    const int32_t x = term(a), y = term(b);
    text_.insert(text_.end(), {-1, x, y});
  }
  void part() { text_.push_back(-2); }
  const std::vector<int32_t>& text() const { return text_; }

 private:
  int32_t term(TermId t) {
    if (const auto held = terms_.find(t); held != terms_.end()) return held->second;
    const Node& node = graph_.node(t);
    std::vector<int32_t> kids;
    for (TermId kid : node.kids) kids.push_back(term(kid));
    const auto function = functions_.try_emplace({node.op, node.params, static_cast<int32_t>(kids.size())},
                                                 static_cast<int32_t>(functions_.size()));
    text_.insert(text_.end(),
                 {-3, function.first->second, EGraph::commutative(node.op) ? 1 : 0, static_cast<int32_t>(kids.size())});
    text_.insert(text_.end(), kids.begin(), kids.end());
    return terms_.emplace(t, static_cast<int32_t>(terms_.size())).first->second;
  }
  const EGraph& graph_;
  std::vector<int32_t> text_;
  std::unordered_map<TermId, int32_t> terms_;
  std::map<std::array<int32_t, 3>, int32_t> functions_;
};

}  // namespace

struct Certifier::Impl {
  z3::context context;
  z3::sort tensor = context.uninterpreted_sort("T");
  std::map<std::vector<int32_t>, Known> answers;
  unsigned effort = 0;
};

Certifier::Certifier(unsigned effort) : impl_(std::make_unique<Impl>()) { impl_->effort = effort; }
Certifier::~Certifier() = default;
Certifier::Certifier(Certifier&&) noexcept = default;

namespace {

class Query {
 public:
  Query(z3::context& context, const z3::sort& tensor, const EGraph& graph, unsigned effort)
      : c_(context), tensor_(tensor), graph_(graph), solver_(context, z3::solver::simple()), goals_(context) {
    z3::params limits(c_);
    limits.set("rlimit", effort);
    solver_.set(limits);
  }

  void assume(int32_t place, const Instance& held) { track(place, term(held.left) == term(held.right)); }
  void refute(TermId a, TermId b) { goals_.push_back(term(a) != term(b)); }
  Certifier::Answer contradiction(std::vector<int32_t>& core) {
    solver_.add(z3::mk_or(goals_));
    for (size_t k = 0; k < swaps_.size(); ++k) track(-1 - static_cast<int32_t>(k), swaps_[k]);
    z3::expr_vector assumptions(c_);
    for (const auto& [name, literal] : literals_) assumptions.push_back(literal);
    const z3::check_result result = solver_.check(assumptions);
    if (result != z3::unsat) return result == z3::sat ? Certifier::Answer::no : Certifier::Answer::gave_up;
    const auto used = solver_.unsat_core();
    for (unsigned k = 0; k < used.size(); ++k) {
      const int32_t number = std::stoi(used[k].decl().name().str().substr(1));
      core.push_back(number < 0 ? -1 : number);
    }
    std::sort(core.begin(), core.end());
    core.erase(std::unique(core.begin(), core.end()), core.end());
    return Certifier::Answer::yes;
  }

 private:
  void track(int32_t number, const z3::expr& fact) {
    const z3::expr literal = c_.bool_const(("i" + std::to_string(number)).c_str());
    solver_.add(z3::implies(literal, fact));
    literals_.emplace_back(number, literal);
  }
  // Terms of a commutative operator are taken to be equal with their operands exchanged.
  z3::expr term(TermId t) {
    if (const auto held = terms_.find(t); held != terms_.end()) return held->second;
    const Node& node = graph_.node(t);
    z3::expr_vector kids(c_);
    for (TermId kid : node.kids) kids.push_back(term(kid));
    std::vector<z3::sort> sorts(node.kids.size(), tensor_);
    z3::sort_vector domain(c_);
    for (const auto& sort : sorts) domain.push_back(sort);
    const z3::func_decl function = c_.function(function_name(node).c_str(), domain, tensor_);
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

Certifier::Answer Certifier::entails(const EGraph& graph, const std::vector<int32_t>& instances,
                                     const std::vector<std::pair<TermId, TermId>>& goals, std::vector<int32_t>& core) {
  core.clear();
  if (std::ranges::all_of(goals, [](const auto& pair) { return pair.first == pair.second; })) return Answer::yes;
  const auto& held = graph.instances();
  Key key(graph);
  for (int32_t instance : instances)
    key.pair(held[static_cast<size_t>(instance)].left, held[static_cast<size_t>(instance)].right);
  key.part();
  for (const auto& [a, b] : goals) key.pair(a, b);
  auto known = impl_->answers.find(key.text());
  if (known == impl_->answers.end()) {
    Known found;
    try {
      Query query(impl_->context, impl_->tensor, graph, impl_->effort);
      for (size_t k = 0; k < instances.size(); ++k)
        query.assume(static_cast<int32_t>(k), held[static_cast<size_t>(instances[k])]);
      for (const auto& [a, b] : goals) query.refute(a, b);
      found.answer = query.contradiction(found.core);
    } catch (const z3::exception& e) {
      fail("Z3: {}", e.msg());
    }
    known = impl_->answers.emplace(key.text(), std::move(found)).first;
  }
  for (int32_t place : known->second.core) core.push_back(place < 0 ? -1 : instances[static_cast<size_t>(place)]);
  return known->second.answer;
}

}  // namespace rlgo::rulegen::sym
