// The extension module _core, part by part.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/optimise/model.h"
#include "core/optimise/whole_timer.h"
#include "core/rules/rules.h"

namespace rlgo::python {

namespace nb = nanobind;

// A graph, and the file that it came from: what exporting it needs.
struct PyGraph {
  graph::Graph graph;
  std::shared_ptr<const optimise::LoadedModel> source;
};

struct PyRules {  // rlgo.Rules
  std::shared_ptr<const rules::RuleSet> set;
};

// Prices graphs; several Python threads may ask at once.
struct PyCost {
  std::shared_ptr<cost::CostModel> model;
  std::string runtime = {};  // "" for a formula
  // What times whole graphs rewritten from a model in that runtime (rewards R4 and latency); none for a formula.
  std::function<cost::WholeTimer(const optimise::LoadedModel&, bool with_errors)> timer_of = {};
};

// Writes a graph rewritten from the model's; parts of it that are constant are written as operators.
void write_graph(const optimise::LoadedModel& model, const graph::Graph& graph, const std::filesystem::path& path);

void bind_graph(nb::module_& module);  // adds classes and functions to the module
void bind_rules(nb::module_& module);
void bind_cost(nb::module_& module);
void bind_search(nb::module_& module);
void bind_env(nb::module_& module);
void bind_optimise(nb::module_& module);

}  // namespace rlgo::python
