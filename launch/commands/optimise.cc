// rlgo optimise: one model faster, in about a minute.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/cost/profile.h"
#include "core/optimise/json.h"
#include "core/optimise/optimise.h"
#include "core/optimise/report.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/command.h"
#include "launch/device_option.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/problem.h"
#include "launch/revision.h"
#include "launch/signals.h"
#include "launch/target.h"
#include "launch/training.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo optimise MODEL.onnx -o FASTER.onnx [options]\n"
    "Rewrites the model, checks that it computes the same, measures both under the target runtime, and writes the\n"
    "new one only where it is faster. Exit status: 0 improved, 3 nothing found (nothing is written), 1 failed, 2\n"
    "wrong command line. Ctrl-C ends it within two seconds, with the best so far where that can be checked by then.\n";
constexpr int kNothingFoundStatus = 3;

struct Request {
  optimise::OptimiseOptions options;
  Problem config;  // model, rules, target, costs, checks
  OutputOptions output;
};

void declare_optimise(Options& o, Request& r, std::string& report_path) {
  o.heading("Optimise");
  optimise::declare(o, r.options);
  optimise::declare(o, r.config.cost.target);
  o.text("report", report_path, "an HTML page that shows what was done and why; none: no page");
  declare(o, r.output);
  rules::declare(o, r.config.rules, "the proved ones, winograd and respell");
  o.integer("seed", r.config.seed, 0, kNoLimit, "of random inputs and of the search");
  o.rest();
  o.heading("Measurement");
  optimise::declare(o, r.config.cost);
  optimise::declare_details(o, r.config.cost);
  o.alias("threads", "cost.threads");
  declare_device(o, r.config.device);
  optimise::declare_details(o, r.options);
}

// What the command line states, by the engine's own options.
optimise::OptimiseOptions engine_options(const Request& request) {
  optimise::OptimiseOptions options = request.options;
  options.check.seed = options.seed = request.config.seed;
  options.model.python = measurer_python(request.config);
  return options;
}

}  // namespace

int run_optimise(Context& context) {
  Request request;
  request.config.cost.target.runtime = "auto";
  request.config.cost.timing.repeats = 5;  // many groups roughly: races of whole models have the last word
  request.options.costs = request.config.cost.target.folder;
  Options options;
  std::string report_path;
  declare_optimise(options, request, report_path);
  auto arguments = context.arguments;
  std::ranges::replace(arguments, std::string("-o"), std::string("--out"));
  const auto words = read_command_line(options, arguments, kUsage, 2);
  if (!words) return 0;
  std::string& model = request.options.model.graph;
  if (!words->empty()) model = words->front();
  if (model.empty()) fail_usage("no model is given: rlgo optimise MODEL.onnx -o FASTER.onnx (rlgo optimise --help)");
  if (words->size() > 1) fail_usage("optimise takes one model; unexpected '{}'", words->back());
  check_target(request.config.cost.target);
  std::error_code error;
  if (!std::filesystem::is_regular_file(model, error)) fail("{}: no such file, or a folder or pipe", model);

  const Output output(request.output);
  request.options.others = {report_path, request.output.json};
  const Log log{output.log(LogLevel::warning)};
  StatusLine line = output.status_line();
  request.config.cost.target.folder = request.options.costs;
  const Problem& config = request.config;
  optimise::OptimiseParts parts;
  parts.rules = rules::rules_to_optimise(config.rules);
  if (!parts.rules->remark().empty()) log.warn("{}", parts.rules->remark());
  parts.start_runtime = [&](auto stop) { return start_runtime(config, log, std::move(stop)); };
  if (config.cost.kind == CostKind::analytic)
    parts.formula = cost::analytic_cost(config.cost.profile);
  else if (config.cost.profile != CostOptions().profile)
    fail_usage("--cost.profile names the constants of a formula; it goes with --cost analytic");
  if (request.options.method == "train") parts.train = training_for("--method train").search;
  parts.version = fmt::format("{} ({})", kVersion, kRevision);
  const optimise::Result result = optimise::optimise(engine_options(request), parts, log, line, signalled);
  line.clear();
  if (!report_path.empty()) atomic_write(report_path, optimise::to_html(result, signalled));
  if (output.verbose())
    output.print(optimise::to_text(result) +
                 (report_path.empty() ? "" : fmt::format("report          {}\n", report_path)));
  else
    output.print(optimise::to_summary(result, output.quiet(), report_path));
  if (config.cost.timing.learned && !output.quiet()) output.print(optimise::offer_to_calibrate(result));
  const int status = result.improved ? 0 : kNothingFoundStatus;
  if (output.wants_document()) {
    Json body = optimise::to_json(result);
    body["report"] = report::file_json(report_path);
    output.document("optimise", status, options, std::move(body));
  }
  return status;
}

}  // namespace rlgo::launch
