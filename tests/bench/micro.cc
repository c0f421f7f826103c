// Times of the parts of a search step over the size of the graph: target rlgo_bench_micro (Google Benchmark).
//
//   build/release/rlgo_bench_micro --benchmark_format=csv > micro.csv; results/analyse micro micro.csv --out micro.svg
//
// The argument of each benchmark is about the number of nodes; the label shows the exact one. Parts that must not grow
// with it: match_update (but for putting matches in order), price. Parts that copy a graph and so must: apply, copy,
// order. match_all and hash_all are what match_update and price replace.
#include <benchmark/benchmark.h>

#include <array>

#include "core/cost/analytic.h"
#include "core/cost/decorators.h"
#include "core/graph/editor.h"
#include "core/search/state.h"

namespace rlgo {
namespace {

using graph::Value;
using ops::Op;

// Residual blocks of convolution, batch norm, relu, as in a ResNet: 19 nodes each.
graph::Graph residual_net(int64_t nodes) {
  graph::Editor e("net");
  Value x = e.add_input("x", {ops::DType::f32, {1, 16, 28, 28}});
  uint64_t seed = 0;
  const auto weight = [&](ops::Shape shape, bool positive) {
    ++seed;
    return e.add_weight("w" + std::to_string(seed),
                        graph::Blob::seeded({ops::DType::f32, std::move(shape)}, seed, 0.1, 0.0, positive));
  };
  const auto conv = [&](Value in) {
    const Value c = e.op(Op::conv2d, {in, weight({16, 16, 3, 3}, false)}, {{ops::Attr::pads, ops::Ints{1, 1, 1, 1}}});
    return e.op(Op::batch_norm, {c, weight({16}, false), weight({16}, false), weight({16}, false), weight({16}, true)});
  };
  for (int64_t made = 1; made < nodes; made += 16) {
    const Value inner = e.op(Op::relu, {conv(x)});
    x = e.op(Op::relu, {e.op(Op::add, {conv(inner), x})});
  }
  e.add_output("y", x);
  return *e.finish();
}

std::shared_ptr<const rules::RuleSet> base_rules() {
  static const auto rules = [] {
    const std::array<std::filesystem::path, 1> files{"configs/rules/base.rules"};
    return rules::RuleSet::load(files);
  }();
  return rules;
}

search::State state_of(const graph::Graph& graph) {
  return {graph, rules::MatchIndex(base_rules(), graph), graph::NameHash(graph), 0, 0, nullptr};
}

// The step in the middle of the graph: about as much lies before it as behind it.
rules::Rewrite middle_step(const search::State& state) {
  rules::Rewrite step;
  for (int32_t rule = 0; rule < state.index.rules().size(); ++rule) {
    const auto count = static_cast<int32_t>(state.index.matches(rule).size());
    if (count > static_cast<int32_t>(state.index.matches(step.rule).size())) step.rule = rule;
  }
  step.location = static_cast<int32_t>(state.index.matches(step.rule).size() / 2);
  return step;
}

void label(benchmark::State& bench, const graph::Graph& graph) { bench.SetLabel(std::to_string(graph.size())); }

// All matches of all rules from scratch.
void match_all(benchmark::State& bench) {
  const auto graph = residual_net(bench.range(0));
  for (auto _ : bench) benchmark::DoNotOptimize(rules::MatchIndex(base_rules(), graph).total());
  label(bench, graph);
}

// The same after one rewrite.
void match_update(benchmark::State& bench) {
  const auto graph = residual_net(bench.range(0));
  const auto state = state_of(graph);
  const auto step = middle_step(state);
  const auto rewrite =
      rules::apply(*base_rules(), state.index.matches(step.rule)[static_cast<size_t>(step.location)], graph);
  for (auto _ : bench) {
    bench.PauseTiming();
    rules::MatchIndex index = state.index;
    bench.ResumeTiming();
    index.update(rewrite->graph, rewrite->delta);
    benchmark::DoNotOptimize(index.total());
  }
  label(bench, graph);
}

// The rewritten graph, built: copy, edit, order.
void apply(benchmark::State& bench) {
  const auto graph = residual_net(bench.range(0));
  const auto state = state_of(graph);
  const auto step = middle_step(state);
  for (auto _ : bench) {
    graph::Editor editor(graph);
    state.index.edit(step.rule, step.location, editor);
    graph::Delta delta;
    benchmark::DoNotOptimize(editor.finish(&delta)->size());
  }
  label(bench, graph);
}

// The copy in it.
void copy(benchmark::State& bench) {
  const auto graph = residual_net(bench.range(0));
  for (auto _ : bench) benchmark::DoNotOptimize(graph::Graph(graph).size());
  label(bench, graph);
}

// The hash of a graph from scratch.
void hash_all(benchmark::State& bench) {
  const auto graph = residual_net(bench.range(0));
  for (auto _ : bench) benchmark::DoNotOptimize(graph.hash());
  label(bench, graph);
}

// One candidate of a search, in full: tried edit, difference of cost, hash of the result, taken back.
void price(benchmark::State& bench) {
  const auto state = state_of(residual_net(bench.range(0)));
  cost::CachedCost cost(std::make_unique<cost::AnalyticCost>());
  search::Evaluator evaluate(state, cost);
  const auto step = middle_step(state);
  for (auto _ : bench) benchmark::DoNotOptimize(evaluate(step).hash);
  label(bench, state.graph);
}

// Difference of cost alone.
void delta_cost(benchmark::State& bench) {
  const auto graph = residual_net(bench.range(0));
  const auto state = state_of(graph);
  const auto step = middle_step(state);
  const auto rewrite =
      rules::apply(*base_rules(), state.index.matches(step.rule)[static_cast<size_t>(step.location)], graph);
  cost::CachedCost cost(std::make_unique<cost::AnalyticCost>());
  for (auto _ : bench) benchmark::DoNotOptimize(cost::delta_us(cost, graph, rewrite->graph, rewrite->delta));
  label(bench, graph);
}

// Hash of the result alone.
void delta_hash(benchmark::State& bench) {
  const auto graph = residual_net(bench.range(0));
  const auto state = state_of(graph);
  const auto step = middle_step(state);
  graph::Editor editor(graph);
  graph::NameHash::Replaced replaced;
  state.index.edit(step.rule, step.location, editor, &replaced);
  graph::Delta delta;
  const auto after = editor.finish(&delta);
  graph::NameHash hash = state.hash;
  for (auto _ : bench) benchmark::DoNotOptimize(hash.after(graph, *after, delta, replaced));
  label(bench, graph);
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const int64_t nodes : {50, 100, 200, 500, 1000, 2000, 5000}) bench->Arg(nodes);
}

BENCHMARK(match_all)->Apply(sizes);
BENCHMARK(match_update)->Apply(sizes);
BENCHMARK(apply)->Apply(sizes);
BENCHMARK(copy)->Apply(sizes);
BENCHMARK(hash_all)->Apply(sizes);
BENCHMARK(price)->Apply(sizes);
BENCHMARK(delta_cost)->Apply(sizes);
BENCHMARK(delta_hash)->Apply(sizes);

}  // namespace
}  // namespace rlgo

BENCHMARK_MAIN();
