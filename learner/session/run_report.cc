#include "learner/session/run_report.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/exec/device.h"
#include "core/report/evidence.h"
#include "core/rules/trace.h"

namespace rlgo::learner {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// metrics.csv by column; empty cells are NaN.
std::map<std::string, std::vector<double>> read_metrics(const std::filesystem::path& path) {
  std::map<std::string, std::vector<double>> columns;
  std::vector<std::string> header;
  for (const auto& line : split(read_file(path), '\n')) {
    if (trim(line).empty()) continue;
    const auto cells = split(trim(line), ',');
    if (header.empty()) {
      header = cells;
      continue;
    }
    for (size_t k = 0; k < header.size(); ++k)
      columns[header[k]].push_back(k < cells.size() ? parse_double(cells[k]).value_or(kMissing) : kMissing);
  }
  return columns;
}

// A chart of columns against another; none where all are empty.
class Curves {
 public:
  explicit Curves(std::map<std::string, std::vector<double>> columns) : columns_(std::move(columns)) {}
  void add(std::string title, const std::string& x, std::string x_name, std::string y_name,
           const std::vector<std::pair<std::string, std::string>>& lines, double factor = 1) {
    report::Chart chart{std::move(title), std::move(x_name), std::move(y_name), {}};
    for (const auto& [column, name] : lines) {
      report::Line line{name, {}, false};
      const auto &xs = columns_[x], &ys = columns_[column];
      for (size_t k = 0; k < std::min(xs.size(), ys.size()); ++k) line.points.emplace_back(xs[k], ys[k] * factor);
      if (!line.points.empty()) chart.lines.push_back(std::move(line));
    }
    if (!report::to_svg(chart).empty()) charts.push_back(std::move(chart));
  }
  std::vector<report::Chart> charts;

 private:
  std::map<std::string, std::vector<double>> columns_;
};

// What plain searches reached, as result.json has it: {"greedy", us}. Nothing where the file is of an older rlgo.
std::vector<std::pair<std::string, double>> plain_searches(const std::filesystem::path& result) {
  std::vector<std::pair<std::string, double>> out;
  std::error_code error;
  if (!std::filesystem::exists(result, error)) return out;
  const auto parsed = nlohmann::json::parse(read_file(result), nullptr, false);
  if (!parsed.is_object() || !parsed.contains("cost")) return out;
  for (const auto& [key, name] :
       {std::pair{"greedy_us", "greedy"}, {"search_us", "search"}, {"starts_us", "its starts"}}) {
    const auto found = parsed["cost"].find(key);
    if (found != parsed["cost"].end() && found->is_number()) out.emplace_back(name, found->get<double>());
  }
  return out;
}

// Lines of constant height across what the chart shows.
void add_references(report::Chart& chart, const std::vector<std::pair<std::string, double>>& searches) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const auto& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  for (const auto& [name, us] : searches) {
    chart.lines.push_back({name, {{low, us / 1000}, {high, us / 1000}}, false, true});
  }
}

// `folder`: of the graph's results, in that of a run on several or the same.
std::vector<report::Chart> curves(const RunFolder& run, const RunFolder& folder) {
  Curves out(read_metrics(run.metrics()));
  const bool alone = run.path == folder.path;
  const std::string best = alone ? "best_cost_us" : "best_cost_us/" + folder.path.filename().string();
  std::vector<std::pair<std::string, std::string>> costs = {{best, "best"}};
  if (alone) costs.emplace_back("episode_cost_mean_us", "mean of an epoch");
  out.add("Best cost against steps", "steps", "environment steps", "ms", costs, 1e-3);
  out.add("Best cost against time", "seconds", "seconds of training", "ms", {{best, "best"}}, 1e-3);
  const auto searches = plain_searches(folder.result());
  for (auto& chart : out.charts) add_references(chart, searches);
  out.add("Episodes: reward", "epoch", "epoch", "% of the initial cost",
          {{"episode_reward_mean", "mean"}, {"episode_reward_max", "highest"}});
  out.add("Episodes: length", "epoch", "epoch", "steps", {{"episode_length_mean", "mean"}});
  out.add("Losses", "epoch", "epoch", "", {{"policy_loss", "policy"}, {"value_loss", "value"}});
  out.add("Entropy", "epoch", "epoch", "nats",
          {{"entropy_xfer", "of the rule"}, {"entropy_location", "of its location"}});
  out.add("Environment steps per second", "epoch", "epoch", "1/s", {{"steps_per_s", "steps"}});
  return out.charts;
}

// The text behind "name" in a summary, "" where there is none.
std::string line_of(const std::string& summary, std::string_view name) {
  for (const auto& line : split(summary, '\n')) {
    if (line.starts_with(name)) return std::string(trim(std::string_view(line).substr(name.size())));
  }
  return "";
}

}  // namespace

std::string run_html(const RunReport& in) {
  const auto& [run, folder, model, rules, cost, graph, cost_kind, target, threads, max_locations, version] = in;
  const std::string summary = read_file(folder.summary());
  std::error_code error;
  const auto slower = folder.path / "slower.trace";  // where the run found nothing better than the unmodified graph
  const auto path = std::filesystem::exists(folder.best_trace(), error) ? folder.best_trace() : slower;
  const rules::TraceFile trace = rules::parse_trace(read_text(path), path.string(), *rules);
  report::Evidence evidence;
  evidence.title = fmt::format("rlgo run {}: {}", run.path.filename().string(), graph);
  evidence.verdict = line_of(summary, "end to end");
  evidence.before = model.graph;
  evidence.after = rules::replay(model.graph, rules, trace.rewrites, max_locations);
  evidence.rules = rules;
  evidence.trace = trace.rewrites;
  evidence.step_us = trace.cost_us;
  evidence.cost_name = cost != nullptr ? cost->name() : cost_kind;
  if (cost != nullptr) {
    evidence.before_op_us = report::prices_of(*cost, evidence.before);
    evidence.after_op_us = report::prices_of(*cost, evidence.after);
    if (!evidence.before_op_us.empty()) evidence.before_us = cost::graph_cost(*cost, evidence.before).runtime_us;
  }
  for (const char* name : {"cost", "rules applied", "agent"}) {
    const std::string line = line_of(summary, name);  // "27 rewrites: 26 x fuse-conv-relu": the figure, then a note
    const size_t end = std::min({line.find(": "), line.find(", "), line.size()});
    evidence.figures.push_back({name, line.substr(0, end), line.substr(std::min(end + 2, line.size()))});
  }
  evidence.figures.push_back({"nodes", fmt::format("{} -> {}", evidence.before.size(), evidence.after.size())});
  evidence.charts = curves(run, folder);
  if (!trace.cost_us.empty()) {
    report::Chart along{"Cost along the best rewrites", "rewrites", "ms, sum over operators", {{"best", {}, false}}};
    if (evidence.before_us > 0) along.lines[0].points.emplace_back(0, evidence.before_us / 1000);
    for (size_t k = 0; k < trace.cost_us.size(); ++k)
      along.lines[0].points.emplace_back(static_cast<double>(k + 1), trace.cost_us[k] / 1000);
    evidence.charts.push_back(std::move(along));
  }
  evidence.equivalence = {{"equivalence", line_of(summary, "equivalence")}};
  if (const auto text = line_of(summary, "normalised"); !text.empty()) evidence.normalised = {{"at export", text}};
  evidence.environment = {{"graph", model.about},
                          {"target", target},
                          {"threads", fmt::format("{}", threads)},
                          {"rlgo", version},
                          {"machine", exec::describe(exec::resolve_device("cpu"))},
                          {"folder", folder.path.string()}};
  evidence.log = summary;
  return report::to_html(evidence);
}

}  // namespace rlgo::learner
