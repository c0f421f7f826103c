#include "learner/session/process_use.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace rlgo::learner {
namespace fs = std::filesystem;
namespace {

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Its rank, where it is one of an Open MPI job.
std::optional<int> rank_of(const fs::path& folder) {
  std::istringstream variables(content(folder / "environ"));
  for (std::string variable; std::getline(variables, variable, '\0');) {
    constexpr std::string_view kName = "OMPI_COMM_WORLD_RANK=";
    if (variable.starts_with(kName)) return number(variable.substr(kName.size()));
  }
  return {};
}

double cpu_seconds(const fs::path& folder) {
  const std::string stat = content(folder / "stat");
  const auto name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void read_memory(const fs::path& folder, ProcessUse& use) {
  std::istringstream lines(content(folder / "smaps_rollup"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    uint64_t kilobytes = 0;
    fields >> name >> kilobytes;
    if (name == "Rss:") use.resident_bytes = kilobytes * 1024;
    if (name == "Private_Clean:" || name == "Private_Dirty:") use.private_bytes += kilobytes * 1024;
  }
}

}  // namespace

std::map<int, ProcessUse> ranks_of(const std::string& mark, bool memory) {
  std::map<int, ProcessUse> ranks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto pid = number(entry.path().filename().string());
    if (!pid || content(entry.path() / "cmdline").find(mark) == std::string::npos) continue;
    const auto rank = rank_of(entry.path());
    if (!rank) continue;
    ProcessUse use;
    use.pid = *pid;
    use.cpu_s = cpu_seconds(entry.path());
    double run_ns = 0, ready_ns = 0;
    if (std::istringstream(content(entry.path() / "schedstat")) >> run_ns >> ready_ns) use.ready_s = ready_ns * 1e-9;
    if (memory) read_memory(entry.path(), use);
    ranks[*rank] = use;
  }
  return ranks;
}

}  // namespace rlgo::learner
