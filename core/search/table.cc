#include "core/search/table.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"

namespace rlgo::search {
namespace {

// Of a CSV file.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string short_name(const std::string& graph) {
  return graph.ends_with(".onnx") ? std::filesystem::path(graph).filename().string() : graph;
}

}  // namespace

double SearchRow::graphs_per_s() const {
  const double searching_s = seconds - measuring_s;
  return searching_s > 0 ? static_cast<double>(counters.candidates) / searching_s : 0.0;
}

SearchRow row_of(const Problem& problem, const Result& found) {
  SearchRow row;
  row.cost = problem.cost.name();
  row.nodes_before = problem.graph.size();
  row.nodes_after = found.graph.size();
  row.before_us = found.before_us;
  row.after_us = found.after_us;
  row.trace = found.trace;
  row.counters = found.counters;
  row.seconds = found.seconds;
  row.reason = found.reason;
  row.curve = found.curve;
  row.bound_us = found.bound_us;
  row.optimal = found.optimal;
  row.note = found.note;
  return row;
}

std::string to_text(std::span<const SearchRow> rows) {
  size_t width = 5;
  for (const auto& row : rows) width = std::max(width, short_name(row.graph).size());
  std::string out =
      fmt::format("{:<{}}  {:<11} {:>11} {:>11} {:>8} {:>9} {:>9} {:>8} {:>8}  {}\n", "graph", width, "method",
                  "before, ms", "after, ms", "change", "graphs", "graphs/s", "best, s", "total, s", "ended by");
  for (const auto& row : rows) {
    out += fmt::format("{:<{}}  {:<11} {:>11.3f} {:>11.3f} {:>6.2f} % {:>9} {:>9.0f} {:>8.2f} {:>8.2f}  {}",
                       short_name(row.graph), width, row.method, row.before_us / 1e3, row.after_us / 1e3,
                       row.change_percent(), row.counters.candidates, row.graphs_per_s(), row.best_after_s(),
                       row.seconds, name(row.reason));
    if (row.measuring_s > 0) out += fmt::format("; {:.2f} s of the time went into timing operators", row.measuring_s);
    if (!row.note.empty()) out += "; " + row.note;
    if (row.counters.dropped > 0) out += fmt::format("; {} graphs dropped for want of memory", row.counters.dropped);
    out += '\n';
  }
  return out;
}

std::string to_csv(std::span<const SearchRow> rows) {
  std::string out =
      "graph,method,cost,seed,threads,before_us,after_us,change_percent,candidates,refused,duplicates,built,walks,"
      "dropped,graphs_per_s,best_after_s,seconds,measuring_s,ended_by,rewrites,nodes_before,nodes_after,bound_us,"
      "optimal,clock\n";
  for (const auto& row : rows) {
    const auto& c = row.counters;
    out += fmt::format(
        "{},{},{},{},{},{:.6f},{:.6f},{:.4f},{},{},{},{},{},{},{:.1f},{:.6f},{:.6f},{:.6f},{},{},{},{},{:.6f},{},{}\n",
        cell(row.graph), row.method, cell(row.cost), row.seed, row.threads, row.before_us, row.after_us,
        row.change_percent(), c.candidates, c.refused, c.duplicates, c.steps, c.walks, c.dropped, row.graphs_per_s(),
        row.best_after_s(), row.seconds, row.measuring_s, name(row.reason), row.trace.size(), row.nodes_before,
        row.nodes_after, row.bound_us, row.optimal ? 1 : 0, row.cpu_time ? "cpu" : "wall");
  }
  return out;
}

std::string curves_to_csv(std::span<const SearchRow> rows) {
  std::string out = "graph,method,seed,seconds,candidates,best_us\n";
  for (const auto& row : rows) {
    for (const auto& point : row.curve) {
      out += fmt::format("{},{},{},{:.6f},{},{:.6f}\n", cell(row.graph), row.method, row.seed, point.seconds,
                         point.candidates, point.best_us);
    }
  }
  return out;
}

}  // namespace rlgo::search
