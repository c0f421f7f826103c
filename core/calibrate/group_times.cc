#include "core/calibrate/group_times.h"

#include <memory>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/base/usage.h"
#include "core/measure/group_cost.h"
#include "core/optimise/model.h"
#include "core/search/search.h"

namespace rlgo::calibrate {
namespace {

constexpr int kWalkLength = 40;
constexpr int kIdleRounds = 4;  // rounds in a row without a new group, after which a graph has no more
constexpr size_t kColumns = 3;  // of a file, before the features

GroupTime read_line(const std::string& line) {
  const auto words = split(line, '\t');
  if (words.size() < kColumns) fail("is not 'model, us, spread_us, NAME=VALUE ...', separated by tabs");
  GroupTime out{words[0], finite_number(words[1]), finite_number(words[2]), {}};
  if (out.us < 0 || out.spread_us < 0) fail("a time below 0");
  for (size_t k = kColumns; k < words.size(); ++k) {
    const auto at = words[k].rfind('=');
    if (at == std::string::npos) fail("'{}' is not NAME=VALUE", words[k]);
    out.features.emplace_back(words[k].substr(0, at), finite_number(words[k].substr(at + 1)));
  }
  return out;
}

}  // namespace

GroupTimes time_groups(const std::string& command, const std::string& graph, const GroupTiming& how,
                       cost::Runtime& runtime, const std::function<bool()>& should_stop) {
  const auto costs = runtime.measure();
  const auto groups = std::dynamic_pointer_cast<measure::GroupCost>(costs.model);
  if (!groups) fail_usage("{}: --target {} prices operators one by one; it has no groups", command, runtime.name());
  const optimise::LoadedModel model = optimise::load_model({.graph = graph}, true);
  const std::string name = std::filesystem::path(graph).stem();
  GroupTimes out;
  const Stopwatch watch;
  const auto left = [&] { return should_stop() ? 0.0 : how.seconds - watch.seconds(); };
  groups->set_watch([&](size_t, size_t) { return left(); });
  groups->set_observer([&](const measure::Group& group, const cost::Measured& measured) {
    out.groups.push_back({name, measured.us, measured.spread_us, groups->features(group.graph)});
  });
  int idle = 0;
  for (uint64_t round = 0; left() > 0 && idle < kIdleRounds; ++round) {
    const size_t before = out.groups.size();
    groups->defer();
    search::Options search;
    search.budget = how.graphs_at_once;
    search.walk_length = kWalkLength;
    search.seed = how.seed + round;
    search.stop = should_stop;
    search::run(round % 2 == 0 ? "random" : "anneal", {model.graph, how.rules, *groups}, search);
    groups->flush();
    idle = out.groups.size() == before ? idle + 1 : 0;
  }
  if (should_stop()) fail("stopped by a signal; nothing was written");
  out.lost = groups->failures();
  return out;
}

std::string groups_header(const cost::Runtime& runtime) {
  return fmt::format("# rlgo groups, version 1\n# runtime {}\n# device {}\n# threads {}\n", runtime.name(),
                     runtime.device(), runtime.threads());
}

std::string to_line(const GroupTime& group) {
  std::string line = fmt::format("{}\t{}\t{}", group.model, group.us, group.spread_us);
  for (const auto& [name, x] : group.features)
    if (x != 0) line += fmt::format("\t{}={:.5g}", name, x);
  return line + "\n";
}

std::vector<GroupTime> read_groups(const std::filesystem::path& file, const cost::Runtime& runtime) {
  const std::string text = read_text(file), header = groups_header(runtime);
  if (!text.starts_with(header)) {
    fail("{}: is not a file of groups timed under {}, {}, {}; times of others are not mixed in", file.string(),
         runtime.name(), runtime.device(), counted(runtime.threads(), "thread"));
  }
  std::vector<GroupTime> out;
  int number_of_line = 0;
  for (const auto& line : split(text, '\n')) {
    ++number_of_line;
    if (line.empty() || line.starts_with("#")) continue;
    try {
      out.push_back(read_line(line));
    } catch (const Error& e) {
      throw e.in(fmt::format("{}:{}", file.string(), number_of_line));
    }
  }
  return out;
}

}  // namespace rlgo::calibrate
