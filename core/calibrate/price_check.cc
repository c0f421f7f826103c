#include "core/calibrate/price_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/correlation.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/stopwatch.h"
#include "core/base/temporary_folder.h"

namespace rlgo::calibrate {
namespace {

using graph::Graph;
using report::Json;

constexpr int kStepsPerVariant = 12;

// Random rewrites, each variant further from the graph than the one before.
std::vector<Graph> random_variants(const Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules, int count,
                                   uint64_t seed) {
  std::vector<Graph> out;
  Rng rng({seed, 0xBE7C});
  Graph current = graph;
  rules::MatchIndex index(rules, current);
  while (static_cast<int>(out.size()) < count && index.total() > 0) {
    for (int step = 0; step < kStepsPerVariant && index.total() > 0; ++step) {
      std::vector<const rules::Match*> matches;
      for (int r = 0; r < rules->size(); ++r) {
        for (const auto& m : index.matches(r)) matches.push_back(&m);
      }
      auto next = rules::apply(*rules, *matches[rng.below(matches.size())], current);
      if (!next) continue;
      current = std::move(next->graph);
      index.update(current, next->delta);
    }
    out.push_back(current);
  }
  return out;
}

}  // namespace

Json check_prices(const std::string& name, const optimise::LoadedModel& model, const optimise::Prices& prices,
                  const std::shared_ptr<const rules::RuleSet>& rules, const PriceCheckOptions& options,
                  const std::function<void(const std::string&)>& print) {
  const auto& runtime = prices.runtime;
  const Graph* original = &model.graph;
  const Stopwatch first;
  const size_t groups = prices.groups->prepare({&original, 1});
  const double first_s = first.seconds();
  const auto others = random_variants(model.graph, rules, options.variants, options.seed);
  std::vector<const Graph*> all = {original};
  for (const auto& g : others) all.push_back(&g);
  prices.groups->prepare(all);
  const TemporaryFolder folder("rlgo-bench");
  std::vector<cost::RunnableModel> models;
  for (const Graph* graph : all) {
    models.push_back({graph, folder.path() / fmt::format("{}.onnx", models.size())});
    optimise::export_model(model, *graph, models.back().file);
  }
  const auto times = runtime->compare(models, {.repeats = options.repeats});
  if (!times.error.empty()) fail("{}: not timed under {}: {}", name, runtime->name(), times.error);
  std::vector<double> sums, wholes;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!times.models[i].ok()) continue;
    sums.push_back(cost::graph_cost(*prices.model, *all[i]).runtime_us);
    wholes.push_back(times.models[0].median_us * times.ratio[i]);
  }
  const double by_value = correlation(sums, wholes), by_rank = rank_correlation(sums, wholes);
  print(fmt::format(
      "{}: {} groups timed in {:.1f} s; sum {:.3f} ms, whole model {:.3f} ms, ratio {:.2f}; noise of whole runs {:.1f} "
      "%\n",
      name, groups, first_s, sums[0] / 1e3, wholes[0] / 1e3, sums[0] / wholes[0], 100 * times.noise));
  const bool correlated = sums.size() > 2;
  if (correlated) {
    std::string line = fmt::format("  {} random variants: correlation {:.2f}, of ranks {:.2f}; sum/whole",
                                   sums.size() - 1, by_value, by_rank);
    for (size_t i = 1; i < sums.size(); ++i)
      line += fmt::format(" {:.2f}/{:.2f}", sums[i] / sums[0], wholes[i] / wholes[0]);
    print(line + "\n");
  }
  print(fmt::format("  {}\n", prices.groups->summary()));
  return {{"graph", name},
          {"runtime", runtime->name()},
          {"device", runtime->device()},
          {"threads", runtime->threads()},
          {"groups", groups},
          {"groups_timed_s", first_s},
          {"noise", times.noise},
          {"sums_us", sums},
          {"wholes_us", wholes},
          {"correlation", correlated ? Json(by_value) : Json()},
          {"rank_correlation", correlated ? Json(by_rank) : Json()}};
}

}  // namespace rlgo::calibrate
