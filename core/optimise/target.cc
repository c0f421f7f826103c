#include "core/optimise/target.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/measure/runtime.h"

namespace rlgo::optimise {
namespace fs = std::filesystem;
namespace {

const std::vector<std::string> kShipped = {"onnxruntime", "openvino", "opencv", "tract", "mnn", "ncnn"};

// Whether a shell would find a program of this name.
bool on_path(const std::string& name, const std::string& path) {
  for (const auto& folder : split(path, ':')) {
    if (::access((fs::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// The command line of a target's measurer. Throws Error where a shipped one is not found.
std::vector<std::string> measurer_command(const TargetOptions& target) {
  for (const auto& shipped : kShipped) {
    if (target.runtime != shipped) continue;
    const std::string file = shipped + "_measurer.py";
    return {target.python, shipped_file({"launch/measurers/" + file, "share/rlgo/measurers/" + file}).string()};
  }
  // A shell, so that it may have arguments and quotes.
  return {"sh", "-c", "exec " + target.runtime};
}

}  // namespace

void declare(OptionSink& o, TargetOptions& target) {
  o.text("target", target.runtime,
         fmt::format("runtime that will serve the model, whose costs and times count: libtorch, cuda (a GPU with cuDNN "
                     "and cuBLASLt), {}, auto (onnxruntime where it is installed, else libtorch), or the command of a "
                     "measurer (docs/measurers.md)",
                     join(kShipped, ", ")));
}

void declare_details(OptionSink& o, TargetOptions& target) {
  o.text("target.python", target.python,
         "Python that runs the shipped measurers; none: the one of set-up, else python3");
}

std::vector<std::string> known_targets() {
  std::vector<std::string> known = {"auto", "libtorch", "cuda"};
  known.insert(known.end(), kShipped.begin(), kShipped.end());
  return known;
}

void check_target(const TargetOptions& target, const std::string& path) {
  const std::string& name = target.runtime;
  const auto known = known_targets();
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  const bool command = !std::ranges::all_of(name, plain) || (!name.empty() && on_path(name, path));
  if (command || std::ranges::find(known, name) != known.end()) return;
  fail_usage("--target '{}': no such runtime{}; known: {}, or the command of a measurer (docs/measurers.md)", name,
             did_you_mean(name, known), join(known, ", "));
}

std::shared_ptr<cost::Runtime> start_runtime(const RuntimeOptions& options, const Log& log,
                                             std::function<bool()> should_stop) {
  if (options.target.runtime == "auto") {
    RuntimeOptions one = options;
    try {
      one.target.runtime = "onnxruntime";
      return start_runtime(one, log, should_stop);
    } catch (const Error& e) {
      if (!options.libtorch) throw;
      log.info("costs and times are LibTorch's: {}", e.what());
      one.target.runtime = "libtorch";
      return start_runtime(one, log, should_stop);
    }
  }
  if (options.target.is_own()) {
    const auto& start = options.target.runtime == "cuda" ? options.cuda : options.libtorch;
    if (!start)
      fail("--target {}: this build of rlgo has no {}; take {}, or a build with training", options.target.runtime,
           options.target.runtime == "cuda" ? "CUDA part" : "LibTorch", join(kShipped, ", "));
    return start(options, log, std::move(should_stop));
  }
  measure::MeasurerOptions how{options.timing};
  how.seed = options.seed + 1;
  how.should_stop = std::move(should_stop);
  try {
    return std::make_shared<measure::ChildRuntime>(
        std::make_shared<measure::Measurer>(measurer_command(options.target), how, log), how.learned,
        options.target.folder);
  } catch (const Error& e) {
    throw e.in("--target " + options.target.runtime);
  }
}

}  // namespace rlgo::optimise
