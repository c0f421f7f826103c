// rlgo replay: applies a trace to its graph again, checks and measures the result, writes the model.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/base/usage.h"
#include "core/optimise/json.h"
#include "core/optimise/judge.h"
#include "core/rules/rule_choice.h"
#include "core/rules/trace.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/signals.h"
#include "launch/target.h"
#include "launch/train/commands.h"
#include "launch/train/run_parts.h"
#include "learner/session/run_folder.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo replay RUN_FOLDER [options]               the best trace of a run\n"
    "       rlgo replay --graph G --trace FILE [options]   a trace of your own\n"
    "The graph, rules and options of the run are used; options below win over them.\n";

// Reports the cost of both graphs, and returns it as the document has it.
Json price(const RunConfig& config, const rules::RuleSet& rules, const graph::Graph& before, const graph::Graph& after,
           const Output& output) {
  const auto prices = make_prices(config);
  const double before_us = cost::graph_cost(*prices.model, before).runtime_us;
  const double after_us = cost::graph_cost(*prices.model, after).runtime_us;
  output.print(fmt::format("rules           {:016x}\ncost            {:.6f} us -> {:.6f} us\n", rules.hash(), before_us,
                           after_us));
  return {{"model", prices.model->name()}, {"before_us", before_us}, {"after_us", after_us}};
}

struct Request {
  std::string trace_path, out_path;
  bool price_only = false;
  OutputOptions output;
};

// False where the command line asks for help alone.
bool read_request(Context& context, Options& options, RunConfig& config, Request& request) {
  options.heading("Replay");
  options.text("trace", request.trace_path, "file of rewrites; none: best.trace of the run folder");
  options.text("out", request.out_path, "where to write the model; none: it is only checked and measured");
  options.flag("price-only", request.price_only,
               "apply the trace and print the cost before and after; nothing is run or written");
  declare(options, request.output);
  declare_problem(options, config);
  options.rest();
  declare_run(options, config);
  const auto words = read_command_line(options, context.arguments, kUsage, 1);
  if (!words) return false;
  if (!words->empty()) {
    const learner::RunFolder folder{words->front()};
    read_run_options(options, config, folder);
    if (request.trace_path.empty()) request.trace_path = folder.best_trace().string();
  }
  if (request.trace_path.empty())
    fail_usage("no trace is given; name a run folder, or --graph and --trace (rlgo replay --help)");
  check(config);
  if (request.price_only && !request.out_path.empty())
    fail_usage("--price-only and --out exclude one another: what is written is checked");
  return true;
}

}  // namespace

int run_replay(Context& context) {
  RunConfig config;
  Request request;
  Options options;
  if (!read_request(context, options, config, request)) return 0;
  const auto& [trace_path, out_path, price_only, output_options] = request;
  const Output output(output_options);
  const auto model = load_model(config.model, true);
  const auto rules = rules::choose_rules(config.rules);
  const rules::TraceFile trace = rules::parse_trace(read_text(trace_path), trace_path, *rules);
  if (trace.graph_hash != 0 && trace.graph_hash != model.graph.hash())
    fail("{}: made for another graph ({}) than {}", trace_path, trace.graph, config.model.graph);
  output.print(fmt::format("{}\n{} rewrites: {}\n", model.about, trace.rewrites.size(),
                           rules::count_rules(trace.rewrites, *rules)));
  const auto graph = rules::replay(model.graph, rules, trace.rewrites, config.env.max_locations);
  output.print(fmt::format("nodes           {} -> {}\n", model.graph.size(), graph.size()));
  Json body = {{"graph", config.model.graph},
               {"trace", report::file_json(trace_path)},
               {"rewrites", report::trace_json(*rules, trace.rewrites, trace.cost_us)},
               {"nodes", {{"before", model.graph.size()}, {"after", graph.size()}}},
               {"cost", nullptr},
               {"judgement", nullptr},
               {"written", nullptr},
               {"rules", report::rules_json(*rules)}};
  if (price_only) {
    body["cost"] = price(config, *rules, model.graph, graph, output);
  } else {
    const auto after = optimise::replayed(model, rules, trace.rewrites);
    optimise::CheckOptions checks = config.check;
    checks.seed = config.seed;
    const auto judgement = optimise::judge(model, after, *start_runtime(config), checks, signalled);
    output.print(optimise::to_text(judgement));
    body["judgement"] = optimise::to_json(judgement);
    if (!out_path.empty()) {
      export_model(model, graph, out_path);
      output.print(fmt::format("model           {}\n", out_path));
      body["written"] = report::file_json(out_path);
    }
  }
  output.document("replay", 0, options, std::move(body));
  return 0;
}

}  // namespace rlgo::launch
