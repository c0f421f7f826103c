// Writes the rollout store: a folder of part files, each written whole (temporary, fsync, rename). A killed process
// loses the episodes of its open part, and no others; all parts on disk are readable without repair.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/base/options.h"
#include "core/codec/coded.h"
#include "replay/part.h"

namespace rlgo::replay {

struct WriterOptions {
  int writer = 0;  // number of this writer, one per process that writes into the folder
  int64_t episodes_per_part = 64;
  double seconds_per_part = 10;  // age of a part's first episode at which tick() writes the part; 0 = no such limit
  uint64_t bytes_per_part = uint64_t{256} << 20;  // before compression: bounds the memory of the open part
  int gzip = 2;  // 0..9; 4 saves a tenth of the bytes and costs 40 % more time; compaction packs tighter anyway
};
// Options store.episodes-per-part, store.seconds-per-part.
void declare(OptionSink& sink, WriterOptions& options);

class RolloutWriter {  // episodes to parts of a store
 public:
  // Creates the folder, removes temporaries that a killed run of this writer left, continues the numbering of the parts
  // that are there. Throws Error where the folder cannot be written.
  RolloutWriter(std::filesystem::path folder, StoreHeader header, WriterOptions options = {});
  // Closes as well as it can; errors are lost. Call close() to see them.
  ~RolloutWriter();
  RolloutWriter(const RolloutWriter&) = delete;
  RolloutWriter& operator=(const RolloutWriter&) = delete;

  // Adds an episode; writes the part when it is full. Throws Error where the trajectory does not fit the header's spec
  // (nothing is added then) or the disk fails: the open part is kept, and the next call tries again to write it before
  // it takes more, so memory stays bounded.
  void append(const mdp::Trajectory& trajectory);
  void append(const mdp::CodedTrajectory& trajectory);
  // Shows the time, in seconds of any clock that does not run backwards; writes a part that has become too old.
  void tick(double now_seconds);
  // Writes the open part, if it holds anything.
  void flush();
  // flush(), then no more episodes. May be called again.
  void close();

  int64_t episodes() const { return episodes_; }  // appended since construction
  int64_t steps() const { return steps_; }
  int64_t parts_written() const { return parts_; }   // since construction
  uint64_t bytes_written() const { return bytes_; }  // on disk, since construction

 private:
  template <typename Any>
  void append_any(const Any& trajectory, const mdp::Trajectory& facts);

  std::filesystem::path folder_;
  StoreHeader header_;
  WriterOptions options_;
  int64_t number_ = 0;  // of the open part
  std::unique_ptr<PartWriter> part_;
  bool full_ = false;  // the open part must be written before it takes more
  std::optional<double> opened_seconds_;
  int64_t episodes_ = 0, steps_ = 0, parts_ = 0;
  uint64_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace rlgo::replay
