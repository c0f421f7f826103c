#include "core/calibrate/verify_bench.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/base/stopwatch.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/evaluate/interpreter.h"
#include "core/onnx/onnx.h"
#include "core/optimise/model.h"
#include "core/verify/agreement.h"
#include "core/verify/double_graph.h"

namespace rlgo::calibrate {
namespace {

using graph::Graph;
using report::Json;

constexpr double kMostSpread = 0.15;  // of times of the same run
constexpr double kMostSecondsOfReference = 60;

// Of one model, s.
struct Times {
  std::string graph;
  size_t operators = 0;
  double run_s = 0, reference_s = 0, comparison_s = 0;
  double ratio() const { return run_s / reference_s; }
  // A comparison runs two graphs.
  double comparison_ratio() const { return comparison_s / (2 * reference_s); }
};

// Seconds that `work` takes: of the thread's processor time where one thread does it all.
template <typename Work>
double seconds_of(int threads, Work&& work) {
  const Stopwatch elapsed;
  const ThreadStopwatch own;
  work();
  return threads == 1 ? own.us() * 1e-6 : elapsed.seconds();
}

void refuse_busy(double spread) {
  if (spread > kMostSpread)
    fail("the machine is too busy: times of the same run differ by {:.0f} %, {:.0f} % are allowed", 100 * spread,
         100 * kMostSpread);
}

class Reference {
 public:
  Reference(const Graph& graph, cost::Runtime& runtime)
      : graph_(verify::in_double_precision(graph)), runtime_(runtime) {
    if (!runtime.reads_files()) return;
    file_ = folder_.path() / "double.onnx";
    onnx_io::export_graph(graph_, {}, file_);
  }
  double seconds(int rounds) {
    const cost::RunnableModel model{&graph_, file_};
    const auto found = runtime_.compare(
        {&model, 1}, {.repeats = rounds, .seconds = kMostSecondsOfReference, .least = 2, .twin = false});
    const std::string& error = found.error.empty() ? found.models.at(0).error : found.error;
    if (!error.empty())
      fail("{} does not run it in double precision ({}); --target libtorch does", runtime_.name(), error);
    return found.models[0].median_us * 1e-6;
  }

 private:
  const TemporaryFolder folder_{"rlgo-bench"};
  Graph graph_;
  cost::Runtime& runtime_;
  std::filesystem::path file_;
};

Times times_of(const std::string& name, const Graph& graph, cost::Runtime& runtime, int rounds) {
  const int threads = runtime.threads();
  Reference reference(graph, runtime);
  const double first = reference.seconds(rounds);
  const auto inputs = verify::check_inputs(graph, 1, 0);
  std::vector<double> runs;
  {
    const evaluate::Interpreter own(graph, {.precision = evaluate::Precision::f64, .threads = threads});
    const auto ready = own.prepare(inputs);
    own.run(ready);
    for (int k = 0; k < rounds; ++k) runs.push_back(seconds_of(threads, [&] { own.run(ready); }));
  }
  Times out{name, graph.size(), median(runs)};
  out.comparison_s = seconds_of(threads, [&] {
    verify::AgreementCheck check(graph, graph, {}, {.threads = threads});
    check.run(inputs);
    if (check.found().wrong) fail("a copy of the model differs at {} (this is a bug of rlgo)", check.found().worst);
  });
  const double last = reference.seconds(rounds);
  out.reference_s = (first + last) / 2;
  refuse_busy(std::max(interquartile_range(runs) / out.run_s, std::abs(first - last) / out.reference_s));
  return out;
}

Json to_json(const Times& t) {
  return {{"graph", t.graph},
          {"operators", t.operators},
          {"run_s", t.run_s},
          {"reference_s", t.reference_s},
          {"ratio", t.ratio()},
          {"comparison_s", t.comparison_s},
          {"comparison_ratio", t.comparison_ratio()}};
}

}  // namespace

void declare(OptionSink& o, VerifyBenchOptions& options) {
  o.heading("Bench verify");
  o.texts("graphs", options.graphs, "zoo graphs or .onnx files whose checks are timed, separated by commas");
  o.integer("rounds", options.rounds, 2, 1000, "timed runs of each model");
}

Json bench_verify(const VerifyBenchOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
                  const std::function<void(const std::string&)>& print) {
  print(fmt::format("double precision, {}; reference: {} on {}\n", counted(runtime.threads(), "thread"), runtime.name(),
                    runtime.device()));
  Json models = Json::array(), refused = Json::array();
  for (const auto& name : options.graphs) {
    if (should_stop()) fail("stopped by a signal; {} of {} models were timed", models.size(), options.graphs.size());
    optimise::ModelOptions wanted;
    wanted.graph = name;
    const optimise::LoadedModel model = optimise::load_model(wanted, true, should_stop);
    try {
      const Times t = times_of(name, model.graph, runtime, static_cast<int>(options.rounds));
      print(fmt::format(
          "{}: a run {:.4g} s, of the reference {:.4g} s: {:.2f} of its time; a comparison {:.4g} s: {:.2f} "
          "of two runs of the reference\n",
          name, t.run_s, t.reference_s, t.ratio(), t.comparison_s, t.comparison_ratio()));
      models.push_back(to_json(t));
    } catch (const Error& error) {
      print(fmt::format("{}: refused: {}\n", name, error.what()));
      refused.push_back({{"graph", name}, {"reason", error.what()}});
    }
  }
  if (models.empty()) fail("bench verify: none of {} was timed", counted(options.graphs.size(), "model"));
  return {{"models", std::move(models)}, {"refused", std::move(refused)}};
}

}  // namespace rlgo::calibrate
