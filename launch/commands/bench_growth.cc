// rlgo bench growth: how time and memory of reading, matching and searching grow with a model.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/measure/growth.h"
#include "core/onnx/onnx.h"
#include "core/zoo/growth.h"
#include "launch/commands/bench.h"
#include "launch/signals.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kUsage =
    "usage: rlgo bench growth [--families chain,wide,...] [--sizes 100,1000,...] [--csv out.csv] [options]\n"
    "Writes graphs of these families and sizes; then runs rlgo inspect (reads, matches), rlgo search --method sweep\n"
    "and rlgo optimise on each, in a process of its own: seconds and peak memory.\n";

struct GrowthOptions {
  std::vector<std::string> families = zoo::growth_families();
  std::vector<std::string> sizes = {"100", "1000", "10000", "100000"};
  std::vector<std::string> parts = {"inspect", "sweep"};
  double seconds = 5;
  double most_seconds = 300;
  std::string csv;
};

void declare(Options& o, GrowthOptions& g) {
  o.heading("Growth");
  o.texts("families", g.families, fmt::format("of graphs: {}", join(zoo::growth_families(), ", ")));
  o.texts("sizes", g.sizes, "about how many operators, 10 or more each, in ascending order");
  o.texts("parts", g.parts, "what to measure: inspect, sweep, optimise");
  o.number("seconds", g.seconds, 0.1, 3600, "limit of one sweep, and of one optimise, s");
  o.number("most-seconds", g.most_seconds, 1, 86400, "a process that takes longer is ended, s");
  o.text("csv", g.csv, "file for the table");
}

std::vector<std::string> command_of(const GrowthOptions& growth, const std::string& part, const std::string& model) {
  const std::string seconds = fmt::format("--seconds={}", growth.seconds);
  if (part == "inspect") return {"inspect", model};
  if (part == "sweep")
    return {"search", "--graph=" + model, "--method=sweep", "--cost=analytic", "--budget=100000000", seconds};
  return {"optimise", model, "--out=" + model + ".out", seconds};
}

}  // namespace

int run_bench_growth(Context& context) {
  GrowthOptions growth;
  OutputOptions output_options;
  Options options("growth");
  declare(options, growth);
  declare(options, output_options);
  if (!read_command_line(options, context.arguments, kUsage)) return 0;
  for (const auto& part : growth.parts) {
    if (part != "inspect" && part != "sweep" && part != "optimise")
      fail_usage("bench growth: unknown part '{}'; known: inspect, sweep, optimise", part);
  }
  const Output output(output_options);
  const TemporaryFolder folder("rlgo-growth");
  std::vector<measure::GrowthRow> rows;
  output.print("family    operators  part       seconds    CPU s  peak MiB\n");
  for (const auto& family : growth.families) {
    for (const auto& size : growth.sizes) {
      const auto operators = parse_int(size);
      if (!operators || *operators < 10 || *operators > 10'000'000)
        fail_usage("bench growth: '{}' is no number of operators from 10 to 10,000,000", size);
      const std::string model = (folder.path() / fmt::format("{}-{}.onnx", family, size)).string();
      onnx_io::export_graph(as_usage([&] { return zoo::make_growth(family, static_cast<int>(*operators)); }), {},
                            model);
      for (const auto& part : growth.parts) {
        if (signalled()) fail("stopped by a signal; {} rows were measured", rows.size());
        measure::GrowthRow row{.family = family, .part = part, .operators = *operators};
        measure::run_child(command_of(growth, part, model), growth.most_seconds, signalled, row);
        output.print(fmt::format("{:<9} {:>9}  {:<8} {:>9.2f} {:>8.2f} {:>9.0f}{}\n", family, row.operators, part,
                                 row.seconds, row.cpu_s, row.peak_mib,
                                 row.status == 0 || row.status == 3 ? "" : fmt::format("  status {}", row.status)));
        rows.push_back(row);
        if (!growth.csv.empty()) atomic_write(growth.csv, measure::csv_of(rows));
      }
      fs::remove(model);
    }
  }
  output.print(measure::exponents_of(rows));
  Json table = Json::array();
  for (const measure::GrowthRow& r : rows)
    table.push_back({{"family", r.family},
                     {"operators", r.operators},
                     {"part", r.part},
                     {"seconds", r.seconds},
                     {"cpu_s", r.cpu_s},
                     {"peak_mib", r.peak_mib},
                     {"status", r.status}});
  output.document("bench-growth", 0, options, {{"rows", std::move(table)}});
  return 0;
}

}  // namespace rlgo::launch
