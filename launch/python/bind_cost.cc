// Prices: the formula under a profile, or times that a runtime in a child process takes.
#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/base/usage.h"
#include "core/cost/profile.h"
#include "core/measure/runtime.h"
#include "launch/python/bindings.h"
#include "launch/python/interrupt.h"

namespace rlgo::python {
namespace {

// One thread at a time, until Ctrl-C.
class LockedCost : public cost::CostModel {
 public:
  LockedCost(std::shared_ptr<cost::CostModel> inner, std::shared_ptr<std::mutex> mutex,
             std::shared_ptr<Interrupt> interrupt)
      : inner_(std::move(inner)), mutex_(std::move(mutex)), interrupt_(std::move(interrupt)) {}
  std::string name() const override { return inner_->name(); }
  double op_us(const graph::Graph& graph, graph::NodeId id) override {
    const std::lock_guard lock(*mutex_);
    return interrupt_->watch([&] { return inner_->op_us(graph, id); });
  }
  bool is_local() const override { return inner_->is_local(); }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                        std::span<const graph::NodeId> changed) const override {
    const std::lock_guard lock(*mutex_);
    return inner_->dependents(graph, changed);
  }

 private:
  const std::shared_ptr<cost::CostModel> inner_;
  const std::shared_ptr<std::mutex> mutex_;
  const std::shared_ptr<Interrupt> interrupt_;
};

PyCost analytic(const std::string& profile) { return {cost::analytic_cost(profile)}; }

// `python` runs the measurer that rlgo ships for `runtime`.
PyCost measured(const std::string& runtime, const std::string& python, int threads, int repeats, uint64_t seed) {
  const std::string file = runtime + "_measurer.py";
  std::vector<std::string> command;
  try {
    command = {python, shipped_file({"launch/measurers/" + file, "share/rlgo/measurers/" + file}).string()};
  } catch (const Error&) {
    fail_usage("cost '{}': neither a cost profile nor a runtime that rlgo has a measurer for", runtime);
  }
  measure::MeasurerOptions options;
  options.threads = threads;
  options.repeats = repeats;
  options.seed = seed + 1;
  const auto interrupt = std::make_shared<Interrupt>();
  options.should_stop = [interrupt] { return interrupt->stop(); };
  const auto child = interrupt->watch(
      [&] { return std::make_shared<measure::ChildRuntime>(std::make_shared<measure::Measurer>(command, options)); });
  const auto mutex = std::make_shared<std::mutex>();  // of the child process
  const auto timer_of = [child, mutex, interrupt, repeats](const optimise::LoadedModel& model,
                                                           bool with_errors) -> cost::WholeTimer {
    const auto looks = with_errors ? optimise::looks_for_latency(repeats) : optimise::WholeTimerOptions{repeats};
    return [mutex, interrupt, timer = optimise::whole_timer(child, model, looks, write_graph)](const auto& graph,
                                                                                               double against) {
      const std::lock_guard lock(*mutex);
      return interrupt->watch([&] { return timer(graph, against); });
    };
  };
  return {std::make_shared<LockedCost>(child->measure().model, mutex, interrupt), child->name(), timer_of};
}

std::map<std::string, double> graph_cost(const PyCost& cost, const PyGraph& graph) {
  const cost::Cost c = cost::graph_cost(*cost.model, graph.graph);
  return {{"runtime_us", c.runtime_us},
          {"flops", c.flops},
          {"bytes", c.bytes},
          {"peak_bytes", c.peak_bytes},
          {"launches", c.launches}};
}

std::vector<std::pair<std::string, double>> operator_costs(const PyCost& cost, const PyGraph& graph) {
  std::vector<std::pair<std::string, double>> all;
  for (const auto id : graph.graph.order()) {
    const auto& node = graph.graph.node(id);
    if (node.constant || cost::is_free(node)) continue;
    all.emplace_back(cost::signature(graph.graph, id), cost.model->op_us(graph.graph, id));
  }
  return all;
}

}  // namespace

void bind_cost(nb::module_& m) {
  nb::class_<PyCost>(m, "CostModel")
      .def_prop_ro("name", [](const PyCost& c) { return c.model->name(); })
      .def_prop_ro("runtime", [](const PyCost& c) { return c.runtime; })
      .def("graph_cost", &graph_cost, nb::arg("graph"), nb::call_guard<nb::gil_scoped_release>())
      .def("operator_costs", &operator_costs, nb::arg("graph"), nb::call_guard<nb::gil_scoped_release>())
      .def("__repr__", [](const PyCost& c) { return fmt::format("<rlgo cost model {}>", c.model->name()); });
  m.def("analytic_cost", &analytic, nb::arg("profile"), nb::call_guard<nb::gil_scoped_release>());
  m.def("measured_cost", &measured, nb::arg("runtime"), nb::arg("python"), nb::arg("threads"), nb::arg("repeats"),
        nb::arg("seed"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace rlgo::python
