#include "core/calibrate/group_bench.h"

#include <nlohmann/json.hpp>

#include "core/base/destination.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/calibrate/group_times.h"
#include "core/rules/rule_choice.h"

namespace rlgo::calibrate {
namespace {

using report::Json;

}  // namespace

void declare(OptionSink& o, GroupBenchOptions& options) {
  o.heading("Bench groups");
  o.texts("graphs", options.graphs, "zoo graphs or .onnx files whose groups are timed, separated by commas");
  o.number("seconds", options.seconds, 1, 86400, "of timing groups, for each graph, s");
  o.text("out", options.out, "file for the times and the features of the groups");
  o.integer("seed", options.seed, 0, kNoLimit, "of the rewrites");
}

Json bench_groups(const GroupBenchOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
                  const std::function<void(const std::string&)>& print) {
  if (options.graphs.empty()) fail_usage("bench groups: --graphs names the models whose groups are timed");
  check_destination(options.out);
  std::string text = groups_header(runtime);
  const auto rules = rules::choose_rules({});
  Json rows = Json::array();
  for (const auto& name : options.graphs) {
    const Stopwatch watch;
    const GroupTimes times = time_groups(
        "bench groups", name, {.rules = rules, .seconds = options.seconds, .seed = options.seed}, runtime, should_stop);
    for (const auto& group : times.groups) text += to_line(group);
    const size_t timed = times.groups.size();
    print(fmt::format("{}: {} timed in {:.1f} s\n", name, counted(timed, "group"), watch.seconds()));
    rows.push_back({{"graph", name}, {"groups", timed}, {"seconds", watch.seconds()}});
  }
  atomic_write(options.out, text);
  print(fmt::format("written: {}\n", options.out));
  return {{"graphs", std::move(rows)}, {"out", options.out}};
}

}  // namespace rlgo::calibrate
