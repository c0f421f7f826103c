// Everything that a run needs to continue: plain tensors, texts, counters, numbers and random streams, without code.
// One HDF5 file per checkpoint, written with a hash over all of it (replay/checksum.h): a file that is truncated or
// altered is refused.
//
// File: /tensors/<name> (float16 and bfloat16 as uint16, bool as uint8), /tensor_names and /tensor_dtypes;
// /texts/<name> (UTF-8 bytes); /counters/{name,value}, /numbers/{name,value}, /streams/{name,value}; attributes format
// and version.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/base/rng.h"

namespace rlgo::learner {

// A tensor without LibTorch; torch_tensors.h converts. dtype: float64 float32 float16 bfloat16 int64 int32 int16 int8
// uint8 bool. bytes: row-major, little-endian, contiguous.
struct TensorData {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
  bool operator==(const TensorData&) const = default;
};

// Names may hold any characters but a zero byte; tensor and text names no empty part between slashes, and none that is
// the folder of another ("a" and "a/b").
struct Checkpoint {
  std::map<std::string, TensorData> tensors;
  std::map<std::string, std::string> texts;  // options, hash of the rule set, names
  std::map<std::string, int64_t> counters;   // epoch, weights version, steps
  std::map<std::string, double> numbers;     // best cost, learning rate
  std::map<std::string, Rng::State> streams;
  bool operator==(const Checkpoint&) const = default;
};

// The same as bytes, for another rank, and back. The bytes are equal where the checkpoints are.
std::string encode(const Checkpoint& checkpoint);
Checkpoint decode_checkpoint(std::string_view bytes);

// Writes atomically. Throws Error where the disk fails or a tensor's bytes do not match its shape.
void save(const Checkpoint& checkpoint, const std::filesystem::path& path);
// Throws Error that names the file and states why it is refused.
Checkpoint load(const std::filesystem::path& path);

struct Refused {  // a checkpoint that could not be read
  std::filesystem::path path;
  std::string reason;
};
struct Latest {
  std::optional<Checkpoint> checkpoint;  // nothing where the folder has no valid one
  std::filesystem::path path;
  int64_t number = -1;
  std::vector<Refused> refused;  // newer ones that were passed over
};
// The valid checkpoint with the highest number in a folder of checkpoint-<number>.h5 files. A missing folder is empty.
Latest latest(const std::filesystem::path& folder);

struct CheckpointOptions {
  int64_t every = 5;  // epochs between checkpoints, >= 1
  int keep = 3;       // that are kept, >= 1
};
// Options checkpoint.*.
void declare(OptionSink& sink, CheckpointOptions& options);

// The text of a checkpoint that lists the numbers of the checkpoints that its run has written ("1,4,5").
constexpr const char* kOwnCheckpoints = "checkpoints";

// The checkpoints of one run: of those that it has written it keeps the newest `keep_last` and the one with the lowest
// score; others in the folder stay. One object for a run: what it knows of a file it does not read again.
class CheckpointFolder {
 public:
  // Creates the folder, removes temporaries of a killed run. `before`: texts of the checkpoint that the run continues
  // from. Throws Error where the folder cannot be written.
  explicit CheckpointFolder(std::filesystem::path folder, int keep_last = 3,
                            const std::map<std::string, std::string>& before = {});
  // Writes checkpoint-<number>.h5, then removes what need not be kept. `score` (lower is better: the best cost) is kept
  // in the file as numbers["score"]; a broken file has none. Returns the path.
  std::filesystem::path save(Checkpoint checkpoint, int64_t number, std::optional<double> score = {}) const;
  // As best_checkpoint(), of this object's folder.
  std::optional<std::filesystem::path> best() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::optional<double> score_of(int64_t number) const;

  std::filesystem::path folder_;
  int keep_last_;
  // Of files that this object has written or read once: a file's hash is over all of it, and files never change.
  mutable std::map<int64_t, std::optional<double>> scores_;
  mutable std::set<int64_t> own_;  // written by this run
};

// The path of the checkpoint in a folder with the lowest score; nothing where none has a score. Reads only.
std::optional<std::filesystem::path> best_checkpoint(const std::filesystem::path& folder);
// Of a folder of checkpoints the one with the lowest score, or the newest where none has one. Throws Error where there
// is no valid one.
Checkpoint best_or_latest(const std::filesystem::path& folder);

}  // namespace rlgo::learner
