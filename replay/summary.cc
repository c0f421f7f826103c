#include "replay/summary.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "core/base/text.h"
#include "replay/parts.h"

namespace rlgo::replay {
namespace {

using EpisodeName = std::tuple<uint64_t, int32_t, int64_t, bool>;

void add(Summary& s, const PartReader& part, std::set<EpisodeName>& seen, double& return_sum) {
  const Columns facts = part.facts();
  if (std::find(s.headers.begin(), s.headers.end(), part.header()) == s.headers.end())
    s.headers.push_back(part.header());
  ++s.parts;
  for (size_t e = 0; e < facts.seed.size(); ++e) {
    double sum = 0;
    for (auto i = facts.step_offset[e]; i < facts.step_offset[e + 1]; ++i)
      sum += static_cast<double>(facts.reward[static_cast<size_t>(i)]);
    const bool first = s.episodes == 0;
    s.return_min = first ? sum : std::min(s.return_min, sum);
    s.return_max = first ? sum : std::max(s.return_max, sum);
    return_sum += sum;
    const auto costs =
        s.costs.try_emplace(facts.graph[e], Summary::Costs{facts.initial_cost_us[e], facts.best_cost_us[e]}).first;
    costs->second.best_us = std::min(costs->second.best_us, facts.best_cost_us[e]);
    s.terminal += facts.terminal[e];
    s.dream += facts.dream[e];
    ++s.episodes;
    ++s.episodes_by_version[facts.weights_version[e]];
    ++s.episodes_by_rank[facts.rank[e]];
    if (!seen.emplace(facts.seed[e], facts.rank[e], facts.episode[e], facts.dream[e] != 0).second) ++s.repeated;
  }
  const RuleNames names(part.rule_names());
  for (size_t i = 0; i < facts.rule.size(); ++i) {
    ++s.steps;
    if (facts.rule[i] == part.header().spec.rules) ++s.no_ops;
    if (facts.applied_rule[i] != -1) ++s.rule_uses[names.name(facts.applied_rule[i])];
  }
}

// "0: 12, 3: 4", shortened in the middle.
template <typename Key>
std::string counts_text(const std::map<Key, int64_t>& counts) {
  constexpr size_t kShown = 12;
  std::vector<std::string> items;
  for (const auto& [key, count] : counts) items.push_back(fmt::format("{}: {}", key, count));
  if (items.size() > kShown) {
    items.erase(items.begin() + kShown / 2, items.end() - kShown / 2);
    items.insert(items.begin() + kShown / 2, "...");
  }
  return join(items, ", ");
}

// A line of each graph.
std::string costs_text(const Summary& s) {
  const auto names = split(s.headers.at(0).graph, ',');
  std::string text;
  for (const auto& [graph, costs] : s.costs) {
    const bool named = s.costs.size() > 1 && graph >= 0 && graph < std::ssize(names);
    text += fmt::format("cost          {:.6g} us at first, {:.6g} us at best{}\n", costs.initial_us, costs.best_us,
                        named ? fmt::format(" ({})", trim(names[static_cast<size_t>(graph)])) : "");
  }
  return text;
}

}  // namespace

Summary summarize(const std::filesystem::path& path) {
  Summary s;
  s.path = path;
  const auto paths = part_paths(path);
  if (paths.empty()) fail("{}: no rollout parts (part-*.h5) in it", path.string());
  std::set<EpisodeName> seen;
  double return_sum = 0;
  for (const auto& file : paths) {
    try {
      const PartReader part(file);
      add(s, part, seen, return_sum);
      s.bytes += std::filesystem::file_size(file);
    } catch (const Error& error) {
      s.broken.push_back({file, error.what()});
    }
  }
  if (s.episodes > 0) s.return_mean = return_sum / static_cast<double>(s.episodes);
  return s;
}

std::string to_text(const Summary& s) {
  std::string text = fmt::format("rollouts      {}\n", s.path.string());
  for (const auto& header : s.headers) {
    text += fmt::format("run           graph {}, seed {}, reward {}, {} rules (set {}), rlgo {}\n", header.graph,
                        header.seed, header.reward, header.spec.rules, header.rule_set_hash, header.git_revision);
  }
  text += fmt::format("parts         {} ({}, {:.0f} B per step)\n", s.parts, human_bytes(static_cast<double>(s.bytes)),
                      s.bytes_per_step());
  text += fmt::format("episodes      {} ({} terminal, {} truncated, {} dreamt, {} repeated)\n", s.episodes, s.terminal,
                      s.episodes - s.terminal, s.dream, s.repeated);
  text += fmt::format("steps         {} ({} NO-OP)\n", s.steps, s.no_ops);
  if (s.episodes > 0) {
    text +=
        fmt::format("return        min {:.4g}, mean {:.4g}, max {:.4g}\n", s.return_min, s.return_mean, s.return_max);
    text += costs_text(s);
    text += fmt::format("weights       {} (version: episodes)\n", counts_text(s.episodes_by_version));
    text += fmt::format("ranks         {} (rank: episodes)\n", counts_text(s.episodes_by_rank));
  }
  std::vector<std::pair<int64_t, std::string>> uses;
  for (const auto& [rule, count] : s.rule_uses) uses.emplace_back(-count, rule);
  std::sort(uses.begin(), uses.end());
  for (const auto& [count, rule] : uses) text += fmt::format("rule          {:8} {}\n", -count, rule);
  for (const auto& part : s.broken) text += fmt::format("broken        {}\n", part.reason);
  return text;
}

}  // namespace rlgo::replay
