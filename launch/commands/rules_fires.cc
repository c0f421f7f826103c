// rlgo rules fires: which rules match on models, as they are and while they are rewritten at random.
#include <cstdio>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text_file.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rules/fires.h"
#include "core/rules/rule_choice.h"
#include "core/zoo/zoo.h"
#include "launch/commands/rules.h"
#include "launch/model.h"
#include "launch/signals.h"

namespace rlgo::launch {

int run_rules_fires(const std::vector<std::string>& arguments) {
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
  const auto rules = chosen_rules(*files);
  if (graphs.empty()) {
    for (const auto& name : zoo::names()) graphs.push_back(name);
  }
  rules::FireCounts fires(rules);
  const auto stop = signalled;
  for (const auto& name : graphs) {
    ModelOptions wanted;
    wanted.graph = name;
    const auto line =
        fires.add(load_model(wanted, false).graph, static_cast<int>(walks), static_cast<int>(steps), stop);
    std::fprintf(stderr, "%s: %s\n", name.c_str(), line.c_str());
    if (stop()) break;
  }
  std::printf("%-44s %9s %9s %9s   (of %zu graphs; walks: %lld of %lld rewrites)\n%s", "rule", "matches", "graphs",
              "reached", graphs.size(), static_cast<long long>(walks), static_cast<long long>(steps),
              fires.to_text().c_str());
  if (!out.empty()) atomic_write(out, rules::only_rules(read_text(files->front()), fires.seen()));
  return 0;
}

}  // namespace rlgo::launch
