// States in which episodes began, kept for the next that begin there: the rewrites of a way, hundreds of them, need not
// be made and priced again.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/env/features.h"
#include "core/rules/trace.h"
#include "core/search/walk.h"

namespace rlgo::env {

struct Checkpoint {
  search::Walk::Mark mark;
  FeatureBuilder features;
  rules::Trace rewrites;        // of the unmodified graph
  std::vector<double> cost_us;  // of the graph after each of them
  // About what it holds in memory, without what it shares with others.
  int64_t bytes() const;
};

// Of environments with the same rules, costs and options, whatever their graphs. Thread safe.
class Checkpoints {
 public:
  // Beyond `most_bytes` those go that were not asked for the longest.
  explicit Checkpoints(int64_t most_bytes = int64_t{128} << 20) : most_bytes_(most_bytes) {}
  // Null: it is not kept (any more).
  std::shared_ptr<const Checkpoint> find(uint64_t key);
  void keep(uint64_t key, Checkpoint checkpoint);
  size_t size() const;

 private:
  using Kept = std::pair<uint64_t, std::shared_ptr<const Checkpoint>>;
  const int64_t most_bytes_;
  mutable std::mutex mutex_;
  int64_t bytes_ = 0;
  std::list<Kept> kept_;  // the one asked for last comes first
  std::unordered_map<uint64_t, std::list<Kept>::iterator> by_key_;
};

}  // namespace rlgo::env
