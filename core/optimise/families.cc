#include "core/optimise/families.h"

#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "core/rules/compiled.h"
#include "core/rules/together.h"
#include "core/search/walk.h"

namespace rlgo::optimise {

std::vector<std::string> families_of(const rules::RuleSet& rules) {
  std::map<std::string, int> counts;
  for (int r = 0; r < rules.size(); ++r) {
    for (const auto& tag : rules.rule(r).text.tags) ++counts[tag];
  }
  std::vector<std::string> families;
  for (int r = 0; r < rules.size(); ++r) {
    const auto& tags = rules.rule(r).text.tags;
    std::string rarest = rules.name(r);
    int least = std::numeric_limits<int>::max();
    for (const auto& tag : tags) {  // the last one of equals: they stand from the general to the special
      if (counts.at(tag) <= least) least = counts.at(tag), rarest = tag;
    }
    families.push_back(std::move(rarest));
  }
  return families;
}

std::map<std::string, double> gains_of(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules,
                                       const rules::Trace& trace, cost::CostModel& cost, const Deadline& deadline) {
  std::map<std::string, double> gains;
  if (trace.empty()) return gains;
  if (rules::any_together(trace)) throw Stopped("the gain of one of thousands of rewrites is not known");
  const auto families = families_of(*rules);
  std::set<int32_t> used;
  for (const auto& step : trace) used.insert(step.rule);
  std::vector<std::string> names;
  for (const int32_t rule : used) names.push_back(rules->name(rule));
  const bool gathers = cost.defer();
  const double before_us = cost::graph_cost(cost, graph).runtime_us;
  const search::State start{
      graph, {rules->subset(names), graph, [&] { return deadline.over(); }}, graph::NameHash(graph), before_us, 0, {}};
  search::Walk walk(start, cost, cost, 0, nullptr);
  for (const auto& step : trace) {
    deadline.check();
    const auto number = static_cast<int32_t>(std::distance(used.begin(), used.find(step.rule)));
    const double now_us = walk.cost_us();
    walk.take({number, step.location}, [](const search::Move&) { return true; });
    gains[families[static_cast<size_t>(step.rule)]] += (now_us - walk.cost_us()) / before_us;
  }
  if (gathers) cost.forget_deferred();
  return gains;
}

}  // namespace rlgo::optimise
