// runs/NAME and what lies in it.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/file_lock.h"

namespace rlgo::learner {

struct RunFolder {
  std::filesystem::path path;
  std::filesystem::path lock() const { return path / "run.lock"; }
  std::filesystem::path config() const { return path / "config.cfg"; }
  std::filesystem::path metrics() const { return path / "metrics.csv"; }
  std::filesystem::path tensorboard() const { return path / "tb"; }
  std::filesystem::path log() const { return path / "log.txt"; }
  std::filesystem::path costs() const { return path / "costs.tsv"; }
  std::filesystem::path rollouts() const { return path / "rollouts"; }
  std::filesystem::path checkpoints() const { return path / "checkpoints"; }
  std::filesystem::path best_onnx() const { return path / "best.onnx"; }
  std::filesystem::path best_trace() const { return path / "best.trace"; }
  std::filesystem::path summary() const { return path / "summary.txt"; }
  std::filesystem::path result() const { return path / "result.json"; }  // document "rlgo.train/1"
  std::filesystem::path report() const { return path / "report.html"; }
};

// Text of config.cfg of a run that exists, with what options that came later stood for. Throws Error where `path` is no
// run folder.
std::string run_options(const std::filesystem::path& path);
// A run folder that no other process writes to as long as this lives.
struct OpenRunFolder {
  RunFolder folder;
  FileLock lock;
};
struct RunFolderOptions {
  std::filesystem::path runs = "runs";  // folder of run folders
  std::string name;                     // of the new run's; "": `default_name`, with a number where that is taken
  std::string default_name = "run";
  std::filesystem::path resume;  // a run folder to continue in; "": a new one
};
// Creates the folder for a new run (a name that is taken is an Error when `name` gave it, else a number is added), or
// opens the one to resume. Throws Error where it cannot be written, and where another process writes there.
OpenRunFolder open_run_folder(const RunFolderOptions& options);

}  // namespace rlgo::learner
