// Event files that TensorBoard reads while a run continues: scalars by step, and the run's options as hyper-parameters.
// The format is TFRecord (length, checksum, bytes, checksum; checksums are masked CRC-32C) around Event messages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "learner/metrics.h"

namespace rlgo::learner {

// An option: true or false, a number, a text.
using HyperParameter = std::pair<std::string, std::variant<bool, double, std::string>>;

class TensorBoardFile {
 public:
  // A new file events.out.tfevents.TIME.HOST in `folder`, which is made. `wall_s`: seconds since 1970. Where the folder
  // has files of the same run before, what they hold at `from_step` and later no longer counts. Throws Error where it
  // cannot be written.
  TensorBoardFile(const std::filesystem::path& folder, double wall_s, int64_t from_step,
                  const std::vector<HyperParameter>& options);
  // A scalar for each number of the row that is finite, under its name; on disk afterwards. A full disk is left to the
  // files that a run needs: from then on nothing is written.
  void write(const MetricRow& row, int64_t step, double wall_s);

 private:
  void event(double wall_s, int64_t step, std::string_view what);

  std::ofstream out_;
};

// Castagnoli's polynomial, as in iSCSI; "123456789" is 0xE3069283.
uint32_t crc32c(std::string_view bytes);

}  // namespace rlgo::learner
