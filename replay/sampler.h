// Uniform samples of a rollout store: whole episodes, or sequences of consecutive steps for the world model.
#pragma once

#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/mdp/mdp.h"
#include "replay/reader.h"

namespace rlgo::replay {

class Sampler {
 public:
  // Parts as for RolloutReader, all with the spec of the first (Error otherwise); broken ones are left out when
  // skip_broken. Samples depend on the store's contents and `rng` alone.
  Sampler(std::filesystem::path path, Rng rng, bool skip_broken = false);
  // Looks for parts that came or went, and continues with `rng`. Parts that it knows are not checked again (a part's
  // checksum is over all of it, and parts never change), so that this costs what is new, not the whole store.
  void refresh(Rng rng);

  int64_t episodes() const { return static_cast<int64_t>(episodes_.size()); }
  int64_t steps() const { return steps_; }
  const mdp::ObservationSpec& spec() const { return spec_; }
  const std::vector<BrokenPart>& broken() const { return broken_; }
  const Rng& rng() const { return rng_; }  // its state can be saved and given to another Sampler

  // Each episode with the same chance. Throws Error where there is none.
  mdp::Trajectory episode();
  // `length` consecutive steps of one episode, each such run of steps with the same chance. Throws Error where no
  // episode is that long. See PartReader::read for what `last` and `terminal` are then.
  mdp::Trajectory sequence(int64_t length);

 private:
  // What is known of a part.
  struct Part {
    std::vector<int64_t> steps;  // of each episode
    mdp::ObservationSpec spec;
    std::string broken;  // why it is; "": it is not
  };
  struct Place {
    size_t part;
    int64_t index;  // in the part
    int64_t steps;
  };
  const Part& known(const std::filesystem::path& path);
  void add(const std::filesystem::path& path);
  const PartReader& part(size_t index);
  // Steps first .. first + count - 1 of an episode (count -1: all). Nothing where its part turns out to be broken,
  // which then is left out.
  std::optional<mdp::Trajectory> read(const Place& place, int64_t first, int64_t count);

  std::filesystem::path path_;
  bool skip_broken_;
  std::map<std::filesystem::path, Part> known_;
  std::vector<std::filesystem::path> paths_;
  std::vector<Place> episodes_;
  std::list<std::pair<size_t, PartReader>> open_;  // the most recently used parts, newest first
  mdp::ObservationSpec spec_;
  int64_t steps_ = 0;
  std::vector<BrokenPart> broken_;
  Rng rng_;
  // For each sequence length asked for last: runs of steps that start in episodes before this one.
  int64_t length_ = 0;
  std::vector<int64_t> starts_before_;
};

}  // namespace rlgo::replay
