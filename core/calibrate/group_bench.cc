#include "core/calibrate/group_bench.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/measure/group_cost.h"
#include "core/optimise/model.h"
#include "core/rules/rule_choice.h"
#include "core/search/search.h"

namespace rlgo::calibrate {
namespace {

using report::Json;

constexpr int64_t kGraphsAtOnce = 400;  // rewritten graphs whose groups are timed together
constexpr int kWalkLength = 40;
constexpr int kIdleRounds = 4;  // rounds in a row without a new group, after which a graph has no more

std::string line_of(const std::string& model, const measure::Group& group, const cost::Measured& measured,
                    measure::GroupCost& groups) {
  std::string line = fmt::format("{}\t{}\t{}", model, measured.us, measured.spread_us);
  for (const auto& [name, x] : groups.features(group.graph))
    if (x != 0) line += fmt::format("\t{}={:.5g}", name, x);
  return line + "\n";
}

}  // namespace

void declare(OptionSink& o, GroupBenchOptions& options) {
  o.heading("Bench groups");
  o.texts("graphs", options.graphs, "zoo graphs or .onnx files whose groups are timed, separated by commas");
  o.number("seconds", options.seconds, 1, 86400, "of timing groups, for each graph, s");
  o.text("out", options.out, "file for the times and the features of the groups");
  o.integer("seed", options.seed, 0, kNoLimit, "of the rewrites");
}

Json bench_groups(const GroupBenchOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
                  const std::function<void(const std::string&)>& say) {
  if (options.graphs.empty()) fail_usage("bench groups: --graphs names the models whose groups are timed");
  check_destination(options.out);
  const auto rules = rules::choose_rules({});
  std::string text = fmt::format("# rlgo groups, version 1\n# runtime {}\n# device {}\n# threads {}\n", runtime.name(),
                                 runtime.device(), runtime.threads());
  Json rows = Json::array();
  for (const auto& name : options.graphs) {
    const auto costs = runtime.measure();
    const auto groups = std::dynamic_pointer_cast<measure::GroupCost>(costs.model);
    if (!groups) fail_usage("bench groups: --target {} prices operators one by one; it has no groups", runtime.name());
    const optimise::LoadedModel model = optimise::load_model({.graph = name}, true);
    const std::string model_name = std::filesystem::path(name).stem();
    const Stopwatch watch;
    const auto left = [&] { return should_stop() ? 0.0 : options.seconds - watch.seconds(); };
    groups->set_watch([&](size_t, size_t) { return left(); });
    size_t timed = 0;
    groups->set_observer([&](const measure::Group& group, const cost::Measured& measured) {
      text += line_of(model_name, group, measured, *groups);
      ++timed;
    });
    int idle = 0;
    for (uint64_t round = 0; left() > 0 && idle < kIdleRounds; ++round) {
      const size_t before = timed;
      groups->defer();
      search::Options how;
      how.budget = kGraphsAtOnce;
      how.walk_length = kWalkLength;
      how.seed = options.seed + round;
      how.stop = should_stop;
      search::run(round % 2 == 0 ? "random" : "anneal", {model.graph, rules, *groups}, how);
      groups->flush();
      idle = timed == before ? idle + 1 : 0;
    }
    if (should_stop()) fail("stopped by a signal; nothing was written");
    say(fmt::format("{}: {} timed in {:.1f} s\n", name, counted(timed, "group"), watch.seconds()));
    rows.push_back({{"graph", name}, {"groups", timed}, {"seconds", watch.seconds()}});
  }
  atomic_write(options.out, text);
  say(fmt::format("written: {}\n", options.out));
  return {{"graphs", std::move(rows)}, {"out", options.out}};
}

}  // namespace rlgo::calibrate
