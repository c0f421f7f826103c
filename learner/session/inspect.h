// What a run folder or a rollout store holds.
#pragma once

#include <filesystem>

#include "core/report/description.h"
#include "learner/session/run_folder.h"

namespace rlgo::learner {

using report::Description;

// A folder of rollouts, or one of its parts.
Description describe_store(const std::filesystem::path& path);
Description describe_run(const RunFolder& folder);
// Whichever of these it is. Throws Error where the files are damaged.
Description describe(const std::filesystem::path& path);

}  // namespace rlgo::learner
