#include "learner/metrics.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace rlgo::learner {
namespace fs = std::filesystem;
namespace {

std::string cell_text(const MetricValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&value)) return std::isnan(*number) ? "nan" : fmt::format("{}", *number);
  std::string text = std::get<std::string>(value);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

std::vector<std::string> parse_csv_line(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (char c : cells[i]) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line;
}

MetricsFile::MetricsFile(fs::path path) : path_(std::move(path)) { load(); }

void MetricsFile::load() {
  std::error_code error;
  if (!fs::exists(path_, error)) {
    rewrite();
    return;
  }
  const std::string text = read_file(path_);
  auto lines = split(text, '\n');
  bool torn = !lines.back().empty();  // no line end
  lines.pop_back();
  if (!lines.empty()) columns_ = parse_csv_line(lines[0]);
  const auto old_name = std::find(columns_.begin(), columns_.end(), "waiting_share");  // old name: up to 0.2.0
  const bool renamed = old_name != columns_.end();
  if (renamed) *old_name = "waiting_fraction";
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t cells = parse_csv_line(lines[i]).size();
    if (cells == columns_.size()) {
      rows_.push_back(lines[i]);
    } else if (i + 1 == lines.size() && !torn) {
      torn = true;
    } else {
      fail("{}: line {} has {} cells, the header has {}", path_.string(), i + 1, cells, columns_.size());
    }
  }
  if (torn || renamed) {
    rewrite();
  } else {
    out_.open(path_, std::ios::binary | std::ios::app);
    if (!out_) fail("{}: cannot open: {}", path_.string(), std::strerror(errno));
  }
}

void MetricsFile::rewrite() {
  out_.close();
  std::string text;
  if (!columns_.empty()) text = csv_line(columns_) + '\n';
  for (const auto& row : rows_) text += row + '\n';
  atomic_write(path_, text);
  out_.clear();
  out_.open(path_, std::ios::binary | std::ios::app);
  if (!out_) fail("{}: cannot open: {}", path_.string(), std::strerror(errno));
}

void MetricsFile::write(const MetricRow& row) {
  const size_t known = columns_.size();
  std::vector<std::string> columns = columns_;
  std::vector<std::string> cells(known);
  std::vector<bool> set(known, false);
  for (const auto& [name, value] : row) {
    const auto at = static_cast<size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
    if (at == columns.size()) {
      columns.push_back(name);
      cells.emplace_back();
      set.push_back(false);
    }
    if (set[at]) fail("{}: column '{}' twice in a row", path_.string(), name);
    set[at] = true;
    cells[at] = cell_text(value);
  }
  if (columns.empty()) fail("{}: a row without columns", path_.string());
  const std::string line = csv_line(cells);
  if (columns.size() > known) {
    const std::string padding(known == 0 ? 0 : columns.size() - known, ',');
    for (auto& old : rows_) old += padding;
    columns_ = std::move(columns);
    rows_.push_back(line);
    rewrite();
    return;
  }
  out_ << line << '\n';
  out_.flush();
  if (out_) {
    rows_.push_back(line);
    return;
  }
  const std::string reason = std::strerror(errno);
  rewrite();
  fail("{}: cannot write: {}", path_.string(), reason);
}

int64_t MetricsFile::drop_after(const std::string& column, double limit) {
  const auto at = static_cast<size_t>(std::find(columns_.begin(), columns_.end(), column) - columns_.begin());
  if (at == columns_.size()) return 0;
  const auto dropped = static_cast<int64_t>(std::erase_if(rows_, [&](const std::string& row) {
    const auto number = parse_double(parse_csv_line(row)[at]);
    return number && *number > limit;
  }));
  if (dropped > 0) rewrite();
  return dropped;
}

}  // namespace rlgo::learner
