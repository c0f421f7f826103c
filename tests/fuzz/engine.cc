#include "tests/fuzz/engine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "tests/fuzz/targets.h"

namespace rlgo::fuzz {
namespace fs = std::filesystem;

const std::string kSecret = "SECRET-BYTES-OUTSIDE-THE-FOLDER!";

namespace {

// What worker and parent share.
struct Board {
  std::atomic<uint64_t> at{0};  // the input that is being read
  std::atomic<uint64_t> done{0}, accepted{0}, peak_bytes{0};
  std::atomic<bool> asked_for_too_much{false};
  char what[256] = {};
};
Board* board = nullptr;

class SharedBoard {
 public:
  SharedBoard() : before_(board) {
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    RLGO_CHECK(memory != MAP_FAILED);
    board = new (memory) Board;
  }
  ~SharedBoard() {
    ::munmap(board, sizeof(Board));
    board = before_;
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

 private:
  Board* before_;
};

// in/ is the target's, outside/ holds secrets, cwd/ is the current folder of the workers.
class Scratch {
 public:
  Scratch() {
    const fs::path shm("/dev/shm");
    std::string name = ((::access(shm.c_str(), W_OK) == 0 ? shm : fs::temp_directory_path()) / "rlgo-fuzz-XXXXXX");
    RLGO_CHECK(::mkdtemp(name.data()) != nullptr);
    root_ = name;
    for (const char* part : {"in", "outside", "cwd"}) fs::create_directory(root_ / part);
    std::string secret;
    while (secret.size() < 4096) secret += kSecret;
    std::ofstream(root_ / "outside" / "secret.bin") << secret;
    fs::create_symlink("../outside/secret.bin", root_ / "in" / "link.bin");
    std::ofstream(root_ / "in" / "weights.bin") << std::string(4096, '\x3f');
    before_ = listing();
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  fs::path in() const { return root_ / "in"; }
  fs::path cwd() const { return root_ / "cwd"; }
  std::vector<std::string> strays() const {
    std::vector<std::string> found, now = listing();
    std::ranges::set_symmetric_difference(before_, now, std::back_inserter(found));
    return found;
  }

 private:
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      const auto path = fs::relative(entry.path(), root_).string();
      if (path.starts_with("in/")) continue;
      names.push_back(path + (entry.is_regular_file() ? " " + std::to_string(entry.file_size()) : ""));
    }
    std::ranges::sort(names);
    return names;
  }
  fs::path root_;
  std::vector<std::string> before_;
};

uint64_t address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit_worker(const Limits& limits) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve address space by the terabyte
  const rlimit memory{address_space_bytes() + limits.memory_bytes, address_space_bytes() + limits.memory_bytes};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  const rlimit core{0, 0};
  ::setrlimit(RLIMIT_CORE, &core);
  std::set_new_handler([] {
    if (board) board->asked_for_too_much = true;
    throw std::bad_alloc();
  });
  const int quiet = ::open("/dev/null", O_WRONLY);
  ::dup2(quiet, STDERR_FILENO);
  ::dup2(quiet, STDOUT_FILENO);
}

void report(const char* what) { std::strncpy(board->what, what, sizeof board->what - 1); }

// Ends the worker with status 1 where the reader does what it must not.
void read_one(const Target& target, const std::string& input, const fs::path& folder, const Limits& limits) {
  const itimerval timer{{0, 0}, {limits.cpu_s, 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
  try {
    target.run(input, folder);
    ++board->accepted;
  } catch (const Error&) {
    // Refused.
  } catch (const std::exception& error) {
    report(error.what());
    ::_exit(1);
  } catch (...) {
    report("not even a std::exception");
    ::_exit(1);
  }
  if (board->asked_for_too_much) ::_exit(1);
  ++board->done;
}

using InputOf = std::function<std::string(uint64_t index)>;

[[noreturn]] void work(const Target& target, const InputOf& input_of, uint64_t first, uint64_t end,
                       const Scratch& scratch, const Limits& limits) {
  if (::chdir(scratch.cwd().c_str()) != 0) ::_exit(2);
  limit_worker(limits);
  for (uint64_t index = first; index < end; ++index) {
    const std::string input = input_of(index);
    board->at = index;
    read_one(target, input, scratch.in(), limits);
    if (index % 256 == 0 || index + 1 == end) {
      rusage use{};
      ::getrusage(RUSAGE_SELF, &use);
      board->peak_bytes = std::max(board->peak_bytes.load(), static_cast<uint64_t>(use.ru_maxrss) * 1024);
    }
  }
  ::_exit(0);
}

// The worker's end; kills it where an input takes longer than it may.
int wait_for(pid_t pid, const Limits& limits) {
  uint64_t at = board->at;
  Stopwatch since;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    RLGO_CHECK(ended == 0 || errno == EINTR);
    if (board->at != at) {
      at = board->at;
      since.restart();
    }
    if (since.seconds() > limits.wall_s) ::kill(pid, SIGKILL);
    ::usleep(2000);
  }
}

std::string describe(int status, const Limits& limits) {
  if (board->asked_for_too_much) return fmt::format("more than {} MiB", limits.memory_bytes >> 20);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGPROF) return fmt::format("more than {} s of processor time", limits.cpu_s);
    if (signal == SIGKILL) return fmt::format("more than {:.0f} s", limits.wall_s);
    return fmt::format("signal {}", signal);
  }
  return fmt::format("exit status {}: {}", WEXITSTATUS(status), board->what);
}

Tally run(const Target& target, const InputOf& input_of, uint64_t first, uint64_t count, const Limits& limits,
          size_t most_faults);

// Whether the input does no harm behind the target's protection.
bool is_contained(const Target& target, const std::string& input, const Limits& limits) {
  if (!target.contained) return false;
  Target protected_target = target;
  protected_target.run = std::exchange(protected_target.contained, {});
  const auto tally = run(
      protected_target, [&](uint64_t) { return input; }, 0, 1, limits, 1);
  return tally.faults.empty() && tally.strays.empty();
}

Tally run(const Target& target, const InputOf& input_of, uint64_t first, uint64_t count, const Limits& limits,
          size_t most_faults) {
  const SharedBoard shared;
  const Scratch scratch;
  const Stopwatch watch;
  Tally tally;
  for (uint64_t next = first; next < first + count && tally.faults.size() < most_faults;) {
    board->at = next;
    board->asked_for_too_much = false;
    board->what[0] = '\0';
    const pid_t pid = ::fork();
    RLGO_CHECK(pid >= 0);
    if (pid == 0) work(target, input_of, next, first + count, scratch, limits);
    const int status = wait_for(pid, limits);
    next = board->at + 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    Fault fault{board->at, describe(status, limits), input_of(board->at)};
    auto& list = is_contained(target, fault.input, limits) ? tally.contained : tally.faults;
    list.push_back(std::move(fault));
  }
  tally.inputs = board->done + tally.faults.size() + tally.contained.size();
  tally.accepted = board->accepted;
  tally.peak_bytes = board->peak_bytes;
  tally.seconds = watch.seconds();
  tally.strays = scratch.strays();
  return tally;
}

}  // namespace

std::string input_of(const Target& target, const Corpus& corpus, uint64_t seed, uint64_t index) {
  Rng rng({seed, index});
  return target.mutate(corpus, rng);
}

Tally fuzz(const Target& target, const Corpus& corpus, uint64_t seed, uint64_t first, uint64_t count,
           const Limits& limits, size_t most_faults) {
  RLGO_CHECK(!corpus.empty());
  return run(
      target, [&](uint64_t index) { return input_of(target, corpus, seed, index); }, first, count, limits, most_faults);
}

Tally run_one(const Target& target, const std::string& input, const Limits& limits) {
  return run(
      target, [&](uint64_t) { return input; }, 0, 1, limits, 1);
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> list;
    for (auto&& part : {text_targets(), byte_targets(), h5_targets(), onnx_targets(), measurer_targets()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

const Target& find_target(const std::string& name) {
  for (const auto& target : targets()) {
    if (target.name == name) return target;
  }
  fail("no fuzz target is named '{}'", name);
}

}  // namespace rlgo::fuzz
