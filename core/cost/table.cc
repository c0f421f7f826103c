#include "core/cost/table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/text_file.h"

namespace rlgo::cost {
namespace {

constexpr std::string_view kTitle = "# rlgo cost table, version 1";
constexpr std::string_view kColumns = "signature\tus\tspread_us\tsamples";

std::string header(const TableOrigin& origin) {
  return fmt::format("{}\n# model {}\n# device {}\n# threads {}\n{}\n", kTitle, origin.model, origin.device,
                     origin.threads, kColumns);
}

std::string describe(const TableOrigin& origin) {
  return fmt::format("model '{}', device '{}', {} thread{}", origin.model, origin.device, origin.threads,
                     origin.threads == 1 ? "" : "s");
}

bool has_break(std::string_view text) { return text.find_first_of("\t\n\r") != std::string_view::npos; }

// Why `measured` cannot be a cost, or nothing.
std::optional<std::string> defect(const Measured& measured) {
  const auto bad = [](double us) { return !std::isfinite(us) || us < 0; };
  if (bad(measured.us)) return fmt::format("a time of {} us", measured.us);
  if (bad(measured.spread_us)) return fmt::format("a spread of {} us", measured.spread_us);
  if (measured.samples < 0) return fmt::format("{} samples", measured.samples);
  return std::nullopt;
}

// Lines of a table file, one at a time, with errors that name file and line.
class TableReader {
 public:
  TableReader(std::string file, std::string_view text) : file_(std::move(file)), lines_(split(text, '\n')) {}

  template <typename... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}:{}: {}", file_, next_, fmt::format(format, std::forward<Args>(args)...));
  }
  // Nothing behind the last line.
  std::optional<std::string> line() {
    if (next_ >= lines_.size()) return std::nullopt;
    std::string text = lines_[next_++];
    if (text.ends_with('\r')) text.pop_back();
    if (next_ == lines_.size()) {
      // Every line that was written ends with a line break: what follows the last one is empty, or cut off.
      if (!text.empty()) fail_here("the last line is cut off");
      return std::nullopt;
    }
    return text;
  }
  void expect(std::string_view wanted) {
    const auto text = line();
    if (!text || *text != wanted) fail_here("not a cost table of this version: expected '{}'", wanted);
  }
  std::string header_field(std::string_view key) {
    const std::string start = fmt::format("# {} ", key);
    const auto text = line();
    if (!text || !text->starts_with(start)) fail_here("expected '{}...'", start);
    return text->substr(start.size());
  }
  TableOrigin origin() {
    TableOrigin origin;
    expect(kTitle);
    origin.model = header_field("model");
    origin.device = header_field("device");
    const auto threads = parse_int(header_field("threads"));
    if (!threads || *threads < 1 || *threads > 1 << 20) fail_here("the number of threads is not a positive number");
    origin.threads = static_cast<int>(*threads);
    expect(kColumns);
    return origin;
  }
  std::optional<TableCost::Entry> entry() {
    const auto text = line();
    if (!text) return std::nullopt;
    const auto parts = split(*text, '\t');
    if (parts.size() != 4) fail_here("{} columns instead of 4", parts.size());
    const auto us = parse_double(parts[1]);
    const auto spread = parse_double(parts[2]);
    const auto samples = parse_int(parts[3]);
    if (parts[0].empty() || !us || !spread || !samples) fail_here("a column is empty or not a number");
    TableCost::Entry entry{parts[0], {*us, *spread, *samples}};
    if (const auto reason = defect(entry.measured)) fail_here("{}", *reason);
    return entry;
  }

 private:
  std::string file_;
  std::vector<std::string> lines_;
  size_t next_ = 0;  // also the number of the line just read, counted from 1
};

}  // namespace

TableCost::TableCost(TableOrigin origin, OnMiss on_miss) : origin_(std::move(origin)), on_miss_(std::move(on_miss)) {
  // So that the header of a saved table reads back.
  for (std::string* text : {&origin_.model, &origin_.device}) {
    std::replace_if(
        text->begin(), text->end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  }
  RLGO_CHECK(!origin_.model.empty() && origin_.threads >= 1);
}

double TableCost::op_us(const graph::Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph.node(id);
  if (is_free(node)) return 0;
  const uint64_t hash = node.info->signature_hash;
  if (const auto known = us_by_hash_.find(hash); known != us_by_hash_.end()) return known->second;
  const std::string text = signature(graph, id);
  const Measured* measured = find(text);
  if (measured == nullptr) {
    if (!on_miss_) fail("no measured cost for {}", text);
    insert(text, on_miss_(graph, id));
    measured = find(text);
  }
  us_by_hash_.emplace(hash, measured->us);
  return measured->us;
}

const Measured* TableCost::find(const std::string& signature) const {
  const auto at = by_text_.find(signature);
  return at == by_text_.end() ? nullptr : &entries_[at->second].measured;
}

bool TableCost::insert(const std::string& signature, const Measured& measured) {
  if (signature.empty() || has_break(signature))
    fail("cost table: '{}' cannot be the signature of an operator", signature);
  if (const auto reason = defect(measured)) fail("cost table: {} was measured for {}", *reason, signature);
  if (!by_text_.emplace(signature, entries_.size()).second) return false;
  entries_.push_back({signature, measured});
  return true;
}

void TableCost::save(const std::filesystem::path& path) const {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) { return a->signature < b->signature; });
  std::string text = header(origin_);
  for (const Entry* entry : sorted) {
    const Measured& m = entry->measured;
    text += fmt::format("{}\t{}\t{}\t{}\n", entry->signature, m.us, m.spread_us, m.samples);
  }
  atomic_write(path, text);
}

size_t TableCost::load(const std::filesystem::path& path) {
  TableReader reader(path.string(), read_text(path));
  const TableOrigin found = reader.origin();
  if (found != origin_) {
    fail("{}: the costs were measured with {}; this run needs {}", path.string(), describe(found), describe(origin_));
  }
  std::unordered_map<std::string, size_t> seen;
  std::vector<Entry> read;
  while (auto entry = reader.entry()) {
    if (!seen.emplace(entry->signature, read.size()).second) reader.fail_here("'{}' is listed twice", entry->signature);
    read.push_back(std::move(*entry));
  }
  size_t added = 0;
  for (const Entry& entry : read) added += insert(entry.signature, entry.measured) ? 1 : 0;
  return added;
}

}  // namespace rlgo::cost
