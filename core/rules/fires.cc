#include "core/rules/fires.h"

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/text.h"

namespace rlgo::rules {
namespace {

// Rules that match somewhere on random walks from the graph.
std::set<int> reached(const graph::Graph& graph, const std::shared_ptr<const RuleSet>& rules, int walks, int steps,
                      const std::function<bool()>& stop) {
  std::set<int> seen;
  for (int walk = 0; walk < walks; ++walk) {
    Rng rng({0xF19E, static_cast<uint64_t>(walk)});
    graph::Graph now = graph;
    MatchIndex index(rules, now);
    for (int step = 0; step <= steps && !stop(); ++step) {
      std::vector<int> legal;
      for (int r = 0; r < rules->size(); ++r) {
        if (!index.matches(r).empty()) legal.push_back(r);
      }
      seen.insert(legal.begin(), legal.end());
      if (legal.empty() || step == steps) break;
      // A rule first, so that rare ones have their turn.
      const auto matches = index.matches(legal[rng.below(legal.size())]);
      auto rewrite = apply(*rules, matches[rng.below(matches.size())], now);
      if (!rewrite) break;
      index.update(rewrite->graph, rewrite->delta);
      now = std::move(rewrite->graph);
    }
  }
  return seen;
}

}  // namespace

std::string FireCounts::add(const graph::Graph& graph, int walks, int steps, const std::function<bool()>& stop) {
  const auto seen = reached(graph, rules_, walks, steps, stop);
  const MatchIndex index(rules_, graph);
  for (int r = 0; r < rules_->size(); ++r) {
    const auto count = static_cast<int64_t>(index.matches(r).size());
    counts_[r].at_start += count;
    counts_[r].graphs_at_start += count > 0;
    counts_[r].graphs_reached += count > 0 || seen.contains(r);
  }
  return fmt::format("{} matches at the start, {} rules on walks", index.total(), seen.size());
}

std::string FireCounts::to_text() const {
  std::string text;
  int at_start = 0, ever = 0;
  for (int r = 0; r < rules_->size(); ++r) {
    text += fmt::format("{:<44} {:>9} {:>9} {:>9}\n", rules_->name(r), counts_[r].at_start, counts_[r].graphs_at_start,
                        counts_[r].graphs_reached);
    at_start += counts_[r].graphs_at_start > 0;
    ever += counts_[r].graphs_reached > 0;
  }
  return text + fmt::format("{} rules: {} match at the start, {} there or on walks\n", rules_->size(), at_start, ever);
}

std::set<std::string> FireCounts::seen() const {
  std::set<std::string> names;
  for (int r = 0; r < rules_->size(); ++r) {
    if (counts_[r].graphs_reached > 0) names.insert(rules_->name(r));
  }
  return names;
}

std::string only_rules(const std::string& text, const std::set<std::string>& wanted) {
  std::string out, paragraph;
  bool first = true;
  const auto flush = [&] {
    std::string name;
    for (const auto& line : split(paragraph, '\n')) {
      if (line.starts_with("rule ")) name = std::string(trim(line.substr(5)));
    }
    if ((name.empty() && first) || wanted.contains(name)) out += (out.empty() ? "" : "\n") + paragraph;
    if (!paragraph.empty()) first = false;
    paragraph.clear();
  };
  for (const auto& line : split(text, '\n')) {
    if (line.empty()) {
      flush();
    } else {
      paragraph += line + "\n";
    }
  }
  flush();
  return out;
}

}  // namespace rlgo::rules
