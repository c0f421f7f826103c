#include "launch/train/run_folder.h"

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo::launch {
namespace fs = std::filesystem;

namespace {

std::string default_name(const RunConfig& config) {
  std::string stem = fs::path(config.model.graph).stem().string();
  if (stem.empty()) stem = "run";
  return fmt::format("{}-{}-s{}", stem, name_of(config.agent, kAgents), config.seed);
}

}  // namespace

std::string run_options(const fs::path& path) {
  const RunFolder folder{path};
  if (!fs::exists(folder.config()))
    fail("{}: is no run folder (it has no config.cfg); run folders are runs/NAME", path.string());
  return read_file(folder.config());
}

RunFolder open_run_folder(const RunConfig& config) {
  RunFolder folder;
  if (!config.resume.empty()) {
    folder.path = config.resume;
    make_writable_folder(folder.path);
    return folder;
  }
  const std::string name = config.name.empty() ? default_name(config) : config.name;
  folder.path = fs::path(config.runs) / name;
  if (fs::exists(folder.config())) {
    if (!config.name.empty())
      fail("{}: a run of this name exists; continue it with --resume {}, or choose another --name",
           folder.path.string(), folder.path.string());
    for (int number = 2; fs::exists(folder.config()); ++number)
      folder.path = fs::path(config.runs) / fmt::format("{}-{}", name, number);
  }
  make_writable_folder(folder.path);
  make_writable_folder(folder.rollouts());
  make_writable_folder(folder.checkpoints());
  return folder;
}

}  // namespace rlgo::launch
