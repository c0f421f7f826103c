#include "core/optimise/timed_graphs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/cost/table_file.h"

namespace rlgo::optimise {
namespace {

const cost::TableFormat kFormat{"table of timed graphs", "# rlgo timed graphs, version 1",
                                "model\tgraph\tsum\tratio\tfeatures"};
constexpr double kMostRatio = 1e3, kMostFeature = 1e6;

// 16 digits as hex() writes them.
std::optional<uint64_t> parse_hash(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value, 16);
  if (text.size() != 16 || status != std::errc() || rest != end) return std::nullopt;
  return value;
}

// Why `graph` cannot be one that was timed, or nothing.
std::optional<std::string> defect(const TimedGraph& graph) {
  const auto bad = [](double ratio) { return !(ratio > 0 && ratio <= kMostRatio); };
  if (bad(graph.sum)) return fmt::format("a sum of {} of the unmodified graph's", graph.sum);
  if (bad(graph.ratio)) return fmt::format("a time of {} of the unmodified graph's", graph.ratio);
  if (graph.features.size() > TimedGraphs::kMostFeatures)
    return fmt::format("{} features; {} at most", graph.features.size(), TimedGraphs::kMostFeatures);
  for (const auto& [name, x] : graph.features) {
    if (name.empty() || name.find_first_of(" =\t\r\n") != std::string::npos)
      return fmt::format("a feature called '{}'", name);
    if (!(std::abs(x) <= kMostFeature)) return fmt::format("feature {} is {}", name, x);
  }
  return std::nullopt;
}

cost::Features parse_features(const std::string& text, const cost::TableReader& reader) {
  cost::Features out;
  if (text.empty()) return out;
  for (const auto& part : split(text, ' ')) {
    const size_t at = part.find('=');
    const auto x = at == std::string::npos ? std::nullopt : parse_double(std::string_view(part).substr(at + 1));
    if (!x) reader.fail_here("'{}' is no feature (name=value)", part.substr(0, 60));
    if (!out.emplace(part.substr(0, at), *x).second)
      reader.fail_here("feature {} is listed twice", part.substr(0, std::min<size_t>(at, 60)));
  }
  return out;
}

std::string to_text(const cost::Features& features) {
  std::vector<std::string> parts;
  for (const auto& [name, x] : features) parts.push_back(fmt::format("{}={}", name, x));
  return join(parts, " ");
}

}  // namespace

TimedGraphs::TimedGraphs(cost::TableOrigin origin) : origin_(cost::on_one_line(std::move(origin))) {}

void TimedGraphs::add(TimedGraph graph) {
  if (const auto reason = defect(graph)) fail("timed graphs: {}", *reason);
  std::erase_if(graphs_, [&](const TimedGraph& g) { return g.model == graph.model && g.graph == graph.graph; });
  graphs_.push_back(std::move(graph));
  if (graphs_.size() > kMost) graphs_.erase(graphs_.begin());
}

std::vector<cost::ResidualExample> TimedGraphs::examples(uint64_t model) const {
  std::vector<cost::ResidualExample> out;
  for (const bool own : {false, true}) {
    for (const TimedGraph& graph : graphs_) {
      if ((graph.model == model) == own) out.push_back({graph.features, graph.ratio - graph.sum});
    }
  }
  return out;
}

void TimedGraphs::save(const std::filesystem::path& path) const {
  std::string text = header(kFormat, origin_);
  for (const TimedGraph& g : graphs_)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n", hex(g.model), hex(g.graph), g.sum, g.ratio, to_text(g.features));
  atomic_write(path, text);
}

void TimedGraphs::load(const std::filesystem::path& path) {
  cost::TableReader reader(kFormat, path.string(), read_text(path));
  reader.expect_header(origin_);
  std::vector<TimedGraph> read;
  while (const auto columns = reader.row()) {
    const auto model = parse_hash((*columns)[0]), graph = parse_hash((*columns)[1]);
    const auto sum = parse_double((*columns)[2]), ratio = parse_double((*columns)[3]);
    if (!model || !graph || !sum || !ratio) reader.fail_here("a column is empty or not a number");
    TimedGraph timed{*model, *graph, *sum, *ratio, parse_features((*columns)[4], reader)};
    if (const auto reason = defect(timed)) reader.fail_here("{}", *reason);
    read.push_back(std::move(timed));
  }
  for (TimedGraph& timed : read) add(std::move(timed));
}

}  // namespace rlgo::optimise
