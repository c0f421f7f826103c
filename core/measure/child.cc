#include "core/measure/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"

namespace rlgo::measure {
namespace {

constexpr size_t kLongestLine = 64 << 20;  // a child that writes more without a line break is talking nonsense

int milliseconds_left(const Stopwatch& watch, double timeout_s) {
  const double left = timeout_s - watch.seconds();
  return left <= 0 ? 0 : static_cast<int>(std::min(left, 3600.0) * 1000.0) + 1;
}

// Between fork and exec: nothing here but system calls. An error goes to `report` as errno.
[[noreturn]] void become(char* const* words, const char* error_file, int in, int out, int report) {
  ::setpgid(0, 0);
  const int err = ::open(error_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  bool good =
      err >= 0 && ::dup2(in, STDIN_FILENO) >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 && ::dup2(err, STDERR_FILENO) >= 0;
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : {SIGINT, SIGTERM, SIGPIPE}) std::signal(s, SIG_DFL);
  if (good) ::execvp(words[0], words);
  const int error = errno;
  good = ::write(report, &error, sizeof error) == sizeof error;
  ::_exit(good ? 127 : 126);
}

// The new process, or -1 with errno.
int spawn(const std::vector<std::string>& command, const std::filesystem::path& error_file, int in, int out) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return -1;
  const int pid = ::fork();
  if (pid == 0) become(words.data(), error_file.c_str(), in, out, report[1]);
  int error = errno;
  ::close(report[1]);
  if (pid > 0) {
    ssize_t n = 0;
    do n = ::read(report[0], &error, sizeof error);
    while (n < 0 && errno == EINTR);
    if (n == 0) error = 0;  // exec closed the pipe
  }
  ::close(report[0]);
  if (pid > 0 && error == 0) return pid;
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  errno = error;
  return -1;
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::filesystem::path& error_file) {
  RLGO_CHECK(!command.empty());
  int in[2], out[2];
  // A socket, so that writing to a dead child is an error and no signal.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0)
    fail("no socket for {}: {}", command[0], std::strerror(errno));
  if (::pipe2(out, O_CLOEXEC) != 0) {
    const int error = errno;
    ::close(in[0]);
    ::close(in[1]);
    fail("no pipe for {}: {}", command[0], std::strerror(error));
  }
  pid_ = spawn(command, error_file, in[1], out[1]);
  const int error = errno;
  ::close(in[1]);
  ::close(out[1]);
  in_ = in[0];
  out_ = out[0];
  if (pid_ < 0) {
    close_pipes();
    fail("cannot start '{}': {}", command[0], std::strerror(error));
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

std::string last_words(const std::filesystem::path& error_file) {
  std::error_code error;
  if (!std::filesystem::exists(error_file, error)) return "";
  std::string text(trim(read_file(error_file)));
  if (text.size() > 400) text = "..." + text.substr(text.size() - 400);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "" : "; its last output: " + text;
}

}  // namespace rlgo::measure
