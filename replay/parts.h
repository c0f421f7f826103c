// Names of part files. part-<writer>-<number>.h5 is one part; part-<writer>-<first>-<last>.h5 is what compaction made
// of parts first..last. A part that a wider one covers is a left-over of an interrupted compaction: it is never read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rlgo::replay {

struct PartName {
  int writer = 0;
  int64_t first = 0;
  int64_t last = 0;               // = first, for a part that is not merged
  std::string file_name() const;  // part-000-000012.h5, part-000-000000-000012.h5
  bool operator==(const PartName&) const = default;
};

// Nothing where a file name is not that of a part.
std::optional<PartName> parse_part_name(const std::string& file_name);

struct PartList {
  std::vector<PartName> parts;    // by writer and number, without covered ones
  std::vector<PartName> covered;  // to be removed by the next compaction
};
// Throws Error where the folder cannot be read.
PartList list_parts(const std::filesystem::path& folder);
// The folder of parts that a path means: a run folder stands for the rollouts/ in it.
std::filesystem::path parts_folder(const std::filesystem::path& path);
// `path` itself where it is a file, else all parts of its folder in order.
std::vector<std::filesystem::path> part_paths(const std::filesystem::path& path);

}  // namespace rlgo::replay
