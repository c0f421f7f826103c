// What rlgo.optimise and rlgo.compare do.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/cost/profile.h"
#include "core/optimise/compare.h"
#include "core/optimise/optimise.h"
#include "core/optimise/report.h"
#include "core/rules/rule_choice.h"
#include "core/search/search.h"
#include "launch/python/bindings.h"
#include "launch/python/interrupt.h"
#include "launch/revision.h"
#include "launch/target.h"

namespace rlgo::python {
namespace {

struct Request {
  optimise::OptimiseOptions options;
  launch::Problem config;  // rules, target, costs
  std::vector<std::string> rules;
};

// Of the dictionary that rlgo/_optimise.py makes: all keys are there.
Request request_of(const nb::dict& d) {
  Request r;
  const auto text = [&](const char* key) { return nb::cast<std::string>(d[key]); };
  const auto texts = [&](const char* key) { return nb::cast<std::vector<std::string>>(d[key]); };
  r.options.model.graph = text("model");
  r.options.model.dims = texts("dims");
  r.options.model.sizes = texts("sizes");
  r.options.out = text("out");
  r.options.method = text("method");
  r.options.seconds = nb::cast<double>(d["seconds"]);
  r.options.costs = r.config.cost.target.folder = text("cost_folder");
  r.options.budget = nb::cast<int64_t>(d["budget"]);
  r.options.inputs = texts("inputs");
  r.options.force = nb::cast<bool>(d["force"]);
  r.options.allow = text("allow");
  r.options.check.tolerance = nb::cast<double>(d["tolerance"]);
  r.options.check.seed = r.options.seed = r.config.seed = nb::cast<uint64_t>(d["seed"]);
  r.rules = texts("rules");
  r.config.cost.target.runtime = text("target");
  r.config.cost.target.python = text("python");
  r.config.cost.kind = text("cost") == "analytic" ? launch::CostKind::analytic : launch::CostKind::measured;
  r.config.cost.profile = text("profile");
  r.config.cost.timing.threads = nb::cast<int>(d["threads"]);
  r.config.cost.timing.repeats = nb::cast<int>(d["repeats"]);
  r.config.device = text("device");
  as_usage([&] {
    check_bounds(r.options.check);
    check_bounds(r.config.cost.timing);
  });
  const auto methods = optimise::methods();
  if (std::ranges::find(methods, r.options.method) == methods.end())
    fail_usage("method '{}': expected one of {}", r.options.method, join(methods, ", "));
  if (r.options.budget < 1) fail_usage("budget is {}; expected at least 1", r.options.budget);
  return r;
}

// Works without Python's lock; progress(text) and log(level, text) are called with it.
optimise::Result run(const Request& request, Interrupt& interrupt, const nb::object& progress, const nb::object& log) {
  const nb::gil_scoped_release release;
  StatusLine line([&](const std::string& text) {
    if (!text.empty()) interrupt.call([&] { progress(text); });
  });
  const Log lines([&](LogLevel level, std::string_view text) {
    interrupt.call([&] { log(static_cast<int>(level), std::string(text)); });
  });
  const std::function<bool()> stop = [&] { return interrupt.stop(); };
  optimise::OptimiseParts parts;
  parts.rules = rules::rules_to_optimise(request.rules);
  if (!parts.rules->remark().empty()) lines.warn("{}", parts.rules->remark());
  parts.start_runtime = [&](auto should_stop) {
    return launch::start_runtime(request.config, lines, std::move(should_stop));
  };
  if (request.config.cost.kind == launch::CostKind::analytic)
    parts.formula = cost::analytic_cost(request.config.cost.profile);
  parts.version = fmt::format("{} ({})", launch::kVersion, launch::kRevision);
  return optimise::optimise(request.options, parts, lines, line, stop);
}

optimise::Result optimise_model(const nb::dict& options, const nb::object& progress, const nb::object& log) {
  const Request request = request_of(options);
  Interrupt interrupt;
  try {
    optimise::Result result = run(request, interrupt, progress, log);
    interrupt.rethrow();
    return result;
  } catch (const Error&) {
    interrupt.rethrow();  // what stopped it comes before what came of stopping
    throw;
  }
}

// (members of "rlgo.compare/1" as text, what the command prints), of the dictionary that rlgo/_compare.py makes.
nb::tuple compare_models(const nb::dict& d) {
  const auto text = [&](const char* key) { return nb::cast<std::string>(d[key]); };
  const auto texts = [&](const char* key) { return nb::cast<std::vector<std::string>>(d[key]); };
  optimise::CompareModelsOptions options;
  options.model.graph = text("first");
  options.other = text("second");
  options.model.dims = texts("dims");
  options.model.sizes = texts("sizes");
  options.inputs = texts("inputs");
  options.seconds = nb::cast<double>(d["seconds"]);
  options.limit = nb::cast<double>(d["limit"]);
  options.sets = nb::cast<int64_t>(d["sets"]);
  options.tolerance = nb::cast<double>(d["tolerance"]);
  options.seed = nb::cast<uint64_t>(d["seed"]);
  launch::Problem config;
  config.cost.target.runtime = text("target");
  config.cost.target.python = text("python");
  config.cost.timing.threads = nb::cast<int>(d["threads"]);
  as_usage([&] {
    check_bounds(options);
    check_bounds(config.cost.timing);
  });
  Interrupt interrupt;
  std::pair<std::string, std::string> found;
  {
    const nb::gil_scoped_release release;
    found = interrupt.watch([&] {
      const std::function<bool()> stop = [&] { return interrupt.stop(); };
      const auto result = optimise::compare_models(options, *launch::start_runtime(config, {}, stop), stop);
      return std::pair(optimise::to_json(result).dump(), optimise::to_text(result));
    });
  }
  return nb::make_tuple(found.first, found.second);
}

const char* finding_name(optimise::Finding finding) {
  switch (finding) {
    case optimise::Finding::same:
      return "same";
    case optimise::Finding::rounding:
      return "rounding";
    case optimise::Finding::differs:
      return "differs";
    case optimise::Finding::wrong:
      return "wrong";
    case optimise::Finding::skipped:
      return "skipped";
    case optimise::Finding::not_compared:
      break;
  }
  return "not compared";
}

nb::list checks(const optimise::Result& result) {
  nb::list all;
  for (const auto& check : result.checks) {
    nb::dict one;
    one["by"] = check.by;
    one["finding"] = finding_name(check.finding);
    one["error"] = check.error;
    one["allowed"] = check.allowed;
    one["detail"] = check.detail;
    one["limits"] = check.limits;
    all.append(one);
  }
  return all;
}

nb::dict as_dict(const optimise::Result& r) {
  nb::dict d;
  const auto& timed = r.end_to_end;
  d["verdict"] = r.verdict;
  d["improved"] = r.improved;
  d["written"] = r.written;
  d["checked"] = r.checked;
  d["measured"] = timed.ok();
  d["ratio"] = timed.ratio;
  d["lower"] = timed.lower;
  d["upper"] = timed.upper;
  d["before_us"] = timed.before_us;
  d["after_us"] = timed.after_us();
  d["cost_before_us"] = r.before_us;
  d["cost_after_us"] = r.best().cost_us;
  d["target"] = r.target;
  d["device"] = r.device;
  d["threads"] = r.threads;
  d["seconds"] = r.took_s;
  d["candidate"] = r.best().name;
  std::vector<std::pair<std::string, int32_t>> trace;
  for (const auto& step : r.best().trace) trace.emplace_back(r.rules->name(step.rule), step.location);
  d["trace"] = trace;
  d["rules_hash"] = hex(r.rules->hash());
  d["checks"] = checks(r);
  std::vector<std::pair<std::string, double>> phases;
  for (const auto& phase : r.phases) phases.emplace_back(phase.name, phase.seconds);
  d["phases"] = phases;
  d["evidence"] = optimise::to_text(r);
  d["changes"] = r.changes;
  d["about"] = r.about;
  return d;
}

}  // namespace

void bind_optimise(nb::module_& m) {
  nb::class_<optimise::Result>(m, "NativeResult").def("as_dict", &as_dict).def("html", [](const optimise::Result& r) {
    return optimise::to_html(r);
  });
  m.def("optimise", &optimise_model, nb::arg("options"), nb::arg("progress"), nb::arg("log"));
  m.def("compare", &compare_models, nb::arg("options"));
}

}  // namespace rlgo::python
