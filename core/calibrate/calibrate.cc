#include "core/calibrate/calibrate.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/quantile.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "core/base/usage.h"
#include "core/calibrate/group_times.h"
#include "core/cost/boosted_trees.h"
#include "core/cost/table_file.h"
#include "core/cost/tree_fit.h"
#include "core/measure/predicted_cost.h"
#include "core/rules/rule_choice.h"
#include "core/zoo/zoo.h"

namespace rlgo::calibrate {
namespace {

using report::Json;
using Trees = std::shared_ptr<const cost::BoostedTrees>;
using Print = std::function<void(const std::string&)>;

constexpr int64_t kGraphsAtOnce = 40;  // few: all their groups are timed, not the most expensive ones alone
constexpr double kLeastUs = 0.05;      // next to an empty model nothing is seen of what takes less
constexpr double kMostSpread = 0.5;    // of a time: samples further apart state nothing
constexpr size_t kFewest = 200;        // groups; of 65, prices were worse than none on other models
constexpr size_t kFolds = 5;
constexpr const char* kOtherRuntime = "onnxruntime";  // whose trees a runtime without trees of its own begins with

struct Timed {
  std::vector<GroupTime> groups;
  std::vector<double> targets;  // log(time / price by formula)
  std::map<std::string, int> lost;
  size_t noisy = 0;
  size_t all() const {
    size_t sum = groups.size() + noisy;
    for (const auto& [reason, count] : lost) sum += static_cast<size_t>(count);
    return sum;
  }
};

// What trees may be fitted on top of.
struct Base {
  std::filesystem::path file;  // "": the formula
  Trees trees;                 // null: the formula
  double before = 0;           // how far prices are off as they are, and with trees fitted on top of them
  double after = 0;
  std::string name() const { return trees ? trees->device() : "formula"; }
  double operator()(const GroupTime& group) const { return trees ? (*trees)(group.features) : 0.0; }
};

double log_price(const GroupTime& group) {
  const auto found = std::ranges::find(group.features, "price", &std::pair<std::string, double>::first);
  return found == group.features.end() ? 0.0 : found->second;
}

// Those that state something; what is left out is counted.
void keep_sound(std::vector<GroupTime> all, Timed& out) {
  for (auto& group : all) {
    if (group.us < kLeastUs) continue;
    if (group.spread_us > kMostSpread * group.us) {
      ++out.noisy;
      continue;
    }
    out.targets.push_back(std::log(group.us) - log_price(group));
    out.groups.push_back(std::move(group));
  }
}

std::vector<std::string> graphs_of(const CalibrateOptions& options) {
  if (!options.graphs.empty()) return options.graphs;
  auto names = zoo::names();
  std::ranges::reverse(names);  // the toys first: what they leave of their time goes to the others
  return names;
}

Timed time_all(const CalibrateOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
               const Print& print) {
  Timed out;
  if (!options.groups.empty()) {
    keep_sound(read_groups(options.groups, runtime), out);
    return out;
  }
  const auto graphs = graphs_of(options);
  const auto rules = rules::choose_rules({});
  double left_s = options.seconds;
  for (size_t k = 0; k < graphs.size(); ++k) {
    const Stopwatch watch;
    GroupTimes times = time_groups("calibrate", graphs[k],
                                   {.rules = rules,
                                    .seconds = left_s / static_cast<double>(graphs.size() - k),
                                    .seed = options.seed,
                                    .graphs_at_once = kGraphsAtOnce},
                                   runtime, should_stop);
    left_s = std::max(0.0, left_s - watch.seconds());
    for (const auto& [reason, count] : times.lost) out.lost[reason] += count;
    const size_t before = out.groups.size();
    keep_sound(std::move(times.groups), out);
    print(fmt::format("{}: {} timed in {:.1f} s\n", graphs[k], counted(out.groups.size() - before, "group"),
                      watch.seconds()));
  }
  return out;
}

// "12 lost: 10 x the measurer ended, 2 too noisy"; "" where none is.
std::string lost_text(const Timed& timed) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : timed.lost) parts.push_back(fmt::format("{} x {}", count, reason));
  if (timed.noisy > 0) parts.push_back(fmt::format("{} x samples too far apart", timed.noisy));
  if (parts.empty()) return "";
  return fmt::format("{} lost: {}", counted(timed.all() - timed.groups.size(), "timing"), join(parts, "; "));
}

void check_enough(const Timed& timed) {
  const std::string lost = lost_text(timed).empty() ? "" : "; " + lost_text(timed);
  std::set<std::string> models;
  for (const auto& group : timed.groups) models.insert(group.model);
  if (timed.groups.size() < kFewest)
    fail("calibrate: {} timed, {} are needed{}; give --seconds more, or other --graphs",
         counted(timed.groups.size(), "group"), kFewest, lost);
  if (2 * timed.groups.size() < timed.all())
    fail("calibrate: most timings were lost, so nothing is learned{}; try again on an idle machine", lost);
  if (models.size() < 2) fail("calibrate: groups of one graph alone; --graphs names two or more");
}

// The median factor between prices and times: of each model's groups as far as one factor for all of them goes, as only
// proportions count.
double median_factor(const std::vector<GroupTime>& groups, const std::vector<double>& targets,
                     const std::vector<double>& predicted) {
  std::map<std::string, std::vector<double>> off;
  for (size_t i = 0; i < groups.size(); ++i) off[groups[i].model].push_back(predicted[i] - targets[i]);
  std::vector<double> errors;
  for (const auto& [model, of_model] : off) {
    const double middle = median(of_model);
    for (const double x : of_model) errors.push_back(std::abs(x - middle));
  }
  return std::exp(median(errors));
}

std::vector<double> predicted_by(const std::function<double(const GroupTime&)>& price, const Timed& timed) {
  std::vector<double> out;
  for (const auto& group : timed.groups) out.push_back(price(group));
  return out;
}

// Trees for what `base` leaves unexplained of those groups that `wanted` picks.
cost::FittedTrees fit(const Timed& timed, const std::vector<double>& base, uint64_t seed,
                      const std::function<bool(size_t)>& wanted, std::vector<std::string> known = {}) {
  std::vector<cost::TreeExample> examples;
  for (size_t i = 0; i < timed.groups.size(); ++i)
    if (wanted(i)) examples.push_back({timed.groups[i].features, timed.targets[i] - base[i]});
  cost::TreeFitOptions options;
  options.seed = seed;
  return cost::fit_trees(examples, options, std::move(known));
}

std::string text_of(const cost::FittedTrees& trees) {
  return "features " + join(trees.features, " ") + "\n" + join(trees.lines, "\n") + "\n";
}

// How far prices with trees on top of `base` are off for graphs that nothing was fitted to.
double left_out_factor(const Timed& timed, const std::vector<double>& base, uint64_t seed,
                       const std::function<bool()>& should_stop) {
  std::map<std::string, size_t> fold;
  for (const auto& group : timed.groups) fold.emplace(group.model, fold.size() % kFolds);
  std::vector<double> predicted = base;
  for (size_t k = 0; k < std::min(kFolds, fold.size()); ++k) {
    if (should_stop()) fail("stopped by a signal; nothing was written");
    const auto is_out = [&](size_t i) { return fold.at(timed.groups[i].model) == k; };
    const auto is_in = [&](size_t i) { return !is_out(i); };
    size_t fitted_to = 0;
    for (size_t i = 0; i < predicted.size(); ++i) fitted_to += is_in(i);
    if (fitted_to < kFewest / 2) continue;  // nothing to learn from
    const cost::BoostedTrees trees(text_of(fit(timed, base, seed, is_in)), "fold");
    for (size_t i = 0; i < predicted.size(); ++i)
      if (is_out(i)) predicted[i] += trees(timed.groups[i].features);
  }
  return median_factor(timed.groups, timed.targets, predicted);
}

std::vector<Base> shipped(const std::string& runtime) {
  std::vector<Base> out;
  for (const auto& file : measure::shipped_trees(runtime)) out.push_back({file, measure::read_trees(file)});
  return out;
}

// The formula, and of shipped trees those that are nearest to these times.
std::vector<Base> bases_of(std::vector<Base> shipped, const Timed& timed) {
  std::vector<Base> out(1);
  std::ranges::move(shipped, std::back_inserter(out));
  for (auto& base : out) base.before = median_factor(timed.groups, timed.targets, predicted_by(base, timed));
  std::sort(out.begin() + 1, out.end(), [](const Base& a, const Base& b) { return a.before < b.before; });
  out.resize(std::min<size_t>(out.size(), 2));
  return out;
}

// How far those prices are off that rlgo uses where nothing is calibrated.
double factor_today(const std::vector<Base>& shipped, const std::string& device, const Timed& timed) {
  std::vector<std::string> devices;
  for (const auto& base : shipped) devices.push_back(base.name());
  const auto like = measure::devices_like(device, devices);
  const auto price = [&](const GroupTime& group) {
    double sum = 0;
    for (const size_t k : like) sum += shipped[k](group);
    return like.empty() ? 0.0 : sum / static_cast<double>(like.size());
  };
  return median_factor(timed.groups, timed.targets, predicted_by(price, timed));
}

// The file that core/cost/boosted_trees.h reads: the base's trees as they are, then those that were fitted.
std::string file_text(const Base& base, const Timed& timed, uint64_t seed, const cost::TableOrigin& origin,
                      double today) {
  std::vector<std::string> known;
  std::string trees;
  if (base.trees) {
    for (const auto& line : split(read_text(base.file), '\n')) {
      if (line.starts_with("features ")) known = split(line.substr(line.find(' ') + 1), ' ');
      if (line.starts_with("tree ")) trees += line + "\n";
    }
  }
  const auto fitted = fit(
      timed, predicted_by(base, timed), seed, [](size_t) { return true; }, std::move(known));
  trees += join(fitted.lines, "\n") + "\n";
  const auto one_line = cost::on_one_line(origin);
  return fmt::format(
             "# rlgo trees, version 2\nmodel {}\ndevice {}\nthreads {}\n{}# made by rlgo calibrate from {}\n"
             "# of graphs that nothing was fitted to, prices are off by a factor of {:.3f} in the median ({:.3f} "
             "without)\nfeatures {}\n",
             one_line.model, one_line.device, one_line.threads, base.trees ? "base " + base.name() + "\n" : "",
             counted(timed.groups.size(), "group"), base.after, today, join(fitted.features, " ")) +
         trees;
}

}  // namespace

void declare(OptionSink& o, CalibrateOptions& options) {
  o.heading("Calibrate");
  o.texts("graphs", options.graphs, "zoo graphs or .onnx files whose groups are timed; none: the whole zoo");
  o.number("seconds", options.seconds, 1, 86400, "of timing groups, of all graphs together, s");
  o.text("groups", options.groups, "a file of rlgo bench groups, in place of timing; none: time them");
  o.text("out", options.out, "file for the prices; none: the one in --cost.folder that rlgo then uses");
  o.text("cost.folder", options.folder, "folder of measured costs, kept from call to call");
  o.integer("seed", options.seed, 0, kNoLimit, "of the rewrites, and of what the fit draws");
}

Json calibrate(const CalibrateOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
               const Print& print) {
  const auto costs = runtime.measure();
  const cost::TableOrigin origin = costs.table->origin();
  std::filesystem::path out = options.out;
  if (out.empty()) {
    if (options.folder.empty()) fail_usage("calibrate: --out or --cost.folder states where the prices are to go");
    make_writable_folder(options.folder);
    out = measure::calibrated_file(options.folder, origin);
  }
  check_destination(out);
  const Stopwatch watch;
  const Timed timed = time_all(options, runtime, should_stop, print);
  const double timing_s = watch.seconds();
  check_enough(timed);
  const std::string name = runtime.name().substr(0, runtime.name().find(' '));
  std::vector<Base> own = shipped(name);
  const double today = factor_today(own, runtime.device(), timed);
  Json tried = Json::array();
  std::vector<Base> bases = bases_of(own.empty() ? shipped(kOtherRuntime) : std::move(own), timed);
  for (auto& base : bases) {
    base.after = left_out_factor(timed, predicted_by(base, timed), options.seed, should_stop);
    tried.push_back({{"base", base.name()}, {"before", base.before}, {"after", base.after}});
  }
  const Base best = *std::ranges::min_element(bases, {}, &Base::after);
  const bool kept = best.after < today;
  if (kept) atomic_write(out, file_text(best, timed, options.seed, origin, today));
  const std::string lost = lost_text(timed);
  print(fmt::format("{} timed{}\n", counted(timed.groups.size(), "group"), lost.empty() ? "" : "; " + lost));
  print(fmt::format(
      "prices of graphs left out are off by a factor of {:.3f} in the median ({:.3f} without), on top of {}\n",
      best.after, today, best.trees ? best.name() + "'s prices" : "the formula"));
  print(kept ? fmt::format("written: {}\n", out.string()) : "no nearer than without: nothing is written\n");
  return {{"groups", timed.groups.size()},
          {"lost", timed.lost},
          {"noisy", timed.noisy},
          {"seconds", timing_s},
          {"before", today},
          {"after", best.after},
          {"base", best.name()},
          {"tried", std::move(tried)},
          {"kept", kept},
          {"out", kept ? report::file_json(out.string()) : Json()}};
}

}  // namespace rlgo::calibrate
