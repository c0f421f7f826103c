#include "replay/reader.h"

#include "core/base/error.h"
#include "replay/parts.h"

namespace rlgo::replay {

RolloutReader::RolloutReader(const std::filesystem::path& path, bool skip_broken)
    : paths_(part_paths(path)), skip_broken_(skip_broken) {}

bool RolloutReader::open_next() {
  while (next_path_ < paths_.size()) {
    const auto& path = paths_[next_path_++];
    try {
      part_.emplace(path);
      next_episode_ = 0;
      return true;
    } catch (const Error& error) {
      if (!skip_broken_) throw;
      part_.reset();
      broken_.push_back({path, error.what()});
    }
  }
  return false;
}

std::optional<mdp::Trajectory> RolloutReader::next() {
  while (!part_ || next_episode_ >= part_->episodes()) {
    if (!open_next()) return {};
  }
  return part_->read(next_episode_++);
}

}  // namespace rlgo::replay
