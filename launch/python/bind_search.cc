// Searches.
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/usage.h"
#include "core/search/search.h"
#include "launch/python/bindings.h"
#include "launch/python/interrupt.h"

namespace rlgo::python {
namespace {

struct PySearchResult {
  std::string method;
  search::Result found;
  PyGraph graph;
  std::vector<std::pair<std::string, int32_t>> trace;  // rule, location
};

struct Request {
  double seconds = 0;
  search::Options options;
  nb::object progress;
};

PySearchResult run(const std::string& method, const PyGraph& graph, const PyRules& rules, const PyCost& cost,
                   const Request& request) {
  Interrupt interrupt;
  PySearchResult result;
  result.method = method;
  {
    const nb::gil_scoped_release release;
    const Stopwatch watch;
    search::Options options = request.options;
    options.minimal = true;
    if (request.seconds > 0) options.egraph_seconds = request.seconds;
    options.stop = [&] { return interrupt.stop() || (request.seconds > 0 && watch.seconds() >= request.seconds); };
    if (!request.progress.is_none()) {
      options.progress = [&](const search::Counters& done, double best_us) {
        interrupt.call([&] { request.progress(watch.seconds(), done.candidates, best_us); });
      };
    }
    try {
      result.found = search::run(method, {graph.graph, rules.set, *cost.model}, options);
    } catch (...) {
      const nb::gil_scoped_acquire gil;
      interrupt.rethrow();  // what stopped it comes before what came of stopping
      throw;
    }
  }
  interrupt.rethrow();
  result.graph = {result.found.graph, graph.source};
  for (const auto& step : result.found.trace) result.trace.emplace_back(rules.set->name(step.rule), step.location);
  return result;
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<PySearchResult>(m, "NativeSearchResult")
      .def_ro("method", &PySearchResult::method)
      .def_ro("graph", &PySearchResult::graph)
      .def_ro("trace", &PySearchResult::trace)
      .def_prop_ro("before_us", [](const PySearchResult& r) { return r.found.before_us; })
      .def_prop_ro("after_us", [](const PySearchResult& r) { return r.found.after_us; })
      .def_prop_ro("traced", [](const PySearchResult& r) { return r.found.traced; })
      .def_prop_ro("bound_us", [](const PySearchResult& r) { return r.found.bound_us; })
      .def_prop_ro("optimal", [](const PySearchResult& r) { return r.found.optimal; })
      .def_prop_ro("note", [](const PySearchResult& r) { return r.found.note; })
      .def_prop_ro("reason", [](const PySearchResult& r) { return std::string(search::name(r.found.reason)); })
      .def_prop_ro("seconds", [](const PySearchResult& r) { return r.found.seconds; })
      .def_prop_ro("candidates", [](const PySearchResult& r) { return r.found.counters.candidates; })
      .def_prop_ro("curve", [](const PySearchResult& r) {
        std::vector<std::pair<double, double>> curve;
        for (const auto& sample : r.found.curve) curve.emplace_back(sample.seconds, sample.best_us);
        return curve;
      });
  m.def(
      "search",
      [](const std::string& method, const PyGraph& graph, const PyRules& rules, const PyCost& cost, double seconds,
         int64_t budget, uint64_t seed, int threads, int max_locations, double alpha, int beam_width, int walk_length,
         const nb::object& progress) {
        Request request{seconds, {}, progress};
        request.options.budget = budget;
        request.options.seed = seed;
        request.options.threads = threads;
        request.options.max_locations = max_locations;
        request.options.alpha = alpha;
        request.options.beam_width = beam_width;
        request.options.walk_length = walk_length;
        return run(method, graph, rules, cost, request);
      },
      nb::arg("method"), nb::arg("graph"), nb::arg("rules"), nb::arg("cost"), nb::arg("seconds"), nb::arg("budget"),
      nb::arg("seed"), nb::arg("threads"), nb::arg("max_locations"), nb::arg("alpha"), nb::arg("beam_width"),
      nb::arg("walk_length"), nb::arg("progress").none());
  m.def("search_methods", search::names);
}

}  // namespace rlgo::python
