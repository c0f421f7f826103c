#include "core/base/device_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo {
namespace {

// Bytes of the file, a lock each. The process that waits for `use` holds `turn`, so that those who share it cannot keep
// it from one that wants it alone.
enum Byte : off_t { turn, use, job };

int open_file(const std::filesystem::path& path) {
  // Without O_CREAT first: the system forbids it for others' files in a folder for all.
  int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) {
    file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0) ::fchmod(file, 0666);  // whatever the umask: other users' jobs use the device, too
  }
  return file;
}

// False where another process has it (only where `wait` is not set).
bool lock(int file, Byte byte, short type, bool wait) {
  struct flock one = {};
  one.l_type = type;
  one.l_whence = SEEK_SET;
  one.l_start = byte;
  one.l_len = 1;
  while (::fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &one) != 0) {
    if (errno != EINTR) return errno != EAGAIN && errno != EACCES;
  }
  return true;
}

DeviceLock::Hold hold(int file) {
  return {reinterpret_cast<void*>(static_cast<intptr_t>(file) + 1),
          [](void* one) { ::close(static_cast<int>(reinterpret_cast<intptr_t>(one) - 1)); }};
}

DeviceLock::Hold take(const std::filesystem::path& path, short type) {
  const int file = open_file(path);
  if (file < 0) return {};
  lock(file, turn, F_WRLCK, true);
  lock(file, use, type, true);
  lock(file, turn, F_UNLCK, true);
  return hold(file);
}

}  // namespace

DeviceLock::DeviceLock(const std::string& device, std::filesystem::path folder) {
  std::error_code none;
  if (folder.empty()) folder = std::filesystem::temp_directory_path(none);
  path_ = folder / ("rlgo-gpu-" + device + ".lock");
}

DeviceLock::Hold DeviceLock::share() const { return take(path_, F_RDLCK); }

DeviceLock::Hold DeviceLock::alone() const { return take(path_, F_WRLCK); }

DeviceLock::Hold DeviceLock::claim(std::string& holder) const {
  const int file = open_file(path_);
  if (file < 0) return std::make_shared<int>(0);
  if (!lock(file, job, F_WRLCK, false)) {
    char text[256] = {};
    if (::pread(file, text, sizeof text - 1, 0) <= 0) text[0] = 0;
    holder = std::string(text).substr(0, std::string(text).find('\n'));
    if (holder.empty()) holder = "another process";
    ::close(file);
    return {};
  }
  const std::string name = fmt::format("host {}, process {}\n", host_name(), ::getpid());
  if (::ftruncate(file, 0) == 0) [[maybe_unused]]
    const auto written = ::pwrite(file, name.data(), name.size(), 0);
  return hold(file);
}

}  // namespace rlgo
