#include "learner/session/scale_job.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "learner/metrics.h"

namespace rlgo::learner {
namespace fs = std::filesystem;
namespace {

void sleep_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

fs::path scratch_folder() {
  std::string pattern = (fs::temp_directory_path() / "rlgo-scale-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail("cannot make a folder in {}", fs::temp_directory_path().string());
  return pattern;
}

// One thread a rank, as launch/run.sh has it; and who runs this as root means it.
}  // namespace

std::vector<std::string> command_of(const ScaleJobOptions& options, const fs::path& config) {
  std::vector<std::string> command = {"env",
                                      "OMP_NUM_THREADS=1",
                                      "OMPI_MCA_mpi_yield_when_idle=1",
                                      "OMPI_ALLOW_RUN_AS_ROOT=1",
                                      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                      "OMPI_MCA_btl_vader_single_copy_mechanism=none",
                                      "OMPI_MCA_smsc=^cma,knem,xpmem"};  // Open MPI 5's name for the same
  const size_t launcher = command.size();
  for (const auto& word : split(options.launcher, ' ')) {
    if (!word.empty()) command.push_back(word);
  }
  const auto ranks = fmt::format("{}", options.actors + options.learners);
  if (command.size() > launcher && fs::path(command[launcher]).filename() == "srun") {
    const auto names_mpi = [](const std::string& word) { return word.starts_with("--mpi"); };
    if (std::ranges::none_of(command, names_mpi)) command.emplace_back("--mpi=pmix");
    command.insert(command.end(), {"-n", ranks});
  } else {
    command.insert(command.end(), {"-np", ranks});
  }
  command.insert(command.end(), {options.program, "train", "--config", config.string()});
  return command;
}

RunMetrics::RunMetrics(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return;
  const auto lines = split(read_file(file), '\n');
  columns = parse_csv_line(lines[0]);
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    auto cells = parse_csv_line(lines[i]);
    if (cells.size() == columns.size()) rows.push_back(std::move(cells));
  }
}

double RunMetrics::at(size_t row, const std::string& column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) fail("metrics.csv has no column {}", column);
  return std::strtod(rows.at(row)[static_cast<size_t>(found - columns.begin())].c_str(), nullptr);
}

ScaleJob::ScaleJob(const ScaleJobOptions& options)
    : scratch_(scratch_folder()), actors_(options.actors), stop_(options.stop) {
  atomic_write(scratch_ / "run.cfg", options.config(scratch_));
  child_ = std::make_unique<measure::Child>(command_of(options, scratch_ / "run.cfg"), scratch_ / "errors");
}

ScaleJob::~ScaleJob() {
  for (const auto& [rank, use] : ranks(false)) ::kill(use.pid, SIGKILL);
  child_->kill();
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

size_t ScaleJob::wait_for_actors(double timeout_s) const {
  const Stopwatch watch;
  while (watch.seconds() < timeout_s) {
    wait(0.2);
    const RunMetrics now = metrics();
    for (size_t row = 0; row < now.rows.size(); ++row) {
      if (now.at(row, "actors") >= actors_) return row;
    }
  }
  fail("bench scale: after {:.0f} s the {} actors were not all at work", timeout_s, actors_);
}

void ScaleJob::wait(double seconds) const {
  const Stopwatch watch;
  do {
    check();
    sleep_s(std::min(0.2, seconds));
  } while (watch.seconds() < seconds);
}

void ScaleJob::hold_learner() {
  const int pid = ranks(false)[0].pid;
  if (pid <= 0 || ::kill(pid, SIGSTOP) != 0) fail("bench scale: the learner's process is gone");
}

void ScaleJob::check() const {
  if (stop_()) fail("bench scale: interrupted");
  const std::string end = child_->wait_end(0);
  if (end != "still running") fail("bench scale: the run ended ({}):\n{}", end, read_file(scratch_ / "errors"));
}

}  // namespace rlgo::learner
