#include "learner/session/inspect.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "replay/summary.h"

namespace rlgo::learner {
namespace fs = std::filesystem;
namespace {

using report::Json;

Json store_json(const replay::Summary& s) {
  Json broken = Json::array();
  for (const auto& part : s.broken) broken.push_back({{"file", part.path.string()}, {"reason", part.reason}});
  const auto costs = s.costs.empty() ? replay::Summary::Costs() : s.costs.begin()->second;
  return {{"path", s.path.string()},
          {"parts", s.parts},
          {"stored_bytes", s.bytes},
          {"episodes", s.episodes},
          {"dream_episodes", s.dream},
          {"terminal_episodes", s.terminal},
          {"repeated_episodes", s.repeated},
          {"steps", s.steps},
          {"no_ops", s.no_ops},
          {"return_percent", {{"min", s.return_min}, {"mean", s.return_mean}, {"max", s.return_max}}},
          {"initial_cost_us", costs.initial_us},
          {"best_cost_us", costs.best_us},
          {"rule_uses", s.rule_uses},
          {"broken", std::move(broken)}};
}

}  // namespace

Description describe_store(const fs::path& path) {
  const auto summary = replay::summarize(path);
  if (summary.parts == 0 && !summary.broken.empty()) fail("{}", summary.broken[0].reason);
  return {replay::to_text(summary), {{"kind", "store"}, {"store", store_json(summary)}}};
}

Description describe_run(const RunFolder& folder) {
  Description out{fmt::format("run {}\n", folder.path.string()), {{"kind", "run"}, {"run", folder.path.string()}}};
  const bool ended = fs::exists(folder.summary());
  out.text += ended ? read_file(folder.summary())
                    : "no summary.txt: the run has not ended (or was killed); continue with --resume\n";
  out.json["ended"] = ended;
  out.json["result"] = fs::exists(folder.result()) ? Json::parse(read_file(folder.result()), nullptr, false) : Json();
  out.json["store"] = nullptr;
  if (!fs::exists(folder.rollouts()) || fs::is_empty(folder.rollouts())) return out;
  const auto summary = replay::summarize(folder.rollouts());
  out.text += "\n" + replay::to_text(summary);
  out.json["store"] = store_json(summary);
  return out;
}

Description describe(const fs::path& path) {
  return fs::exists(RunFolder{path}.config()) ? describe_run({path}) : describe_store(path);
}

}  // namespace rlgo::learner
