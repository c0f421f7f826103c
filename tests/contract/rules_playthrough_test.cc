// A golden playthrough: on toy graphs, always the first place of the first rule that was applied least often. The text
// next to this file shows rules, places and sizes; a change of matching order or of the rules shows here first. To
// renew it after a change that is meant, copy what the test prints.
#include <gtest/gtest.h>

#include <array>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/rules/rules.h"
#include "core/zoo/zoo.h"

namespace rlgo::rules {
namespace {

std::string offered(const MatchIndex& index) {
  std::string text;
  for (int r = 0; r < index.rules().size(); ++r) {
    const auto count = index.matches(r).size();
    if (count > 0) text += fmt::format(" {}:{}", index.rules().name(r), count);
  }
  return text;
}

std::string play(const std::shared_ptr<const RuleSet>& rules, const std::string& name, int steps) {
  auto graph = zoo::make(name);
  MatchIndex index(rules, graph);
  std::vector<int> applied(static_cast<size_t>(rules->size()), 0);
  std::string text = fmt::format("{}: {} nodes\n  offered{}\n", name, graph.size(), offered(index));
  for (int step = 0; step < steps; ++step) {
    int chosen = -1;
    for (int r = 0; r < rules->size(); ++r) {
      if (!index.matches(r).empty() && (chosen < 0 || applied[r] < applied[chosen])) chosen = r;
    }
    if (chosen < 0) break;
    ++applied[chosen];
    const Match match = index.matches(chosen)[0];
    std::string places;
    for (graph::NodeId id : match.nodes)
      places += fmt::format(" {}@{}", ops::name(graph.node(id).op()), graph.position(id));
    auto rewrite = apply(*rules, match, graph);
    if (!rewrite) return text + "does not apply";
    graph = std::move(rewrite->graph);
    index.update(graph, rewrite->delta);
    text += fmt::format("{}{}: {} nodes\n  offered{}\n", rules->name(chosen), places, graph.size(), offered(index));
  }
  return text;
}

TEST(RulesPlaythrough, IsAsRecorded) {
  const std::array<std::filesystem::path, 1> files{"configs/rules/base.rules"};
  const auto rules = RuleSet::load(files);
  const std::string text =
      play(rules, "toy_conv", 8) + "\n" + play(rules, "toy_residual", 6) + "\n" + play(rules, "toy_attention", 6);
  EXPECT_EQ(text, read_file("tests/contract/rules_playthrough.txt")) << text;
}

}  // namespace
}  // namespace rlgo::rules
