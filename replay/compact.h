// Merges the small parts of a store into larger ones.
#pragma once

#include <cstdint>
#include <filesystem>

namespace rlgo::replay {

struct Compaction {
  int64_t parts_before = 0, parts_after = 0;
  int64_t merged = 0;              // parts that went into new files
  int64_t removed_left_overs = 0;  // of an interrupted compaction
  uint64_t bytes_before = 0, bytes_after = 0;
};

// Merges neighbouring parts of a writer with equal headers into files of at most `episodes_per_file` episodes. Each new
// file is whole and on disk before the parts in it are removed; until then readers use the old ones, after it the new
// one, and an interruption at any point loses and doubles nothing. Running it twice changes nothing more. A run that is
// still writing may continue. `path`: a folder of parts or a run folder. Throws Error naming the first broken part, and
// stops there.
Compaction compact(const std::filesystem::path& path, int64_t episodes_per_file = 1024);

}  // namespace rlgo::replay
