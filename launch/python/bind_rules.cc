// Rule sets, matches, single rewrites.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rules/compiled.h"
#include "core/rules/rule_choice.h"
#include "core/rules/trace.h"
#include "launch/python/bindings.h"

namespace rlgo::python {
namespace {

// A rule of a set, kept alive by it.
struct PyRule {
  std::shared_ptr<const rules::RuleSet> set;
  int index = 0;
  const rules::RuleText& text() const { return set->rule(index).text; }
};

PyRule rule_at(const PyRules& rules, int index) {
  if (index < 0 || index >= rules.set->size()) throw nb::index_error();
  return {rules.set, index};
}

int index_of(const PyRules& rules, const std::string& name) {
  const auto& set = rules.set;
  for (int r = 0; r < set->size(); ++r) {
    if (set->name(r) == name) return r;
  }
  const std::string names[] = {name};
  set->subset(names);  // throws, and names the nearest
  return -1;
}

std::map<std::string, size_t> matches(const PyRules& rules, const PyGraph& graph) {
  const auto& set = rules.set;
  const rules::MatchIndex index(set, graph.graph);
  std::map<std::string, size_t> counts;
  for (int r = 0; r < set->size(); ++r) {
    if (const size_t count = index.matches(r).size(); count > 0) counts[set->name(r)] = count;
  }
  return counts;
}

PyGraph replay(const PyRules& set, const PyGraph& graph, const std::vector<std::pair<int32_t, int32_t>>& trace) {
  rules::Trace rewrites;
  for (const auto& [rule, location] : trace) rewrites.push_back({rule, location});
  return {rules::replay(graph.graph, set.set, rewrites), graph.source};
}

}  // namespace

void bind_rules(nb::module_& m) {
  nb::class_<PyRule>(m, "Rule")
      .def_prop_ro("name", [](const PyRule& r) { return r.text().name; })
      .def_prop_ro("index", [](const PyRule& r) { return r.index; })
      .def_prop_ro("proof", [](const PyRule& r) { return rules::proof_name(r.set->proof(r.index)); })
      .def_prop_ro("scope",
                   [](const PyRule& r) {
                     return r.set->proof(r.index) == rules::Proof::proved ? rules::to_text(r.text().scope)
                                                                          : std::string();
                   })
      .def_prop_ro("axioms", [](const PyRule& r) { return r.text().axioms; })
      .def_prop_ro("tags", [](const PyRule& r) { return r.text().tags; })
      .def_prop_ro("file", [](const PyRule& r) { return r.text().file; })
      .def_prop_ro("line", [](const PyRule& r) { return r.text().line; })
      .def_prop_ro("text", [](const PyRule& r) { return rules::to_text(r.text()); })
      .def("__repr__", [](const PyRule& r) {
        return fmt::format("<rlgo rule {} ({})>", r.text().name, rules::proof_name(r.set->proof(r.index)));
      });
  nb::class_<PyRules>(m, "RuleSet")
      .def("__len__", [](const PyRules& s) { return s.set->size(); })
      .def("__getitem__", &rule_at)
      .def("__getitem__", [](const PyRules& s, const std::string& name) { return rule_at(s, index_of(s, name)); })
      .def("__contains__",
           [](const PyRules& s, const std::string& name) {
             const auto names = s.set->names();
             return std::ranges::find(names, name) != names.end();
           })
      .def_prop_ro("names", [](const PyRules& s) { return s.set->names(); })
      .def_prop_ro("hash", [](const PyRules& s) { return hex(s.set->hash()); })
      .def(
          "subset",
          [](const PyRules& s, const std::vector<std::string>& names) { return PyRules{s.set->subset(names)}; },
          nb::arg("names"))
      .def("to_text", [](const PyRules& s) { return s.set->to_text(); })
      .def("matches", &matches, nb::arg("graph"), nb::call_guard<nb::gil_scoped_release>())
      .def("replay", &replay, nb::arg("graph"), nb::arg("trace"), nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "choose_rules", [](const std::vector<std::string>& words) { return PyRules{rules::choose_rules(words)}; },
      nb::arg("words"), nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "parse_rules",
      [](const std::string& text, const std::string& name) { return PyRules{rules::RuleSet::parse(text, name)}; },
      nb::arg("text"), nb::arg("file_name"), nb::call_guard<nb::gil_scoped_release>());
  m.def("rule_sets", [] {
    std::vector<std::pair<std::string, std::string>> sets;
    for (const auto& set : rules::rule_sets()) sets.emplace_back(set.name, set.help);
    return sets;
  });
  m.def("rule_set_file", [](const std::string& name) { return rules::rule_set_file(name).string(); });
}

}  // namespace rlgo::python
