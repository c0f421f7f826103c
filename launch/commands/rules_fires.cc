// rlgo rules fires: which rules match on models, as they are and while they are rewritten at random.
#include <algorithm>
#include <cstdio>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rules/rule_choice.h"
#include "core/rules/rules.h"
#include "core/zoo/zoo.h"
#include "launch/commands/rules.h"
#include "launch/model.h"
#include "launch/options.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace {

struct Fires {
  int64_t at_start = 0;     // matches, all graphs
  int graphs_at_start = 0;  // graphs with a match
  int graphs_reached = 0;   // graphs with a match at the start or in a rollout
};

// Rules that match somewhere on random walks from the graph.
std::set<int> reached(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules, int walks,
                      int steps) {
  std::set<int> seen;
  for (int walk = 0; walk < walks; ++walk) {
    Rng rng({0xF19E, static_cast<uint64_t>(walk)});
    graph::Graph now = graph;
    rules::MatchIndex index(rules, now);
    for (int step = 0; step <= steps && stop_signal() == 0; ++step) {
      std::vector<int> legal;
      for (int r = 0; r < rules->size(); ++r) {
        if (!index.matches(r).empty()) legal.push_back(r);
      }
      seen.insert(legal.begin(), legal.end());
      if (legal.empty() || step == steps) break;
      // A rule first, so that rare ones have their turn.
      const auto matches = index.matches(legal[rng.below(legal.size())]);
      auto rewrite = rules::apply(*rules, matches[rng.below(matches.size())], now);
      if (!rewrite) break;
      index.update(rewrite->graph, rewrite->delta);
      now = std::move(rewrite->graph);
    }
  }
  return seen;
}

// The paragraphs of a rule file whose rule is wanted, and its first lines of comment.
std::string filtered(const std::string& text, const std::set<std::string>& wanted) {
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

}  // namespace

int run_rules_fires(std::vector<std::string> arguments) {
  std::vector<std::string> graphs;
  int64_t walks = 2, steps = 30;
  std::string out;
  Options options;
  options.heading("Fires");
  options.texts("graphs", graphs, "zoo graphs or .onnx files; none means the whole zoo");
  options.integer("walks", walks, 0, 1000, "random walks from each graph");
  options.integer("steps", steps, 1, 100'000, "rewrites of each walk");
  options.text("out", out, "file for those rules that matched somewhere (of one file, comments kept)");
  const auto files = parse_rules_arguments("fires", options, arguments);
  if (!files) return 0;
  if (!out.empty() && files->size() != 1) fail_usage("rules fires --out needs exactly one file of rules");
  const auto rules = rules::chosen_or_all(*files);
  if (graphs.empty()) {
    for (const auto& name : zoo::names()) graphs.push_back(name);
  }
  std::vector<Fires> fires(rules->size());
  for (const auto& name : graphs) {
    ModelOptions wanted;
    wanted.graph = name;
    const auto model = load_model(wanted, false);
    auto seen = reached(model.graph, rules, static_cast<int>(walks), static_cast<int>(steps));
    const rules::MatchIndex index(rules, model.graph);
    for (int r = 0; r < rules->size(); ++r) {
      const auto count = static_cast<int64_t>(index.matches(r).size());
      fires[r].at_start += count;
      fires[r].graphs_at_start += count > 0;
      fires[r].graphs_reached += count > 0 || seen.contains(r);
    }
    std::fprintf(stderr, "%s: %lld matches at the start, %zu rules on walks\n", name.c_str(),
                 static_cast<long long>(index.total()), seen.size());
    if (stop_signal() != 0) break;
  }
  std::printf("%-44s %9s %9s %9s   (of %zu graphs; walks: %lld of %lld rewrites)\n", "rule", "matches", "graphs",
              "reached", graphs.size(), static_cast<long long>(walks), static_cast<long long>(steps));
  int at_start = 0, ever = 0;
  std::set<std::string> wanted;
  for (int r = 0; r < rules->size(); ++r) {
    std::printf("%-44s %9lld %9d %9d\n", rules->name(r).c_str(), static_cast<long long>(fires[r].at_start),
                fires[r].graphs_at_start, fires[r].graphs_reached);
    at_start += fires[r].graphs_at_start > 0;
    ever += fires[r].graphs_reached > 0;
    if (fires[r].graphs_reached > 0) wanted.insert(rules->name(r));
  }
  std::printf("%d rules: %d match at the start, %d there or on walks\n", rules->size(), at_start, ever);
  if (!out.empty()) atomic_write(out, filtered(read_file(files->front()), wanted));
  return 0;
}

}  // namespace rlgo::launch
