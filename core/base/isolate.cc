#include "core/base/isolate.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace rlgo {
namespace {

using End = IsolationResult::End;

constexpr size_t kLongestMessage = 1 << 16;

uint64_t address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(int resource, uint64_t soft, uint64_t hard) {
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &now);
  const rlimit next{std::min<rlim_t>(soft, now.rlim_max), std::min<rlim_t>(hard, now.rlim_max)};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &next);
}

void set_up_child(const IsolationLimits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGINT, SIGTERM, SIGPROF, SIGALRM})
    std::signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CORE, 0, 0);
  const auto seconds = static_cast<uint64_t>(std::max(1.0, std::ceil(limits.cpu_s)));
  limit(RLIMIT_CPU, seconds, seconds + 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve address space by the terabyte
  const uint64_t bytes = address_space_bytes() + limits.memory_bytes;
  limit(RLIMIT_AS, bytes, bytes);
#endif
  std::set_new_handler(nullptr);
  const int quiet = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(quiet, fd);
}

void send(int fd, char kind, std::string_view text) {
  std::string message(1, kind);
  message += text.substr(0, kLongestMessage);
  for (size_t done = 0; done < message.size();) {
    const ssize_t n = ::write(fd, message.data() + done, message.size() - done);
    if (n <= 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<size_t>(n);
  }
}

[[noreturn]] void be_child(const std::function<void()>& work, const IsolationLimits& limits, int out) {
  set_up_child(limits);
  try {
    work();
    send(out, 'g', "");
  } catch (const std::bad_alloc&) {
    send(out, 'm', "");
  } catch (const std::exception& error) {
    send(out, 'r', error.what());
  } catch (...) {
    send(out, 'r', "an exception that is no std::exception");
  }
  ::_exit(0);
}

constexpr double kLook_s = 0.1;  // between looks whether to stop

// All that the child states until it ends; how it ended, as far as that is known here.
End read_all(int fd, const IsolationLimits& limits, std::string& text) {
  const Stopwatch watch;
  for (;;) {
    const double left = limits.wall_s - watch.seconds();
    if (left <= 0) return End::too_long;
    if (limits.should_stop && limits.should_stop()) return End::stopped;
    pollfd wanted{fd, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(std::min(left, limits.should_stop ? kLook_s : 3600.0) * 1000) + 1) <= 0)
      continue;
    char bytes[4096];
    const ssize_t n = ::read(fd, bytes, sizeof bytes);
    if (n > 0) text.append(bytes, static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return End::good;
  }
}

IsolationResult interpret(int status, End end, const std::string& text) {
  if (end == End::stopped) return {end, "was stopped"};
  if (end == End::too_long || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)))
    return {End::too_long, "takes too long"};
  if (WIFSIGNALED(status))
    return {End::crashed, fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))};
  if (text.empty()) return {End::crashed, fmt::format("exit status {}", WEXITSTATUS(status))};
  if (text[0] == 'g') return {};
  if (text[0] == 'm') return {End::too_much_memory, "needs too much memory"};
  return {End::refused, text.substr(1)};
}

}  // namespace

uint64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    uint64_t kib = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %" SCNu64, &kib) == 1) return kib << 10;
  }
  return std::numeric_limits<uint64_t>::max();
}

IsolationResult run_isolated(const std::function<void()>& work, const IsolationLimits& limits) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) fail("no pipe for a process to read in: {}", std::strerror(errno));
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(pipe[0]);
    be_child(work, limits, pipe[1]);
  }
  const int error = errno;
  ::close(pipe[1]);
  if (pid < 0) {
    ::close(pipe[0]);
    fail("cannot start a process to read in: {}", std::strerror(error));
  }
  std::string text;
  const End end = read_all(pipe[0], limits, text);
  ::close(pipe[0]);
  if (end != End::good) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return interpret(status, end, text);
}

}  // namespace rlgo
