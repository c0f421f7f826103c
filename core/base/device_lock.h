// Processes of one machine that use the same GPU: they share it, have it alone for as long as they time something, and
// no two jobs train on it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace rlgo {

// Locks on a file of the device (fcntl, on the open file: they end with the process). Where the file cannot be made
// there are no locks, and nobody waits.
class DeviceLock {
 public:
  // Keeps a lock until it is destroyed.
  using Hold = std::shared_ptr<void>;

  // `device`: the same text in all processes, its address on the bus. `folder`: of the files; "": the system's for
  // temporary files.
  explicit DeviceLock(const std::string& device, std::filesystem::path folder = {});

  // Next to others that share it. Waits while one has it alone, or waits for that.
  Hold share() const;
  // Waits until nobody shares it.
  Hold alone() const;
  // For a whole job, next to the two above. Null where another process has it; `holder` is that one then.
  Hold claim(std::string& holder) const;

 private:
  std::filesystem::path path_;
};

}  // namespace rlgo
