// What a run folder, a rollout store or a model holds.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/report/json.h"
#include "learner/session/run_folder.h"

namespace rlgo::learner {

// A text for people, and the members of the document "rlgo.inspect/1".
struct Description {
  std::string text;
  report::Json json;
};

// A zoo graph's name or an .onnx file. `changes`: also each operator that the import folds, merges or removes.
// `python`: see optimise::ModelOptions. These throw Error where the file is damaged.
Description describe_model(const std::string& name, bool changes, const std::string& python = {});
// A folder of rollouts, or one of its parts.
Description describe_store(const std::filesystem::path& path);
Description describe_run(const RunFolder& folder);
// Whichever of these it is.
Description describe(const std::filesystem::path& path, bool changes, const std::string& python = {});

}  // namespace rlgo::learner
