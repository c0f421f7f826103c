// rlgo calibrate, and parts of rlgo bench about the times of a runtime: measurements, the formula, groups.
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/calibrate/calibrate.h"
#include "core/calibrate/group_bench.h"
#include "core/calibrate/kernel_bench.h"
#include "core/calibrate/price_check.h"
#include "core/calibrate/profile_bench.h"
#include "core/calibrate/same.h"
#include "core/calibrate/verify_bench.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/bench.h"
#include "launch/device_option.h"
#include "launch/model.h"
#include "launch/problem.h"
#include "launch/signals.h"
#include "launch/target.h"

namespace rlgo::launch {
namespace {

using Print = std::function<void(const std::string&)>;

// Reads the command line, starts the runtime, and writes the document "rlgo.KIND/1" with what `bench` finds.
template <typename BenchOptions>
int bench_runtime(Context& context, const std::string& usage, const std::string& kind,
                  Json (*bench)(const BenchOptions&, cost::Runtime&, const std::function<bool()>&, const Print&)) {
  Problem config;
  config.cost.target.runtime = "auto";
  BenchOptions of_bench;
  if constexpr (requires { of_bench.folder; }) of_bench.folder.swap(config.cost.target.folder);
  OutputOptions output_options;
  Options options;
  declare(options, of_bench);
  optimise::declare(options, config.cost.target);
  declare(options, output_options);
  options.rest();
  cost::declare(options, config.cost.timing);
  options.alias("threads", "cost.threads");
  optimise::declare_details(options, config.cost.target);
  declare_device(options, config.device);
  if (!read_command_line(options, context.arguments, usage)) return 0;
  const Output output(output_options);
  install_signal_handlers();
  const auto runtime = start_runtime(config, Log(output.log()), signalled);
  Json body = bench(of_bench, *runtime, signalled, [&](const std::string& text) { output.print(text); });
  body["target"] = {{"runtime", runtime->name()}, {"device", runtime->device()}, {"threads", runtime->threads()}};
  output.document(kind, 0, options, std::move(body));
  return 0;
}

}  // namespace

Json bench_target(const Output& output, const Problem& config, const std::vector<std::string>& graphs, int variants) {
  if (config.cost.kind == CostKind::analytic)
    fail_usage("bench --target compares measured costs; it does not go with --cost analytic");
  install_signal_handlers();
  const auto runtime = start_runtime(config, Log(LogOptions()), signalled);
  output.print(
      fmt::format("{} on {}, {}\n", runtime->name(), runtime->device(), counted(runtime->threads(), "thread")));
  Json out = Json::array();
  const auto rules = rules::choose_rules(config.rules);
  for (const auto& name : graphs) {
    ModelOptions one = config.model;
    one.graph = name;
    out.push_back(calibrate::check_prices(name, load_model(one, true), make_prices(config, runtime), rules,
                                          {variants, config.check.repeats, config.seed},
                                          [&](const std::string& text) { output.print(text); }));
  }
  return out;
}

int run_calibrate(Context& context) {
  return bench_runtime(context,
                       "usage: rlgo calibrate [--target RUNTIME] [--threads N] [--seconds 60] [--out FILE] [options]\n"
                       "Learns prices of operators under a runtime on this machine, for searches (docs/costs.md).\n",
                       "calibrate", calibrate::calibrate);
}

int run_bench_same(Context& context) {
  return bench_runtime(context,
                       "usage: rlgo bench same [options]\n"
                       "Measures two copies of each graph against each other, as rlgo optimise measures a model before "
                       "and after, and prints a line\nof CSV for each time: a false positive is one that is called "
                       "faster.\n",
                       "bench-same", calibrate::bench_same);
}

int run_bench_profile(Context& context) {
  return bench_runtime(context,
                       "usage: rlgo bench profile [--target libtorch | onnxruntime | ...] [--out FILE] [options]\n"
                       "Fits the constants of --cost analytic to operators timed on this machine, and shows how well "
                       "they price others (docs/costs.md).\n",
                       "bench-profile", calibrate::bench_profile);
}

int run_bench_groups(Context& context) {
  return bench_runtime(context,
                       "usage: rlgo bench groups --graphs G,H,... [--target RUNTIME] [--out FILE] [options]\n"
                       "Times groups of operators of rewritten graphs, to learn prices from (docs/costs.md).\n",
                       "bench-groups", calibrate::bench_groups);
}

int run_bench_kernels(Context& context) {
  return bench_runtime(context,
                       "usage: rlgo bench kernels [--graphs G,H,...] [--target RUNTIME] [options]\n"
                       "Times each operator of models alone, next to what the machine needs for its bytes and "
                       "multiplications: which kernels\nof the runtime are slow (docs/costs.md).\n",
                       "bench-kernels", calibrate::bench_kernels);
}

int run_bench_verify(Context& context) {
  return bench_runtime(context,
                       "usage: rlgo bench verify [--graphs G,H,...] [--target libtorch | ...] [options]\n"
                       "Times the checks in double precision next to a runtime that computes the same graph in double "
                       "precision (docs/costs.md).\n",
                       "bench-verify", calibrate::bench_verify);
}

}  // namespace rlgo::launch
