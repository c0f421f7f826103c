#include "core/search/extract.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/search/milp.h"

namespace rlgo::search {

using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::Value;
using ClassId = EGraph::ClassId;

Extraction::Extraction(const EGraph& egraph, const graph::Graph& original, cost::CostModel& cost)
    : egraph_(egraph), original_(original) {
  const graph::Graph& graph = egraph.graph();
  us_.resize(static_cast<size_t>(graph.id_bound()), 0.0);
  for (const NodeId id : egraph.nodes()) {
    if (!graph.node(id).constant) us_[id] = cost.op_us(graph, id);
  }
  ClassId bound = 0;
  for (const ClassId id : egraph_.classes()) bound = std::max(bound, id + 1);
  free_.assign(static_cast<size_t>(bound), kNoNode);
  makers_.resize(static_cast<size_t>(bound));
  find_free();
  find_makers();
}

// A class costs nothing where it is an input of the graph, or computed from constants alone.
void Extraction::find_free() {
  const graph::Graph& graph = egraph_.graph();
  const auto is_constant = [&](const Value& input) {
    const ClassId read = egraph_.class_of(input);
    return is_free(read) && graph.node(free_[read]).op() != ops::Op::input;
  };
  for (const ClassId id : egraph_.classes()) {  // what an e-node reads comes before what it makes
    for (const Value& maker : egraph_.makers(id)) {
      const Node& node = graph.node(maker.node);
      const bool from_constants =
          node.op() != ops::Op::opaque && !node.inputs.empty() && std::ranges::all_of(node.inputs, is_constant);
      if (free_[id] == kNoNode && (node.op() == ops::Op::input || node.constant || from_constants))
        free_[id] = maker.node;
    }
  }
}

std::vector<ClassId> Extraction::reads(NodeId id) const {
  std::vector<ClassId> read;
  for (const Value& input : egraph_.graph().node(id).inputs) {
    const ClassId from = egraph_.class_of(input);
    if (!is_free(from)) read.push_back(from);
  }
  std::ranges::sort(read);
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return read;
}

// Of two makers of a class that read the same, or one more than the other, the cheaper is enough; of equals the older.
// A maker of several classes may be there for another one.
void Extraction::leave_out_worse(ClassId id) {
  auto& makers = makers_[id];
  std::vector<std::vector<ClassId>> read;
  for (const NodeId maker : makers) read.push_back(reads(maker));
  const auto is_worse = [&](size_t k, size_t than) {
    if (us_[makers[than]] > us_[makers[k]] || !std::ranges::includes(read[k], read[than])) return false;
    return us_[makers[than]] < us_[makers[k]] || read[than].size() < read[k].size() || than < k;
  };
  std::vector<NodeId> kept;
  for (size_t k = 0; k < makers.size(); ++k) {
    bool worse = false;
    for (size_t other = 0; !worse && makes_one(makers[k]) && other < makers.size(); ++other)
      worse = other != k && is_worse(k, other);
    if (!worse) kept.push_back(makers[k]);
  }
  makers = std::move(kept);
}

void Extraction::find_makers() {
  std::vector<uint8_t> seen(free_.size(), 0);
  std::vector<ClassId> open = egraph_.roots();
  while (!open.empty()) {
    const ClassId id = open.back();
    open.pop_back();
    if (seen[id] != 0 || is_free(id)) continue;
    seen[id] = 1;
    for (const Value& maker : egraph_.makers(id)) {
      if (makers_[id].empty() || makers_[id].back() != maker.node) makers_[id].push_back(maker.node);
    }
    leave_out_worse(id);
    for (const NodeId maker : makers_[id]) {
      for (const ClassId read : reads(maker)) open.push_back(read);
    }
  }
}

size_t Extraction::candidates() const {
  std::set<NodeId> all;
  for (const auto& makers : makers_) all.insert(makers.begin(), makers.end());
  return all.size();
}

// better(us, best_us): whether a maker with this cost below it takes the place of the best one so far.
template <class Better>
Choice Extraction::choose(const Better& better) const {
  Choice choice = free_;
  std::vector<double> below_us(free_.size(), 0.0);
  for (const ClassId id : egraph_.classes()) {
    for (const NodeId maker : makers_[id]) {
      double us = us_[maker];
      for (const ClassId read : reads(maker)) us += below_us[read];
      if (choice[id] != kNoNode && !better(us, below_us[id])) continue;
      choice[id] = maker;
      below_us[id] = us;
    }
  }
  return choice;
}

Choice Extraction::greedy() const {
  return choose([](double us, double best_us) { return us < best_us; });
}

Choice Extraction::oldest() const {
  return choose([](double, double) { return false; });
}

// Classes that the outputs need, each before those computed from it.
std::vector<ClassId> Extraction::needed(const Choice& choice) const {
  std::vector<uint8_t> seen(free_.size(), 0);
  std::vector<ClassId> open = egraph_.roots(), found;
  while (!open.empty()) {
    const ClassId id = open.back();
    open.pop_back();
    if (seen[id] != 0) continue;
    seen[id] = 1;
    RLGO_CHECK(choice[id] != kNoNode);
    for (const Value& input : egraph_.graph().node(choice[id]).inputs) open.push_back(egraph_.class_of(input));
  }
  for (const ClassId id : egraph_.classes()) {
    if (seen[id] != 0) found.push_back(id);
  }
  return found;
}

double Extraction::cost_us(const Choice& choice) const {
  std::vector<NodeId> chosen;
  for (const ClassId id : needed(choice)) {
    if (!is_free(id)) chosen.push_back(choice[id]);
  }
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  double us = 0;
  for (const NodeId id : chosen) us += us_[id];
  return us;
}

Choice Extraction::improved(Choice choice) const {
  std::map<NodeId, std::vector<ClassId>> made_by;
  for (ClassId id = 0; id < static_cast<ClassId>(makers_.size()); ++id) {
    for (const NodeId maker : makers_[id]) made_by[maker].push_back(id);
  }
  double best_us = cost_us(choice);
  for (bool better = true; better;) {
    better = false;
    for (const ClassId id : needed(choice)) {
      for (const NodeId maker : makers_[id]) {
        Choice next = choice;
        for (const ClassId made : made_by[maker]) next[made] = maker;
        const double us = cost_us(next);
        if (us >= best_us * (1 - 1e-12)) continue;
        choice = std::move(next);
        best_us = us;
        better = true;
      }
    }
  }
  return choice;
}

// By class: classes that every way to compute it computes too, without those that another one of them implies.
std::vector<std::vector<ClassId>> Extraction::dominators() const {
  std::vector<ClassId> order;
  std::vector<size_t> place(makers_.size(), 0);
  for (const ClassId id : egraph_.classes()) {
    if (makers_[id].empty()) continue;
    place[id] = order.size();
    order.push_back(id);
  }
  using Set = std::vector<bool>;
  std::vector<Set> all(order.size());
  std::vector<std::vector<ClassId>> next(makers_.size());
  for (size_t k = 0; k < order.size(); ++k) {
    bool first = true;
    for (const NodeId maker : makers_[order[k]]) {
      Set below(k + 1, false);
      for (const ClassId read : reads(maker)) {
        const Set& set = all[place[read]];
        for (size_t i = 0; i < set.size(); ++i) below[i] = below[i] || set[i];
      }
      if (std::exchange(first, false)) {
        all[k] = std::move(below);
        continue;
      }
      for (size_t i = 0; i < k; ++i) all[k][i] = all[k][i] && below[i];
    }
    Set implied(k, false);
    for (size_t i = k; i-- > 0;) {
      if (!all[k][i] || implied[i]) continue;
      next[order[k]].push_back(order[i]);
      for (size_t j = 0; j < i; ++j) implied[j] = implied[j] || all[i][j];
    }
    all[k][k] = true;
  }
  return next;
}

// A column for each class and each of its makers: the class is computed by this one. An e-node that makes several
// classes has a column of its own besides, which costs; of the others the only column costs. Rows: an output has a
// maker; what the makers of a class read is there, where all makers that read the same are one row, as only one of them
// is chosen; what every way to compute a class needs is there (this and the joint rows bound the relaxation far better
// than a row for each e-node); an e-node is computed where it makes something. Cycles cannot arise, as the e-graph has
// none.
std::optional<Extraction::Solved> Extraction::solve(const Choice& start, double seconds) const {
  BinaryProgram program;
  std::map<std::pair<ClassId, NodeId>, int> column;
  std::map<NodeId, int> shared;
  std::vector<uint8_t> is_needed(free_.size(), 0);
  for (const ClassId id : needed(start)) is_needed[id] = 1;
  for (ClassId id = 0; id < static_cast<ClassId>(makers_.size()); ++id) {
    for (const NodeId maker : makers_[id]) {
      const bool chosen = is_needed[id] != 0 && start[id] == maker;
      const int at = program.add(makes_one(maker) ? us_[maker] : 0.0, chosen);
      column[{id, maker}] = at;
      if (makes_one(maker)) continue;
      const auto [of_node, is_new] = shared.try_emplace(maker, -1);
      if (is_new) of_node->second = program.add(us_[maker], false);
      if (chosen) program.start[static_cast<size_t>(of_node->second)] = 1;
      program.rows.push_back({{{of_node->second, 1.0}, {at, -1.0}}, 0});
    }
  }
  const auto made = [&](ClassId id) {
    std::vector<BinaryProgram::Term> terms;
    for (const NodeId maker : makers_[id]) terms.push_back({column.at({id, maker}), 1.0});
    return terms;
  };
  for (const ClassId id : egraph_.roots()) {
    if (!is_free(id)) program.rows.push_back({made(id), 1});
  }
  for (ClassId id = 0; id < static_cast<ClassId>(makers_.size()); ++id) {
    std::map<ClassId, std::vector<BinaryProgram::Term>> by_read;
    for (const NodeId maker : makers_[id]) {
      for (const ClassId read : reads(maker)) by_read[read].push_back({column.at({id, maker}), -1.0});
    }
    for (auto& [read, terms] : by_read) {
      for (const auto& term : made(read)) terms.push_back(term);
      program.rows.push_back({std::move(terms), 0});
    }
  }
  const auto above = dominators();
  for (ClassId id = 0; id < static_cast<ClassId>(makers_.size()); ++id) {
    for (const ClassId needed_too : above[id]) {
      auto terms = made(needed_too);
      for (const auto& term : made(id)) terms.push_back({term.column, -1.0});
      program.rows.push_back({std::move(terms), 0});
    }
  }
  const auto found = minimise(program, seconds);
  if (!found) return std::nullopt;
  Choice choice = free_;
  for (const auto& [place, at] : column) {
    if (choice[place.first] == kNoNode && found->values[static_cast<size_t>(at)] != 0)
      choice[place.first] = place.second;
  }
  return Solved{std::move(choice), found->bound, found->optimal};
}

graph::Graph Extraction::build(const Choice& choice) const {
  const graph::Graph& graph = egraph_.graph();
  graph::Editor editor(original_);
  std::vector<NodeId> made(us_.size(), kNoNode);
  std::vector<Value> value_of(free_.size());
  const auto place = [&](ClassId id) {  // the output of the chosen e-node that is in the class
    for (const Value& maker : egraph_.makers(id)) {
      if (maker.node == choice[id]) return maker.port;
    }
    fail("extraction: a class was given an e-node that does not compute it");
  };
  for (const ClassId id : needed(choice)) {
    const NodeId chosen = choice[id];
    if (made[chosen] == kNoNode) {
      const Node& node = graph.node(chosen);
      std::vector<Value> inputs;
      for (const Value& input : node.inputs) inputs.push_back(value_of[egraph_.class_of(input)]);
      const bool kept = original_.contains(chosen) && std::ranges::equal(inputs, original_.node(chosen).inputs);
      made[chosen] = kept ? chosen : editor.add_made(node.info, inputs);
    }
    value_of[id] = {made[chosen], place(id)};
  }
  const auto roots = egraph_.roots();
  for (size_t k = 0; k < roots.size(); ++k) {
    const Value old = original_.outputs()[k].value;
    if (value_of[roots[k]] != old) editor.replace(old, value_of[roots[k]]);
  }
  auto built = editor.finish();
  RLGO_CHECK(built.has_value());
  return std::move(*built);
}

}  // namespace rlgo::search
