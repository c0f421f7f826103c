#include "core/base/file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>

#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"

namespace rlgo {
namespace fs = std::filesystem;
namespace {

constexpr size_t kReadBytes = 1 << 20;
constexpr int kMostLinks = 40;  // as many as Linux follows

std::string reason() { return std::strerror(errno); }

void sync_path(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags);
  if (fd < 0) fail("{}: cannot open to flush: {}", path.string(), reason());
  const int status = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some file systems do not know how to flush a folder (EINVAL): the rename is then as safe as it can be there.
  if (status != 0 && error != EINVAL) {
    errno = error;
    fail("{}: cannot flush to disk: {}", path.string(), reason());
  }
}

// Writes to `at`; errors name `path`, the file that was asked for.
void write_all(const fs::path& at, std::string_view bytes, const fs::path& path, int flags = O_CREAT | O_EXCL) {
  const int fd = ::open(at.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644);
  if (fd < 0) fail("{}: cannot create: {}", path.string(), reason());
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::close(fd);
      errno = error;
      fail("{}: cannot write: {}", path.string(), reason());
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  if (::close(fd) != 0) fail("{}: cannot close: {}", path.string(), reason());
}

// Where what is written to `path` belongs: links are followed, so that they stay links. Nothing where `path` is there
// and no file that could be replaced by another one: a terminal, a pipe, /dev/null, /dev/stdout.
std::optional<fs::path> replaceable(const fs::path& path) {
  std::error_code error;
  const auto kind = fs::status(path, error).type();
  if (kind == fs::file_type::directory) fail("{}: is a folder, not a file", path.string());
  if (kind == fs::file_type::none) fail("{}: cannot be written: {}", path.string(), error.message());
  if (kind != fs::file_type::regular && kind != fs::file_type::not_found) return std::nullopt;
  fs::path at = path;
  for (int k = 0; k < kMostLinks && fs::is_symlink(at, error); ++k) {
    const fs::path to = fs::read_symlink(at, error);
    at = to.is_absolute() ? to : at.parent_path() / to;
    if (at.string().starts_with("/proc/")) return std::nullopt;  // an open file of a process
  }
  return at;
}

// Of no other process, on any machine that sees the folder: x.h5 -> x.h5.tmp-HOST-PID-RANDOM. Of a name that would get
// too long by it, the beginning.
fs::path temporary_beside(const fs::path& path) {
  const std::string end = fmt::format(".tmp-{}-{}-{:08x}", host_name(), ::getpid(), std::random_device()());
  return path.parent_path() / (path.filename().string().substr(0, NAME_MAX - end.size()) + end);
}

// Why no file can be made next to `path`; "" where one can. Makes one: permissions do not show everything (read-only
// and full disks, /proc).
std::string why_not_writable(const fs::path& path) {
  const fs::path probe = temporary_beside(path);
  std::string why;
  try {
    write_all(probe, "probe", path.parent_path());
  } catch (const Error& e) {
    why = e.what();
  }
  ::unlink(probe.c_str());
  return why;
}

// Gives the temporary its name, unless a file has it: false then.
bool rename_to_new(const fs::path& temporary, const fs::path& path) {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  // File systems without that call (NFS among them) know links, which do not replace either.
  if (::link(temporary.c_str(), path.c_str()) == 0) return ::unlink(temporary.c_str()), true;
  if (errno == EEXIST) return false;
  // Neither: as safe as it can be there.
  std::error_code ignored;
  if (fs::exists(path, ignored)) return false;
  if (::rename(temporary.c_str(), path.c_str()) == 0) return true;
  fail("{}: cannot rename into place: {}", path.string(), reason());
}

// Writes a temporary, flushes it, gives it its name by `put`; whatever fails, no temporary is left.
void write_beside(const fs::path& path, const std::function<void(const fs::path&)>& write,
                  const std::function<void(const fs::path& temporary)>& put) {
  const fs::path temporary = temporary_beside(path);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  try {
    write(temporary);
    sync_path(temporary, O_RDONLY);
    put(temporary);
    sync_path(folder, O_RDONLY | O_DIRECTORY);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail("{}: is a folder, not a file", path.string());
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("{}: cannot open: {}", path.string(), reason());
  std::string bytes;
  for (;;) {
    const size_t done = bytes.size();
    bytes.resize(done + kReadBytes);
    const ssize_t n = ::read(fd, bytes.data() + done, kReadBytes);
    const int error = errno;
    bytes.resize(done + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n > 0 || (n < 0 && error == EINTR)) continue;
    ::close(fd);
    if (n == 0) return bytes;
    errno = error;
    fail("{}: cannot read: {}", path.string(), reason());
  }
}

void atomic_write(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  const auto place = replaceable(path);
  if (!place) {
    const TemporaryFolder folder("rlgo-write");
    write(folder.path() / "bytes");
    write_all(path, read_file(folder.path() / "bytes"), path, O_APPEND);
    return;
  }
  write_beside(*place, write, [&](const fs::path& temporary) {
    if (::rename(temporary.c_str(), place->c_str()) != 0)
      fail("{}: cannot rename into place: {}", path.string(), reason());
  });
}

void atomic_write(const fs::path& path, std::string_view bytes) {
  atomic_write(path, [&](const fs::path& temporary) { write_all(temporary, bytes, path); });
}

void check_destination(const fs::path& path) {
  const auto place = replaceable(path);
  if (!place) return;
  const fs::path folder = place->has_parent_path() ? place->parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error)) fail("{}: there is no folder {}", path.string(), folder.string());
  if (const auto why = why_not_writable(folder / place->filename()); !why.empty())
    fail("{}: folder is not writable: {}", path.string(), why);
}

void keep_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) fail("/dev/null: cannot open: {}", reason());
  }
}

bool flush_standard_streams() {
  const bool whole = std::fflush(nullptr) == 0 && std::ferror(stdout) == 0;
  if (whole || errno == EPIPE) return true;
  std::fprintf(stderr, "rlgo: error: standard output cannot be written: %s\n", std::strerror(errno));
  return false;
}

bool atomic_create(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  bool created = false;
  write_beside(path, write, [&](const fs::path& temporary) {
    created = rename_to_new(temporary, path);
    if (!created) ::unlink(temporary.c_str());
  });
  return created;
}

bool atomic_create(const fs::path& path, std::string_view bytes) {
  return atomic_create(path, [&](const fs::path& temporary) { write_all(temporary, bytes, path); });
}

void make_writable_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("{}: cannot create folder: {}", folder.string(), error.message());
  if (const auto why = why_not_writable(folder / ".probe"); !why.empty())
    fail("{}: folder is not writable: {}", folder.string(), why);
}

bool is_temporary_in_use(const fs::path& temporary) {
  const std::string name = temporary.filename().string();
  const auto at = name.find(".tmp-");
  if (at == std::string::npos) return false;
  const auto words = split(std::string_view(name).substr(at + 5), '-');  // the host's name may hold '-' too
  if (words.size() < 3) return false;
  const auto pid = parse_int(words[words.size() - 2]);
  const std::vector<std::string> host(words.begin(), words.end() - 2);
  if (!pid || *pid <= 0 || join(host, "-") != host_name()) return false;
  return ::kill(static_cast<pid_t>(*pid), 0) == 0 || errno == EPERM;
}

int remove_stale_temporaries(const fs::path& folder, std::string_view stem) {
  int removed = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(stem) || name.find(".tmp-") == std::string::npos) continue;
    if (!is_temporary_in_use(entry.path())) removed += fs::remove(entry.path(), error) ? 1 : 0;
  }
  return removed;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "?";
}

fs::path program_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

fs::path code_path() {
  Dl_info info = {};
  std::error_code error;
  // Of a program the loader shows the name under which it was started, which may be relative to another folder.
  if (::dladdr(reinterpret_cast<const void*>(&code_path), &info) == 0 || info.dli_fname == nullptr)
    return program_path();
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error || file.filename().string().find(".so") == std::string::npos ? program_path() : file;
}

}  // namespace rlgo
