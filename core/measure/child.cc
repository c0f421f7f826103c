#include "core/measure/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace rlgo::measure {
namespace {

constexpr size_t kLongestLine = 64 << 20;  // a child that writes more without a line break is talking nonsense

int milliseconds_left(const Stopwatch& watch, double timeout_s) {
  const double left = timeout_s - watch.seconds();
  return left <= 0 ? 0 : static_cast<int>(std::min(left, 3600.0) * 1000.0) + 1;
}

// posix_spawn with its two helper objects.
int spawn(const std::vector<std::string>& argv, const std::filesystem::path& error_file, int in, int out) {
  std::vector<char*> arguments;
  for (const auto& a : argv) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, usual;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigemptyset(&usual);
  for (const int s : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&usual, s);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    return -1;
  }
  return pid;
}

}  // namespace

Child::Child(const std::vector<std::string>& argv, const std::filesystem::path& error_file) {
  RLGO_CHECK(!argv.empty());
  int in[2], out[2];
  // A socket, so that writing to a dead child is an error and no signal.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0)
    fail("no socket for {}: {}", argv[0], std::strerror(errno));
  if (::pipe2(out, O_CLOEXEC) != 0) {
    const int error = errno;
    ::close(in[0]);
    ::close(in[1]);
    fail("no pipe for {}: {}", argv[0], std::strerror(error));
  }
  pid_ = spawn(argv, error_file, in[1], out[1]);
  const int error = errno;
  ::close(in[1]);
  ::close(out[1]);
  in_ = in[0];
  out_ = out[0];
  if (pid_ < 0) {
    close_pipes();
    fail("cannot start '{}': {}", argv[0], std::strerror(error));
  }
  ::fcntl(in_, F_SETFL, ::fcntl(in_, F_GETFL) | O_NONBLOCK);
}

Child::~Child() {
  close_pipes();
  // A child that reads its input ends by itself now.
  if (wait_end(0.5) == "still running") {
    kill();
    wait_end(2.0);
  }
  if (pid_ > 0) ::kill(-pid_, SIGKILL);  // what it may have left in its group
}

void Child::close_pipes() {
  for (int* fd : {&in_, &out_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

void Child::kill() {
  if (pid_ > 0 && !status_) ::kill(-pid_, SIGKILL);
}

bool Child::write_line(std::string_view line, double timeout_s) {
  const std::string text = std::string(line) + "\n";
  const Stopwatch watch;
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::send(in_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return false;
    pollfd wanted{in_, POLLOUT, 0};
    const int left = milliseconds_left(watch, timeout_s);
    if (left == 0) return false;
    ::poll(&wanted, 1, left);
  }
  return true;
}

Child::Read Child::read_line(std::string& line, double timeout_s) {
  const Stopwatch watch;
  for (size_t searched = 0;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return Read::line;
    }
    searched = buffer_.size();
    if (buffer_.size() > kLongestLine) return Read::end;
    const int left = milliseconds_left(watch, timeout_s);
    if (left == 0) return Read::timeout;
    pollfd wanted{out_, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, left);
    if (ready < 0 && errno != EINTR) return Read::end;
    if (ready <= 0) continue;
    char bytes[1 << 16];
    const ssize_t n = ::read(out_, bytes, sizeof bytes);
    if (n > 0) {
      buffer_.append(bytes, static_cast<size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      return Read::end;
    }
  }
}

std::string Child::wait_end(double timeout_s) {
  const Stopwatch watch;
  while (pid_ > 0 && !status_) {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) {
      status_ = ended == pid_ ? status : 0;
    } else if (watch.seconds() > timeout_s) {
      return "still running";
    } else {
      ::poll(nullptr, 0, 5);
    }
  }
  if (!status_) return "not started";
  if (WIFSIGNALED(*status_)) return fmt::format("signal {} ({})", WTERMSIG(*status_), ::strsignal(WTERMSIG(*status_)));
  return fmt::format("exit status {}", WEXITSTATUS(*status_));
}

}  // namespace rlgo::measure
