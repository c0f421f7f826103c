#include "core/rules/listing.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rules/compiled.h"
#include "core/rules/rule_choice.h"

namespace rlgo::rules {
namespace {

// "conv2d relu -> conv2d": operators of both sides, in the patterns' order.
std::string operators_of(const CompiledRule& rule) {
  std::vector<std::string> left, right;
  for (const auto& node : rule.left) left.emplace_back(ops::name(node.op));
  for (const auto& node : rule.right) right.emplace_back(ops::name(node.op));
  return join(left, " ") + " -> " + (right.empty() ? "-" : join(right, " "));
}

}  // namespace

std::string groups_to_text() {
  struct Count {
    int rules = 0, proved = 0;
  };
  std::map<std::string, Count> tags;
  std::string text = fmt::format("{:<16} {:>6} {:>7}  {}\n", "set", "rules", "proved", "default");
  std::vector<std::string> shipped;
  for (const std::string file : kShippedFiles) shipped.push_back(file.substr(0, file.find('.')));
  for (const auto& set : rule_sets()) {
    const auto rules = choose_rules({rule_set_file(set.name).string()});
    Count count;
    const bool in_default = std::ranges::find(shipped, set.name) != shipped.end();
    for (int r = 0; r < rules->size(); ++r) {
      const bool proved = rules->proof(r) == Proof::proved;
      ++count.rules;
      count.proved += proved;
      if (!in_default) continue;
      for (const auto& tag : rules->rule(r).text.tags) {
        ++tags[tag].rules;
        tags[tag].proved += proved;
      }
    }
    text += fmt::format("{:<16} {:>6} {:>7}  {:<7}  {}\n", set.name, count.rules, count.proved,
                        in_default ? "yes" : "no", set.help);
  }
  text += fmt::format("\n{:<16} {:>6} {:>7}   (of the default sets)\n", "tag", "rules", "proved");
  for (const auto& [tag, count] : tags) text += fmt::format("{:<16} {:>6} {:>7}\n", tag, count.rules, count.proved);
  return text +
         "\n--rules takes words of both tables, files and names of rules, separated by commas; -WORD takes away.\n";
}

std::string list_to_text(const RuleSet& rules, std::span<const std::string> tags, std::span<const int64_t> fires) {
  size_t width = 4;
  for (int r = 0; r < rules.size(); ++r) width = std::max(width, rules.name(r).size());
  std::string text = fmt::format("{:<{}}  {:<8}{}  {:<24}  {}\n", "name", width, "proof",
                                 fires.empty() ? "" : "   fires", "tags", "operators");
  std::map<std::string, int> proofs;
  int shown = 0, firing = 0;
  for (int r = 0; r < rules.size(); ++r) {
    const auto& rule = rules.rule(r);
    const auto has = [&](const std::string& tag) {
      return std::ranges::find(rule.text.tags, tag) != rule.text.tags.end();
    };
    if (!tags.empty() && std::ranges::none_of(tags, has)) continue;
    const std::string count = fires.empty() ? "" : fmt::format("{:>8}", fires[static_cast<size_t>(r)]);
    text += fmt::format("{:<{}}  {:<8}{}  {:<24}  {}\n", rules.name(r), width, proof_name(rules.proof(r)), count,
                        join(rule.text.tags, " "), operators_of(rule));
    ++proofs[proof_name(rules.proof(r))];
    ++shown;
    firing += !fires.empty() && fires[static_cast<size_t>(r)] > 0;
  }
  std::string by_proof;
  for (const auto& [proof, count] : proofs)
    by_proof += fmt::format("{}{} {}", by_proof.empty() ? "" : ", ", count, proof);
  text += fmt::format("{} rules: {}", shown, by_proof);
  return fires.empty() ? text : text + fmt::format("; {} fire", firing);
}

}  // namespace rlgo::rules
