#include "core/optimise/judge.h"

#include <limits>

#include "core/base/error.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"

namespace rlgo::optimise {
namespace {

constexpr double kBenchmarkSeconds = 60;  // then no further load, once there are enough rounds

}  // namespace

rules::Replayed replayed(const LoadedModel& model, const std::shared_ptr<const rules::RuleSet>& rules,
                         const rules::Trace& trace) {
  const rules::Script replay(model.graph, rules, trace);
  return replay.prefix(replay.size());
}

rules::TraceFile trace_file(const LoadedModel& model, const std::shared_ptr<const rules::RuleSet>& rules,
                            const rules::Trace& trace, cost::CostModel& cost) {
  rules::TraceFile file{model.source.graph, model.graph.hash(), rules->hash(), trace, {}};
  const auto note = [&](const graph::Graph& graph, size_t made) {
    file.cost_us.insert(file.cost_us.end(), made, cost::graph_cost(cost, graph).runtime_us);
  };
  rules::replay(model.graph, rules, trace, std::numeric_limits<int>::max(), note);
  return file;
}

Judgement judge(const LoadedModel& model, const rules::Replayed& after, cost::Runtime& runtime,
                const CheckOptions& options, const std::function<bool()>& should_stop) {
  const TemporaryFolder folder("rlgo-outcome");
  const std::filesystem::path files[] = {folder.path() / "before.onnx", folder.path() / "after.onnx"};
  export_model(model, model.graph, files[0]);
  export_model(model, after.graph, files[1]);
  const cost::RunnableModel both[] = {{&model.graph, files[0]}, {&after.graph, files[1]}};
  runtime.set_input_shapes(run_shapes(model));
  Judgement verdict;
  verdict.threads = runtime.threads();
  verdict.runtime = fmt::format("{}, {}", runtime.name(), runtime.device());
  verdict.checks = Verifier(model, files[0], runtime, options).check(after, files[1]);
  if (const auto* why = refusal(verdict.checks); why != nullptr) {
    fail("the rewritten graph does not compute the same ({}: {}); nothing is written. {}", why->by, to_text(*why),
         why->finding == Finding::wrong
             ? "This is a bug of a rule or of rlgo; please report the run folder"
             : "Rules of fewer steps (--rules=-winograd) round less; --check.tolerance is what is allowed");
  }
  Benchmark benchmark(runtime, both[0]);
  if (after.graph.hash() == model.graph.hash()) {
    verdict.latency.error.clear();  // the same graph: 1, whatever a measurement states
    return verdict;
  }
  verdict.latency = benchmark.measure(both[1], options.repeats, kBenchmarkSeconds, should_stop);
  return verdict;
}

std::string to_text(const Judgement& verdict) {
  const Latency& latency = verdict.latency;
  const std::string runtime = fmt::format("{}, {}", verdict.runtime, counted(verdict.threads, "thread"));
  std::string out = latency.ok() && latency.rounds == 0
                        ? std::string("end to end      unchanged: 1.000 of the original's latency\n")
                        : fmt::format("end to end      {}\n", to_text(latency, runtime));
  if (latency.ok() && latency.rounds > 0) {
    out += fmt::format("result          {}; {}\n",
                       latency.faster   ? "faster"
                       : latency.slower ? "SLOWER than the unmodified graph"
                                        : "not shown to be faster",
                       effort_text(latency));
  }
  return out + to_text(verdict.checks);
}

}  // namespace rlgo::optimise
