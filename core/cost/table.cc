#include "core/cost/table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/cost/table_file.h"

namespace rlgo::cost {
namespace {

const TableFormat kFormat{"cost table", "# rlgo cost table, version 1", "signature\tus\tspread_us\tsamples"};

bool has_break(std::string_view text) { return text.find_first_of("\t\n\r") != std::string_view::npos; }

// Why `measured` cannot be a cost, or nothing.
std::optional<std::string> defect(const Measured& measured) {
  const auto bad = [](double us) { return !std::isfinite(us) || us < 0; };
  if (bad(measured.us)) return fmt::format("a time of {} us", measured.us);
  if (bad(measured.spread_us)) return fmt::format("a spread of {} us", measured.spread_us);
  if (measured.samples < 0) return fmt::format("{} samples", measured.samples);
  return std::nullopt;
}

std::optional<TableCost::Entry> next_entry(TableReader& reader) {
  const auto parts = reader.row();
  if (!parts) return std::nullopt;
  const auto us = parse_double((*parts)[1]);
  const auto spread = parse_double((*parts)[2]);
  const auto samples = parse_int((*parts)[3]);
  if ((*parts)[0].empty() || !us || !spread || !samples) reader.fail_here("a column is empty or not a number");
  TableCost::Entry entry{(*parts)[0], {*us, *spread, *samples}};
  if (const auto reason = defect(entry.measured)) reader.fail_here("{}", *reason);
  return entry;
}

}  // namespace

TableCost::TableCost(TableOrigin origin, OnMiss on_miss)
    : origin_(on_one_line(std::move(origin))), on_miss_(std::move(on_miss)) {
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
  if (signature.starts_with("reference: ")) ++references_;
  return true;
}

void TableCost::save(const std::filesystem::path& path) const {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) { return a->signature < b->signature; });
  std::string text = header(kFormat, origin_);
  for (const Entry* entry : sorted) {
    const Measured& m = entry->measured;
    text += fmt::format("{}\t{}\t{}\t{}\n", entry->signature, m.us, m.spread_us, m.samples);
  }
  atomic_write(path, text);
}

size_t TableCost::load(const std::filesystem::path& path) {
  TableReader reader(kFormat, path.string(), read_text(path));
  reader.expect_header(origin_);
  std::unordered_map<std::string, size_t> seen;
  std::vector<Entry> read;
  while (auto entry = next_entry(reader)) {
    if (!seen.emplace(entry->signature, read.size()).second) reader.fail_here("'{}' is listed twice", entry->signature);
    read.push_back(std::move(*entry));
  }
  size_t added = 0;
  for (const Entry& entry : read) added += insert(entry.signature, entry.measured) ? 1 : 0;
  return added;
}

}  // namespace rlgo::cost
