#include "learner/session/run_folder.h"

#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text_file.h"

namespace rlgo::learner {
namespace fs = std::filesystem;

std::string run_options(const fs::path& path) {
  const RunFolder folder{path};
  if (!fs::exists(folder.config()))
    fail("{}: is no run folder (it has no config.cfg); run folders are runs/NAME", path.string());
  auto text = read_text(folder.config());
  // A run that began before there was a choice had the full block.
  if (("\n" + text).find("\ngnn.block =") == std::string::npos) text.insert(0, "gnn.block = full\n");
  return text;
}

// A folder for a new run, locked; nothing where a run is there already, or begins there.
static std::optional<OpenRunFolder> try_new(const RunFolder& folder) {
  if (fs::exists(folder.config())) return {};
  make_writable_folder(folder.path);
  OpenRunFolder open{folder, FileLock(folder.lock(), folder.path.string())};
  if (fs::exists(folder.config())) return {};  // it came while the lock was taken
  make_writable_folder(folder.rollouts());
  make_writable_folder(folder.checkpoints());
  return open;
}

// The first free one of NAME, NAME-2, ...: several jobs may begin under one --runs at the same moment.
static OpenRunFolder new_folder(const fs::path& runs, const std::string& name) {
  for (int number = 1;; ++number) {
    const RunFolder folder{runs / (number == 1 ? name : fmt::format("{}-{}", name, number))};
    try {
      if (auto open = try_new(folder)) return std::move(*open);
    } catch (const FileLock::Taken&) {
      // The next one.
    }
  }
}

OpenRunFolder open_run_folder(const RunFolderOptions& options) {
  if (!options.resume.empty()) {
    const RunFolder folder{options.resume};
    make_writable_folder(folder.path);
    return {folder, FileLock(folder.lock(), folder.path.string())};
  }
  if (options.name.empty()) return new_folder(options.runs, options.default_name);
  const RunFolder folder{options.runs / options.name};
  auto open = try_new(folder);
  if (!open)
    fail("{}: a run of this name exists; continue it with --resume {}, or choose another --name", folder.path.string(),
         folder.path.string());
  return std::move(*open);
}

}  // namespace rlgo::learner
