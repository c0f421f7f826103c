// rlgo rules list: a table of rules, and how often each fires.
#include <algorithm>
#include <cstdio>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rules/compiled.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"
#include "launch/model.h"
#include "launch/options.h"
#include "launch/session.h"

namespace rlgo::launch {
namespace {

// "conv2d relu -> conv2d": operators of both sides, in the patterns' order.
std::string operators_of(const rules::CompiledRule& rule) {
  std::vector<std::string> left, right;
  for (const auto& node : rule.left) left.emplace_back(ops::name(node.op));
  for (const auto& node : rule.right) right.emplace_back(ops::name(node.op));
  return join(left, " ") + " -> " + (right.empty() ? "-" : join(right, " "));
}

// Sets and tags: what --rules takes besides files and names.
int list_groups() {
  struct Count {
    int rules = 0, proved = 0;
  };
  std::map<std::string, Count> tags;
  std::printf("%-16s %6s %7s  %s\n", "set", "rules", "proved", "default");
  std::vector<std::string> shipped;
  for (const std::string file : rules::kShippedFiles) shipped.push_back(file.substr(0, file.find('.')));
  for (const auto& set : rules::rule_sets()) {
    const auto rules = rules::choose_rules({rules::rule_set_file(set.name).string()});
    Count count;
    const bool in_default = std::ranges::find(shipped, set.name) != shipped.end();
    for (int r = 0; r < rules->size(); ++r) {
      const bool proved = rules->proof(r) == rules::Proof::proved;
      ++count.rules;
      count.proved += proved;
      if (!in_default) continue;
      for (const auto& tag : rules->rule(r).text.tags) {
        ++tags[tag].rules;
        tags[tag].proved += proved;
      }
    }
    std::printf("%-16s %6d %7d  %-7s  %s\n", set.name, count.rules, count.proved, in_default ? "yes" : "no", set.help);
  }
  std::printf("\n%-16s %6s %7s   (of the default sets)\n", "tag", "rules", "proved");
  for (const auto& [tag, count] : tags) std::printf("%-16s %6d %7d\n", tag.c_str(), count.rules, count.proved);
  std::printf(
      "\n--rules takes words of both tables, files and names of rules, separated by commas; -WORD takes away.\n");
  return 0;
}

}  // namespace

int run_rules_list(std::vector<std::string> arguments) {
  std::vector<std::string> files, graphs, tags;
  Options options;
  options.heading("List");
  bool groups = false;
  options.texts("rules", files, "files, sets, tags or names of rules; none means all of the shipped sets");
  options.flag("groups", groups, "the sets and tags that --rules knows, instead of rules");
  options.texts("fires-on", graphs, "zoo graphs or .onnx files: in how many places of them each rule applies");
  options.texts("tags", tags, "only rules with one of these tags");
  const auto rest = parse_rules_arguments("list", options, arguments);
  if (!rest) return 0;
  if (!rest->empty()) fail_usage("rules list: unexpected '{}'", (*rest)[0]);
  if (groups) return list_groups();
  const auto rules = rules::chosen_or_all(files);
  std::vector<int64_t> fires(static_cast<size_t>(rules->size()), 0);
  for (const auto& name : graphs) {
    ModelOptions wanted;
    wanted.graph = name;
    const rules::MatchIndex index(rules, load_model(wanted, false).graph);
    for (int r = 0; r < rules->size(); ++r) fires[r] += static_cast<int64_t>(index.matches(r).size());
  }
  size_t width = 4;
  for (int r = 0; r < rules->size(); ++r) width = std::max(width, rules->name(r).size());
  const std::string fires_head = graphs.empty() ? "" : "   fires";
  std::printf("%-*s  %-8s%s  %-24s  %s\n", static_cast<int>(width), "name", "proof", fires_head.c_str(), "tags",
              "operators");
  std::map<std::string, int> proofs;
  int shown = 0, firing = 0;
  for (int r = 0; r < rules->size(); ++r) {
    const auto& rule = rules->rule(r);
    const auto has = [&](const std::string& tag) {
      return std::ranges::find(rule.text.tags, tag) != rule.text.tags.end();
    };
    if (!tags.empty() && std::ranges::none_of(tags, has)) continue;
    const std::string count = graphs.empty() ? "" : fmt::format("{:>8}", fires[r]);
    std::printf("%-*s  %-8s%s  %-24s  %s\n", static_cast<int>(width), rules->name(r).c_str(),
                rules::proof_name(rules->proof(r)), count.c_str(), join(rule.text.tags, " ").c_str(),
                operators_of(rule).c_str());
    ++proofs[rules::proof_name(rules->proof(r))];
    ++shown;
    firing += fires[r] > 0;
  }
  std::string by_proof;
  for (const auto& [proof, count] : proofs)
    by_proof += fmt::format("{}{} {}", by_proof.empty() ? "" : ", ", count, proof);
  std::printf("%d rules: %s", shown, by_proof.c_str());
  if (!graphs.empty()) std::printf("; %d fire on %s", firing, join(graphs, ", ").c_str());
  std::printf("\n");
  return 0;
}

}  // namespace rlgo::launch
