#include "replay/parts.h"

#include <algorithm>
#include <tuple>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::replay {
namespace fs = std::filesystem;

std::string PartName::file_name() const {
  if (first == last) return fmt::format("part-{:03}-{:06}.h5", writer, first);
  return fmt::format("part-{:03}-{:06}-{:06}.h5", writer, first, last);
}

std::optional<PartName> parse_part_name(const std::string& file_name) {
  if (!file_name.starts_with("part-") || !file_name.ends_with(".h5")) return {};
  std::vector<int64_t> numbers;
  for (const auto& piece : split(std::string_view(file_name).substr(5, file_name.size() - 8), '-')) {
    const auto number = parse_int(piece);
    if (!number || *number < 0) return {};
    numbers.push_back(*number);
  }
  if (numbers.size() != 2 && numbers.size() != 3) return {};
  const PartName name{static_cast<int>(numbers[0]), numbers[1], numbers.back()};
  if (name.last < name.first || name.file_name() != file_name) return {};  // one spelling only
  return name;
}

PartList list_parts(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) fail("{}: cannot read the folder: {}", folder.string(), error.message());
  std::vector<PartName> names;
  for (const auto& entry : entries) {
    if (const auto name = parse_part_name(entry.path().filename().string())) names.push_back(*name);
  }
  // Of parts that start together the widest comes first, so that one look back finds what covers a part.
  std::sort(names.begin(), names.end(), [](const PartName& a, const PartName& b) {
    return std::tuple(a.writer, a.first, -a.last) < std::tuple(b.writer, b.first, -b.last);
  });
  PartList list;
  for (const auto& name : names) {
    const bool covered =
        !list.parts.empty() && list.parts.back().writer == name.writer && name.last <= list.parts.back().last;
    (covered ? list.covered : list.parts).push_back(name);
  }
  return list;
}

fs::path parts_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path / "rollouts", error) ? path / "rollouts" : path;
}

std::vector<fs::path> part_paths(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) fail("{}: no such file or folder", path.string());
  if (!fs::is_directory(path, error)) return {path};
  const fs::path folder = parts_folder(path);
  std::vector<fs::path> paths;
  for (const auto& name : list_parts(folder).parts) paths.push_back(folder / name.file_name());
  return paths;
}

}  // namespace rlgo::replay
