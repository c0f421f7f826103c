// Costs that were measured once and are looked up ever after: one value per operator and run.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cost/cost.h"

namespace rlgo::cost {

// One measured operator.
struct Measured {
  double us = 0;         // median, >= 0
  double spread_us = 0;  // of the repeats: how far single ones lie apart, >= 0
  int64_t samples = 0;   // repeats
};

// What the numbers of a table hold for. Two tables go together only where all fields are equal.
struct TableOrigin {
  std::string model;   // "measured:cpu"
  std::string device;  // "AMD EPYC 7B13"
  int threads = 1;
  bool operator==(const TableOrigin&) const = default;
};

// File: a header of "# key value" lines (format version, model, device, threads), a line of column names, then one line
// per operator, sorted: signature, us, spread_us, samples, separated by tabs. Numbers read back exactly.
class TableCost : public CostModel {
 public:
  // Called for an operator that the table does not have; its answer is kept. Empty: such an operator throws Error.
  using OnMiss = std::function<Measured(const graph::Graph& graph, graph::NodeId id)>;
  struct Entry {
    std::string signature;
    Measured measured;
  };

  explicit TableCost(TableOrigin origin, OnMiss on_miss = {});

  std::string name() const override { return origin_.model; }
  // Throws what on_miss throws, and Error where its answer is negative or not finite.
  double op_us(const graph::Graph& graph, graph::NodeId id) override;

  const TableOrigin& origin() const { return origin_; }
  // Nothing where the table does not have it.
  const Measured* find(const std::string& signature) const;
  // A known signature keeps its first value, so that a cost never changes within a run; false then. Throws Error on a
  // negative or non-finite number, or a signature with a tab or a line break.
  bool insert(const std::string& signature, const Measured& measured);
  // In order of insertion: entries().subspan(mark) with an earlier size() are those that came since.
  std::span<const Entry> entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  // Entries that are prices: all but those named "reference: ...", which hold the clock calibration of the others.
  size_t priced() const { return entries_.size() - references_; }

  // Whole or not at all. Throws Error.
  void save(const std::filesystem::path& path) const;
  // Adds the file's entries; those that the table has already keep their value. Throws Error "FILE:LINE: reason", and
  // one that shows both origins where the file's differs; the table is then unchanged. Returns the number of new
  // entries.
  size_t load(const std::filesystem::path& path);

 private:
  TableOrigin origin_;
  OnMiss on_miss_;
  std::vector<Entry> entries_;
  size_t references_ = 0;                            // of entries_
  std::unordered_map<std::string, size_t> by_text_;  // signature -> index of entries_
  std::unordered_map<uint64_t, double> us_by_hash_;  // node.info->signature_hash -> us: the fast way
};

}  // namespace rlgo::cost
