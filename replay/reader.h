// Reads a rollout store back, episode by episode, part by part.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/mdp/mdp.h"
#include "replay/part.h"

namespace rlgo::replay {

struct BrokenPart {
  std::filesystem::path path;
  std::string reason;
};

class RolloutReader {  // episodes of a store, one by one
 public:
  // `path`: a part, a folder of parts, or a run folder. Parts that are truncated, altered or foreign are refused with
  // an Error that names them, or, with skip_broken, left out and listed by broken().
  explicit RolloutReader(const std::filesystem::path& path, bool skip_broken = false);
  // The next episode in the order of writer, part and position; nothing at the end. Reads one episode at a time.
  std::optional<mdp::Trajectory> next();
  // Of the part that the last episode came from; requires one.
  const PartReader& part() const { return *part_; }
  // Parts left out so far.
  const std::vector<BrokenPart>& broken() const { return broken_; }

 private:
  bool open_next();

  std::vector<std::filesystem::path> paths_;
  bool skip_broken_;
  size_t next_path_ = 0;
  std::optional<PartReader> part_;
  int64_t next_episode_ = 0;
  std::vector<BrokenPart> broken_;
};

}  // namespace rlgo::replay
