// One part file of the rollout store: built in memory and written whole, or read episode by episode.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/mdp/mdp.h"
#include "replay/columns.h"
#include "replay/h5.h"
#include "replay/schema.h"

namespace rlgo::replay {

constexpr std::string_view kPartKind = "rollouts";  // in the checksum

class PartWriter {
 public:
  // gzip 0..9, see h5::Filters. `label` names the part in errors.
  PartWriter(std::string label, const StoreHeader& header, int gzip);
  // Throws Error, and adds nothing, where the trajectory does not fit the header's spec. Observations that are coded
  // are not looked at: who coded them has checked them.
  void add(const mdp::Trajectory& trajectory);
  void add(const mdp::CodedTrajectory& trajectory);
  int64_t episodes() const { return episodes_; }
  int64_t steps() const {
    return totals_[static_cast<size_t>(Rows::steps)] + static_cast<int64_t>(pending_.rule.size());
  }
  uint64_t raw_bytes() const { return raw_bytes_ + pending_.size_bytes(); }
  // Writes the file atomically; returns its size in bytes. After a disk error it may be tried again, with nothing
  // added.
  uint64_t save(const std::filesystem::path& path);
  // The same for a name that is to be new: 0 where a file has it; then another name may be tried.
  uint64_t create(const std::filesystem::path& path);

 private:
  void check_spec(const mdp::Trajectory& facts) const;
  void add(const mdp::Trajectory& facts, const mdp::ObservationCodes& observations);
  void spill();  // pending_ to file_
  void complete();

  StoreHeader header_;
  uint64_t spec_hash_;
  int gzip_;
  h5::Writer file_;
  RuleNames rules_;
  EpisodeAppender appender_;
  Columns pending_;
  int64_t totals_[kKindsOfRows] = {};  // rows in file_, by Rows
  int64_t episodes_ = 0;
  uint64_t raw_bytes_ = 0;
  bool first_spill_ = true;
  bool complete_ = false;
};

class PartReader {  // one part of a store
 public:
  // Checks checksum, format, version, and that every dataset has the type and shape of the table. Throws Error naming
  // the path and the reason. `checked_already`: skip the check of the checksum (it reads the whole file).
  explicit PartReader(const std::filesystem::path& path, bool checked_already = false);
  const std::filesystem::path& path() const { return file_.path(); }
  const StoreHeader& header() const { return header_; }
  int64_t episodes() const { return static_cast<int64_t>(step_offset_.size()) - 1; }
  int64_t steps() const { return step_offset_.back(); }
  int64_t steps(int64_t episode) const;
  mdp::Trajectory read(int64_t episode) const;
  // Steps first .. first + count - 1 as a trajectory of their own: `last` is the observation after them, and
  // last_value_rule its value; terminal only where they reach a terminal end.
  mdp::Trajectory read(int64_t episode, int64_t first, int64_t count) const;
  // The per-episode and per-step datasets of all episodes, without observations.
  Columns facts() const;
  const std::vector<std::string>& rule_names() const { return rules_.names(); }

 private:
  // Facts of these steps.
  Columns slice(int64_t episode, int64_t first, int64_t count) const;
  // Observations first .. first + count - 1 of an episode.
  std::vector<mdp::Observation> observations(int64_t episode, int64_t first, int64_t count) const;
  const mdp::Observation& first_observation() const;
  // The first one of an episode.
  mdp::Observation start_observation(int64_t row) const;
  mdp::Observation decode(int64_t row, std::string_view code, const mdp::Observation* base) const;

  h5::Reader file_;
  int64_t version_;
  StoreHeader header_;
  RuleNames rules_;
  std::vector<int64_t> step_offset_, start_offset_;  // the latter empty before version 4
  mutable std::optional<mdp::Observation> first_;    // of the part, once it was asked for
};

}  // namespace rlgo::replay
