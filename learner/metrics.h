// metrics.csv: one row of named values per epoch, on disk as soon as it is written; a killed run loses no whole row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rlgo::learner {

using MetricValue = std::variant<int64_t, double, std::string>;
using MetricRow = std::vector<std::pair<std::string, MetricValue>>;

class MetricsFile {
 public:
  // Opens or creates the file. What a killed run left continues: a torn last line (no line end, or too few or too many
  // cells) is dropped. Throws Error where the file cannot be written or another line is malformed (naming it).
  explicit MetricsFile(std::filesystem::path path);

  // Appends a row. The first row fixes the columns and their order; a name that comes later is appended as a column,
  // its cells empty in the rows before (the file is rewritten whole, atomically); a missing one leaves its cell empty.
  // Doubles are written so that they read back exactly; NaN and infinities as nan, inf, -inf; line ends in texts become
  // blanks. Throws Error where a name comes twice or the disk fails; the file is cut back to whole rows then.
  void write(const MetricRow& row);
  // Drops the rows whose number in `column` is above `limit`: those after the checkpoint that a run is resumed from.
  // Returns how many. No such column: none.
  int64_t drop_after(const std::string& column, double limit);

  const std::vector<std::string>& columns() const { return columns_; }
  int64_t rows() const { return static_cast<int64_t>(rows_.size()); }

 private:
  void load();
  void rewrite();

  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::vector<std::string> rows_;  // lines without their ends
  std::ofstream out_;
};

// One CSV line (RFC 4180, without line end) as cells, and back.
std::vector<std::string> parse_csv_line(const std::string& line);
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace rlgo::learner
