// A run under mpirun that rlgo bench scale watches.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/measure/child.h"
#include "learner/session/process_use.h"

namespace rlgo::learner {

// metrics.csv of a run as it is now: whole rows only.
struct RunMetrics {
  explicit RunMetrics(const std::filesystem::path& file);
  // Throws Error where there is no such column.
  double at(size_t row, const std::string& column) const;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct ScaleJobOptions {
  int actors = 1;
  int learners = 1;      // ranks that come before the actors'
  std::string launcher;  // words of the command that starts ranks; -np is added (of srun: -n, --mpi=pmix)
  std::string program;   // rlgo
  bool stores = true;    // whether the run keeps its episodes
  // Text of the run's configuration file, given the folder of run folders; the run's name is to be "run".
  std::function<std::string(const std::filesystem::path& runs)> config;
  std::function<bool()> stop;
};

// What starts the ranks of such a job, word by word.
std::vector<std::string> command_of(const ScaleJobOptions& options, const std::filesystem::path& config);

// In a folder of its own; ended by force with the object, and what it left is thrown away.
class ScaleJob {
 public:
  // Starts it.
  explicit ScaleJob(const ScaleJobOptions& options);
  ~ScaleJob();
  ScaleJob(const ScaleJob&) = delete;
  ScaleJob& operator=(const ScaleJob&) = delete;

  std::filesystem::path folder() const { return scratch_ / "run"; }
  std::map<int, ProcessUse> ranks(bool memory) const { return ranks_of(scratch_.string(), memory); }
  RunMetrics metrics() const { return RunMetrics(folder() / "metrics.csv"); }
  // Waits for the first epoch in which all actors were there; its row. These three throw Error where the run ends, or
  // somebody asks for an end.
  size_t wait_for_actors(double timeout_s) const;
  void wait(double seconds) const;
  // Holds the learner's process (SIGSTOP) until the end.
  void hold_learner();

 private:
  void check() const;

  std::filesystem::path scratch_;
  int actors_;
  std::function<bool()> stop_;
  std::unique_ptr<measure::Child> child_;
};

}  // namespace rlgo::learner
