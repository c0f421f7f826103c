// What a rollout store holds, for `rlgo inspect`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "replay/reader.h"
#include "replay/schema.h"

namespace rlgo::replay {

struct Summary {
  std::filesystem::path path;
  int64_t parts = 0;                 // readable ones
  std::vector<StoreHeader> headers;  // the different ones, in order of appearance
  int64_t episodes = 0, steps = 0;
  int64_t terminal = 0, dream = 0;  // episodes
  int64_t repeated = 0;             // episodes whose (seed, rank, episode) came before: a run resumed from a checkpoint
  int64_t no_ops = 0;               // steps
  std::map<std::string, int64_t> rule_uses;
  double return_min = 0, return_mean = 0, return_max = 0;  // sum of rewards per episode; 0 where there is no episode
  struct Costs {
    double initial_us = 0, best_us = 0;  // of its unmodified graph; the lowest of its episodes
  };
  std::map<int32_t, Costs> costs;                  // by episodes/graph
  std::map<int64_t, int64_t> episodes_by_version;  // by weights version
  std::map<int32_t, int64_t> episodes_by_rank;
  uint64_t bytes = 0;  // on disk
  std::vector<BrokenPart> broken;

  double bytes_per_step() const { return steps > 0 ? static_cast<double>(bytes) / static_cast<double>(steps) : 0; }
};

// `path`: a part, a folder of parts or a run folder. Throws Error where it does not exist or holds no part at all;
// broken parts are listed. Observations are not read.
Summary summarize(const std::filesystem::path& path);
// Several lines for people.
std::string to_text(const Summary& summary);

}  // namespace rlgo::replay
