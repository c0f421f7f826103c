// rlgo replay: applies a trace to its graph again, checks and measures the result, writes the model.
#include <cstdio>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/base/usage.h"
#include "core/optimise/judge.h"
#include "core/rules/rule_choice.h"
#include "core/rules/trace.h"
#include "launch/commands/command.h"
#include "launch/model.h"
#include "launch/session.h"
#include "launch/target.h"
#include "learner/session/run_folder.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo replay RUN_FOLDER [options]               the best trace of a run\n"
    "       rlgo replay --graph G --trace FILE [options]   a trace of your own\n"
    "The graph, rules and options of the run are used; options below win over them.\n";

}  // namespace

int run_replay(Context& context) {
  RunConfig config;
  std::string trace_path, out_path;
  bool price_only = false;
  Options options;
  options.heading("Replay");
  options.text("trace", trace_path, "file of rewrites; none: best.trace of the run folder");
  options.text("out", out_path, "where to write the model; none: it is only checked and measured");
  options.flag("price-only", price_only,
               "apply the trace and print the cost before and after; nothing is run or written");
  declare_problem(options, config);
  options.rest();
  declare_run(options, config);
  const auto words = read_command_line(options, context.arguments, kUsage, 1);
  if (!words) return 0;
  if (!words->empty()) {
    const learner::RunFolder folder{words->front()};
    read_run_options(options, config, folder);
    if (trace_path.empty()) trace_path = folder.best_trace().string();
  }
  if (trace_path.empty())
    fail_usage("no trace is given; name a run folder, or --graph and --trace (rlgo replay --help)");
  check(config);
  if (price_only && !out_path.empty())
    fail_usage("--price-only and --out exclude one another: what is written is checked");

  const auto model = load_model(config.model, true);
  const auto rules = rules::choose_rules(config.rules);
  const rules::TraceFile trace = rules::parse_trace(read_text(trace_path), trace_path, *rules);
  if (trace.graph_hash != 0 && trace.graph_hash != model.graph.hash())
    fail("{}: made for another graph ({}) than {}", trace_path, trace.graph, config.model.graph);
  std::printf("%s\n%zu rewrites: %s\n", model.about.c_str(), trace.rewrites.size(),
              rules::count_rules(trace.rewrites, *rules).c_str());
  const auto graph = rules::replay(model.graph, rules, trace.rewrites, config.env.max_locations);
  std::printf("nodes           %zu -> %zu\n", model.graph.size(), graph.size());
  if (price_only) {
    const auto prices = make_prices(config);
    std::printf("rules           %016llx\n", static_cast<unsigned long long>(rules->hash()));
    std::printf("cost            %.6f us -> %.6f us\n", cost::graph_cost(*prices.model, model.graph).runtime_us,
                cost::graph_cost(*prices.model, graph).runtime_us);
    return 0;
  }
  const auto after = optimise::replayed(model, rules, trace.rewrites);
  optimise::CheckOptions checks = config.check;
  checks.seed = config.seed;
  std::printf("%s", optimise::to_text(optimise::judge(model, after, *start_runtime(config), checks)).c_str());
  if (!out_path.empty()) {
    export_model(model, graph, out_path);
    std::printf("model           %s\n", out_path.c_str());
  }
  return 0;
}

}  // namespace rlgo::launch
