#include "core/optimise/optimise.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/optimise/model.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/candidates.h"
#include "core/optimise/clock.h"
#include "core/cost/deadline_cost.h"
#include "core/optimise/inputs.h"
#include "core/optimise/plan.h"
#include "core/optimise/verify.h"
#include "core/report/evidence.h"
#include "launch/rule_choice.h"
#include "launch/session.h"
#include "launch/target.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr int kFirstRounds = 3, kLeastRaceRounds = 5;
// Fewer say nothing; with few the margin is wider (race.h).
constexpr int kLeastFinalRounds = 7, kLeastInterruptedRounds = 5;
constexpr double kFirstShare = 0.1;  // of the time that is left, for the first timing
constexpr int kCheckedRuns = 12;     // of models, about, that the checks of outputs take

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "rlgo-optimise-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      fail("cannot make a temporary folder in {}", fs::temp_directory_path().string());
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Measured costs of earlier calls on this machine. A damaged table is told about and starts anew.
fs::path load_prices(const OptimiseRequest& request, cost::TableCost& table, const Log& log) {
  if (request.prices.empty()) return {};
  const auto& origin = table.origin();
  uint64_t hash = hash_string(origin.device, hash_string(origin.model));
  hash = hash_combine(hash, static_cast<uint64_t>(origin.threads));
  std::string name = origin.model;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.'; },
      '-');
  const fs::path file = fs::path(request.prices) / fmt::format("{}-{}t-{:08x}.tsv", name, origin.threads, hash >> 32);
  std::error_code error;
  if (!fs::exists(file, error)) return file;
  try {
    table.load(file);
  } catch (const Error& e) {
    log.warn("{}; the table starts anew", e.what());
  }
  return file;
}

void save_prices(const Story& story, const cost::TableCost& table, const Log& log) {
  if (story.prices_file.empty() || story.prices_new == 0) return;
  try {
    make_writable_folder(story.prices_file.parent_path());
    table.save(story.prices_file);
  } catch (const Error& e) {
    log.warn("measured costs are not kept for the next call: {}", e.what());
  }
}

// Fails before the work, not after it.
void check_destination(const OptimiseRequest& request) {
  if (request.out.empty()) return;
  std::error_code error;
  if (fs::exists(request.out, error) && fs::equivalent(request.out, request.config.graph, error)) {
    fail("-o {}: is the model itself; name another file", request.out);
  }
  if (fs::is_directory(request.out, error)) fail("-o {}: is a folder; name a file", request.out);
  const fs::path folder = fs::absolute(request.out).parent_path();
  if (!fs::is_directory(folder, error)) fail("-o {}: there is no folder {}", request.out, folder.string());
  if (::access(folder.c_str(), W_OK) != 0) fail("-o {}: folder {} is not writable", request.out, folder.string());
}

// The measurer of config.target; null for LibTorch. "auto" becomes the target that is there.
std::shared_ptr<measure::Measurer> choose_target(RunConfig& config, const Log& log) {
  if (config.target != "auto") return start_target(config, log);
  try {
    config.target = "onnxruntime";
    return start_target(config, log);
  } catch (const Error& e) {
    log.info("costs and times are LibTorch's: {}", e.what());
    config.target = "libtorch";
    return nullptr;
  }
}

// The verdict of the final race, in words.
void conclude(const OptimiseRequest& request, const LoadedModel& model, Story& story) {
  const Attempt& best = story.best();
  const auto& race = story.end_to_end;
  if (!race.error.empty() || race.models.size() < 2 || !race.models[1].ok()) {
    const std::string why = !race.error.empty()      ? race.error
                            : race.models.size() < 2 ? "no measurement"
                                                     : race.models[1].error;
    story.verdict = "the models could not be measured: " + why;
  } else {
    story.margin = margin_of(race, 1);
    // A model that nothing was done to is no faster, whatever a race of the two files says.
    const bool touched = !best.trace.empty() || best.normalised.denormals > 0 || model.folded > 0;
    story.improved = touched && race.ratio[1] < 1 - story.margin;
    const std::string change = fmt::format("{:+.2f} %", 100 * (race.ratio[1] - 1));
    if (story.improved)
      story.verdict = fmt::format("improved: {} of the latency under {}", change, story.target);
    else if (!touched)
      story.verdict = "nothing found: no rewrite makes it faster";
    else if (race.ratio[1] > 1 + story.margin)
      story.verdict = fmt::format("nothing found: the best rewritten model is slower ({})", change);
    else
      story.verdict = fmt::format("nothing found: {} is within the noise of {:.2f} %", change, 100 * story.margin);
  }
  story.forced = !story.improved && request.force;
  if (request.out.empty() || best.file.empty() || !(story.improved || story.forced)) return;
  story.written = true;
}

Story begin(const OptimiseRequest& request, const LoadedModel& model, const measure::Measurer* measurer,
            const exec::Device& device) {
  Story story;
  story.model = request.config.graph;
  story.out = request.out;
  story.method = request.method;
  story.seconds = request.seconds;
  story.tolerance = request.config.outcome_tolerance;
  story.threads = static_cast<int>(request.config.cost_threads);
  story.target = target_name(measurer);
  story.device = measurer != nullptr ? measurer->hello().device : exec::describe(device);
  story.about = model.about;
  story.changes = model.changes;
  story.given = parse_inputs(request.inputs, model.graph);
  story.before = model.graph;
  story.rules = choose_rules(with_set_in_default(request.config.rules, "winograd"));
  return story;
}

// Costs after each rewrite and of each operator, for the report. Nothing is measured for it: what is not known is
// estimated.
void tell_costs(cost::CostModel& model, Story& story) {
  const bool gathers = model.postpone();
  graph::Graph graph = story.before;
  for (const auto& step : story.best().trace) {
    const search::Step one[] = {step};
    graph = search::replay(graph, story.rules, one);
    story.step_us.push_back(cost::graph_cost(model, graph).runtime_us);
  }
  story.before_op_us = report::prices_of(model, story.before);
  story.after_op_us = report::prices_of(model, story.best().graph);
  if (gathers) model.settle();
}

void measure_end_to_end(const OptimiseRequest& request, Racetrack& track, const OptimiseClock& clock, Story& story) {
  if (story.best().file.empty()) return;
  const double spare_s = story.interrupted ? 0 : std::max(0.0, clock.left());
  const int most = static_cast<int>(request.rounds);
  const int least = std::min(most, story.interrupted ? kLeastInterruptedRounds : kLeastFinalRounds);
  const fs::path both[] = {request.config.graph, story.best().file};
  story.end_to_end = track.race(both, track.pace().rounds(spare_s, 3, least, most), std::max(spare_s, 1e-3), least);
}

// Why an attempt whose outputs differ beyond the tolerance may be given up for the next one; "" where that is a bug. A
// rewrite that is exact but for the last bits of floats may move a number by one step of a model that rounds to few
// bits; and in convolutions by fewer multiplications (Winograd) large terms cancel, which adds up from layer to layer.
std::string excuse(const graph::Graph& before, const Story& story) {
  constexpr double kRounding = 100;  // times the tolerance; more is a bug
  if (const std::string steps = coarse_steps(before); !steps.empty())
    return fmt::format("the model rounds on the way ({})", steps);
  const auto rounding = [&](const Check& check) {
    return !check.done || check.same || (check.error > story.tolerance && check.error <= kRounding * story.tolerance);
  };
  return std::ranges::all_of(story.checks, rounding) ? "its rounding errors add up" : "";
}

// The chosen attempt; where it differs and has an excuse, the next best one, which is told. The file itself is the
// last. Throws Error where nothing is left.
void check_the_chosen(const OptimiseRequest& request, const LoadedModel& model, measure::Measurer* measurer,
                      const Log& log, Story& story) {
  for (;;) {
    try {
      return verify(request, model, measurer, story);
    } catch (const Error&) {
      const auto differs = std::ranges::find_if(story.checks, [](const Check& c) { return c.done && !c.same; });
      if (differs == story.checks.end() || story.best().trace.empty()) throw;
      const std::string why = excuse(model.graph, story);
      if (why.empty()) throw;
      const std::string told = fmt::format("relative error {:.3g} by {}, tolerance {:.3g} (--check.tolerance): {}",
                                           differs->error, differs->by, story.tolerance, why);
      log.warn("'{}' is given up: {}", story.best().name, told);
      story.attempts[story.chosen].error = "given up: " + told;
      story.checks.clear();
      std::vector<size_t> others;
      for (size_t k = 0; k < story.attempts.size(); ++k) {
        if (story.attempts[k].error.empty() && !story.attempts[k].file.empty()) others.push_back(k);
      }
      if (others.empty()) throw;
      const auto key = [&](size_t k) {
        const Attempt& a = story.attempts[k];
        return std::pair(a.ratio > 0 ? a.ratio : 1.0, a.cost_us);
      };
      story.chosen = *std::ranges::min_element(others, {}, key);
    }
  }
}

// The cost model of the searches: what it does not know it measures until attempts.pricing_s() at the latest.
std::unique_ptr<DeadlineCost> end_in_time(const Prices& prices, OptimiseClock& clock, const Attempts* const& attempts) {
  const auto may_measure = [&clock, &attempts] { return attempts != nullptr && !clock.over(attempts->pricing_s()); };
  if (!prices.groups) return prices.table ? std::make_unique<DeadlineCost>(*prices.table, may_measure) : nullptr;
  prices.groups->set_watch([&clock, &attempts, may_measure](size_t done, size_t of) {
    const double left_s = may_measure() ? attempts->pricing_s() - clock.passed() : 0.0;
    clock.pricing(left_s > 0 ? done : of, of);
    return left_s;
  });
  return nullptr;
}

}  // namespace

Story optimise(const OptimiseRequest& given, const Log& log, StatusLine& line,
               const std::function<bool()>& should_stop) {
  OptimiseRequest request = given;
  OptimiseClock clock(line, request.seconds, should_stop);
  check_destination(request);
  auto& config = request.config;
  const auto device = exec::resolve_device(config.device);
  clock.phase("reading", "reading " + config.graph);
  const LoadedModel model = load_model(config, true);
  clock.phase("starting the target", "starting the target");
  const auto measurer = choose_target(config, log);
  // Of all inputs: open dimensions have sample sizes, and --dim fixes them in the written model only.
  if (measurer) measurer->set_input_shapes(input_shapes(model.graph));
  Story story = begin(request, model, measurer.get(), device);
  if (measurer) measurer->set_input_values(story.given);
  const Prices prices = make_prices(config, device, measurer);
  if (prices.table) story.prices_file = load_prices(request, *prices.table, log);
  story.prices_known = prices.table ? prices.table->size() : 0;
  story.cost_name = prices.model->name();

  const TemporaryFolder folder;
  const fs::path original = config.graph;
  Racetrack track(config, measurer.get(), device);
  clock.phase("timing the model", "timing the model");
  const fs::path alone[] = {original};
  const auto first = track.race(alone, kFirstRounds, kFirstShare * clock.left(), 1);
  if (!first.error.empty()) {
    const std::string shapes = shapes_text(model.graph);
    fail("{} cannot run the model{}: {} (--size and --dim give other sizes, --input other numbers)", story.target,
         shapes.empty() ? "" : " with " + shapes, first.error);
  }
  story.assumed = first.assumed;
  if (measurer) {
    auto values = first.assumed;  // the same for all models
    values.insert(story.given.begin(), story.given.end());
    measurer->set_input_values(std::move(values));
  }

  const Pace& pace = track.pace();
  const double last_s = pace.race_s(3, kLeastFinalRounds) + pace.race_s(kCheckedRuns, 1);
  const Plan plan = make_plan(request.seconds, clock.passed(), last_s, pace.race_s(4, kLeastRaceRounds));
  const Attempts* pricing_for = nullptr;
  const auto in_time = end_in_time(prices, clock, pricing_for);
  cost::CostModel& cost = in_time ? *in_time : *prices.model;
  Attempts attempts(request, model, cost, folder.path(), clock, plan, log, story);
  pricing_for = &attempts;
  const auto keep_prices = [&] {
    if (!prices.table) return;
    story.prices_new = prices.table->size() - story.prices_known;
    save_prices(story, *prices.table, log);
  };
  attempts.search();
  keep_prices();
  attempts.choose(track, original);
  keep_prices();
  pricing_for = nullptr;
  story.interrupted = clock.interrupted();
  clock.phase("checks", "checking outputs");
  tell_costs(cost, story);
  check_the_chosen(request, model, measurer.get(), log, story);
  clock.phase("final measurement", "final measurement");
  measure_end_to_end(request, track, clock, story);
  conclude(request, model, story);
  clock.phase("writing", "writing");
  if (story.written) write_and_read_again(request, model, story);
  clock.clear();
  story.took_s = clock.passed();
  story.phases = clock.phases();
  return story;
}

}  // namespace rlgo::launch
