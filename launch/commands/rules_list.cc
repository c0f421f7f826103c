// rlgo rules list: a table of rules, and how often each fires.
#include <cstdio>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rules/listing.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/rules.h"
#include "launch/model.h"

namespace rlgo::launch {

int run_rules_list(const std::vector<std::string>& arguments) {
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
  if (groups) {
    std::printf("%s", rules::groups_to_text().c_str());
    return 0;
  }
  const auto rules = chosen_rules(files);
  std::vector<int64_t> fires(graphs.empty() ? 0 : static_cast<size_t>(rules->size()), 0);
  for (const auto& name : graphs) {
    ModelOptions wanted;
    wanted.graph = name;
    const rules::MatchIndex index(rules, load_model(wanted, false).graph);
    for (int r = 0; r < rules->size(); ++r) fires[r] += static_cast<int64_t>(index.matches(r).size());
  }
  std::printf("%s", rules::list_to_text(*rules, tags, fires).c_str());
  std::printf("%s\n", graphs.empty() ? "" : (" on " + join(graphs, ", ")).c_str());
  return 0;
}

}  // namespace rlgo::launch
