#include "core/base/file_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo {
namespace {

// Who left its name in the file: "host node7, process 4711".
std::string holder_of(const std::filesystem::path& path) {
  try {
    std::string text = read_file(path);
    if (const auto end = text.find('\n'); end != std::string::npos) text.resize(end);
    if (!text.empty()) return text;
  } catch (const Error&) {
    // The error below states enough.
  }
  return "another process";
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, const std::string& what) : path_(path) {
  while (!open_and_lock(what)) {
  }
  const std::string name = fmt::format("host {}, process {}\n", host_name(), ::getpid());
  // A holder without its name is still one: the message is poorer.
  if (::ftruncate(file_, 0) == 0) [[maybe_unused]]
    const auto written = ::pwrite(file_, name.data(), name.size(), 0);
}

// False where the file was removed, by the holder before, between opening and locking it.
bool FileLock::open_and_lock(const std::string& what) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) fail("{}: cannot open the lock: {}", path_.string(), std::strerror(errno));
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(file_, F_OFD_SETLK, &whole) != 0) {
    if (errno != EAGAIN && errno != EACCES) return true;
    const std::string holder = holder_of(path_);
    ::close(std::exchange(file_, -1));
    throw Taken(
        fmt::format("{}: {} writes here already; end that process first (it holds {})", what, holder, path_.string()));
  }
  struct stat locked = {}, named = {};
  if (::fstat(file_, &locked) == 0 && ::stat(path_.c_str(), &named) == 0 && locked.st_ino == named.st_ino &&
      locked.st_dev == named.st_dev)
    return holds_ = true;
  ::close(std::exchange(file_, -1));
  return false;
}

void FileLock::release() {
  if (file_ < 0) return;
  if (holds_) ::unlink(path_.c_str());
  ::close(std::exchange(file_, -1));
  holds_ = false;
}

FileLock::~FileLock() { release(); }

FileLock::FileLock(FileLock&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      holds_(std::exchange(other.holds_, false)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(holds_, other.holds_);
  return *this;
}

}  // namespace rlgo
