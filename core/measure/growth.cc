#include "core/measure/growth.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"

namespace rlgo::measure {

void run_child(const std::vector<std::string>& words, double most_seconds, const std::function<bool()>& stop,
               GrowthRow& row) {
  const std::string program = program_path().string();
  std::vector<char*> pointers = {const_cast<char*>(program.c_str())};
  for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const Stopwatch watch;
  const pid_t pid = ::fork();
  if (pid < 0) fail("bench growth: no process can be started");
  if (pid == 0) {
    if (std::freopen("/dev/null", "w", stdout) != nullptr) ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  bool ended = false;
  while (::wait4(pid, &status, WNOHANG, &used) == 0) {
    if (!ended && (stop() || watch.seconds() > most_seconds)) ended = ::kill(pid, SIGKILL) == 0;
    ::usleep(10'000);
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  row.seconds = watch.seconds();
  row.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  row.peak_mib = static_cast<double>(used.ru_maxrss) / 1024;
  row.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string csv_of(const std::vector<GrowthRow>& rows) {
  std::string text = "family,operators,part,seconds,cpu_s,peak_mib,status\n";
  for (const GrowthRow& r : rows)
    text += fmt::format("{},{},{},{:.3f},{:.3f},{:.1f},{}\n", r.family, r.operators, r.part, r.seconds, r.cpu_s,
                        r.peak_mib, r.status);
  return text;
}

// The exponent p of time ~ operators^p between the two largest sizes.
std::string exponents_of(const std::vector<GrowthRow>& rows) {
  std::string text;
  for (size_t k = 0; k < rows.size(); ++k) {
    const GrowthRow *last = nullptr, *before = nullptr;
    for (const GrowthRow& r : rows) {
      if (r.family != rows[k].family || r.part != rows[k].part) continue;
      before = std::exchange(last, &r);
    }
    if (last != &rows[k] || before == nullptr) continue;
    const double grown = std::log(static_cast<double>(last->operators) / static_cast<double>(before->operators));
    text +=
        fmt::format("  {:<9} {:<8} time ~ n^{:.2f}, memory ~ n^{:.2f}\n", last->family, last->part,
                    std::log(last->cpu_s / before->cpu_s) / grown, std::log(last->peak_mib / before->peak_mib) / grown);
  }
  return text;
}

}  // namespace rlgo::measure
