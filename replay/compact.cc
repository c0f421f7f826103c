#include "replay/compact.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/file_lock.h"
#include "replay/part.h"
#include "replay/parts.h"

namespace rlgo::replay {
namespace fs = std::filesystem;
namespace {

constexpr int kGzip = 6;  // written once, read often

struct Group {
  std::vector<PartName> parts;
  int64_t episodes = 0;
  StoreHeader header;
};

// Neighbours that fit together, in order. A group of one part stays as it is.
std::vector<Group> group_parts(const fs::path& folder, const std::vector<PartName>& parts, int64_t episodes_per_file) {
  std::vector<Group> groups;
  for (const auto& name : parts) {
    const PartReader part(folder / name.file_name());
    const bool joins = !groups.empty() && groups.back().parts.back().writer == name.writer &&
                       groups.back().episodes + part.episodes() <= episodes_per_file &&
                       groups.back().header == part.header();
    if (!joins) groups.push_back({{}, 0, part.header()});
    groups.back().parts.push_back(name);
    groups.back().episodes += part.episodes();
  }
  return groups;
}

void merge(const fs::path& folder, const Group& group) {
  const PartName merged{group.parts.front().writer, group.parts.front().first, group.parts.back().last};
  PartWriter writer(merged.file_name(), group.header, kGzip);
  for (const auto& name : group.parts) {
    const PartReader part(folder / name.file_name());
    for (int64_t i = 0; i < part.episodes(); ++i) writer.add(part.read(i));
  }
  writer.save(folder / merged.file_name());
  const PartReader written(folder / merged.file_name());  // what is on disk, before anything is removed
  if (written.episodes() != group.episodes)
    fail("{}: {} episodes instead of {}", written.path().string(), written.episodes(), group.episodes);
  for (const auto& name : group.parts) fs::remove(folder / name.file_name());
}

uint64_t bytes_of(const fs::path& folder, const std::vector<PartName>& parts) {
  uint64_t bytes = 0;
  for (const auto& name : parts) bytes += fs::file_size(folder / name.file_name());
  return bytes;
}

// Of merged parts only: a temporary of an ordinary part belongs to a writer that may be at work.
void remove_merge_temporaries(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    const auto at = file.find(".tmp-");
    if (at == std::string::npos) continue;
    const auto name = parse_part_name(file.substr(0, at));
    if (name && name->first != name->last && !is_temporary_in_use(entry.path())) fs::remove(entry.path(), error);
  }
}

}  // namespace

Compaction compact(const fs::path& path, int64_t episodes_per_file) {
  if (episodes_per_file < 1) fail("compaction: {} episodes per file, at least 1 is needed", episodes_per_file);
  const fs::path folder = parts_folder(path);
  const FileLock lock(folder / "compact.lock", fmt::format("{}: compaction", folder.string()));
  remove_merge_temporaries(folder);
  const PartList before = list_parts(folder);
  Compaction result;
  result.parts_before = static_cast<int64_t>(before.parts.size());
  result.bytes_before = bytes_of(folder, before.parts);
  // Left-overs go first, but only once what covers them is known to be whole: grouping opens and checks every part.
  const auto groups = group_parts(folder, before.parts, episodes_per_file);
  for (const auto& name : before.covered) fs::remove(folder / name.file_name());
  result.removed_left_overs = static_cast<int64_t>(before.covered.size());
  for (const auto& group : groups) {
    if (group.parts.size() < 2) continue;
    merge(folder, group);
    result.merged += static_cast<int64_t>(group.parts.size());
  }
  const PartList after = list_parts(folder);
  result.parts_after = static_cast<int64_t>(after.parts.size());
  result.bytes_after = bytes_of(folder, after.parts);
  return result;
}

}  // namespace rlgo::replay
