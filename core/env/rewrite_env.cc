#include "core/env/rewrite_env.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/env/candidates.h"
#include "core/env/features.h"
#include "core/env/whole_level.h"
#include "core/ops/op.h"
#include "core/search/region.h"

namespace rlgo::env {
namespace {

constexpr double kTolerance = 1e-9;      // of the unmodified graph's cost: what searches take for rounding
constexpr size_t kSpacing = 32;          // rewrites from one checkpoint on a way to the next
constexpr uint64_t kDescended = 0xDE5C;  // shows a state from where greedy descent ends from there

double relative_drop(double before, double after, double initial) {
  return initial > 0 ? (before - after) / initial : 0.0;
}

search::State start_state(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules, double cost_us) {
  return {graph, rules::MatchIndex(std::move(rules), graph), graph::NameHash(graph), cost_us, 0, nullptr};
}

// The place of an action among those of a walk, which are ordered by rule, then location. Throws Error where it has
// none.
size_t find_place(std::span<const search::Place> places, mdp::Action action, const rules::RuleSet& rules) {
  const auto rule_of = [](const search::Place& place) { return place.step.rule; };
  const auto first = std::ranges::lower_bound(places, action.rule, {}, rule_of);
  const auto count = std::ranges::upper_bound(places, action.rule, {}, rule_of) - first;
  if (action.location < 0 || action.location >= count) {
    fail("illegal action: location {} of rule {} ({}), which has {} locations", action.location, action.rule,
         rules.name(action.rule), count);
  }
  return static_cast<size_t>(first - places.begin() + action.location);
}

}  // namespace

void declare(OptionSink& o, EnvOptions& env) {
  o.heading("Environment");
  o.choice("env.reward", env.reward, kRewards,
           "R1 decrease of cost per step, R2 the same at the end only, R3 with flops, bytes, memory and launches, R4 "
           "latency of the whole graph in the target, R5 what a step adds to the episode's best, latency R4 with "
           "errors: noise and failed timings earn nothing; percent of the initial cost");
  o.number("env.frontier", env.frontier, 0, 1,
           "fraction of the episodes that begin on the trace of greedy search, annealing or windows");
  o.texts("env.searches", env.searches,
          "searches on whose traces episodes begin (--env.frontier); one that is named twice draws again");
  o.integer("env.search-budget", env.search_budget, 1, kNoLimit, "graphs that each of these searches prices, at most");
  o.integer("env.window", env.window, 0, 100000,
            "most nodes of the window in which an episode of --env.frontier is played, from where greedy descent ends "
            "and with greedy descent after it; 0: in the whole graph");
  o.integer("env.window-steps", env.window_steps, 1, 1000000, "steps after which an episode in a window ends");
  o.integer("env.max-locations", env.max_locations, 1, 100000, "matches of one rule that are offered");
  o.flag("policy.prices", env.prices_locations,
         "the agent sees what each rewrite would change in cost, and begins as a heat bath over it (--policy.beta); "
         "no: it "
         "sees the run times of operators only, as RLFlow's");
  o.flag(
      "policy.candidates", env.candidates,
      "observations hold, for each location, the whole graph that its rewrite would make, and the policy scores these "
      "(X-RLflow); slow, and large in memory");
  o.integer("env.max-steps", env.max_steps, 1, 1000000, "steps after which an episode is cut off (truncated)");
  o.number("env.weight-flops", env.weight_flops, 0, 1000, "R3: weight of the relative decrease of flops");
  o.number("env.weight-bytes", env.weight_bytes, 0, 1000, "R3: weight of bytes moved");
  o.number("env.weight-peak", env.weight_peak, 0, 1000, "R3: weight of peak memory");
  o.number("env.weight-launches", env.weight_launches, 0, 1000, "R3: weight of the number of kernels");
}

struct RewriteEnv::Impl {
  Impl(graph::Graph g, std::shared_ptr<const rules::RuleSet> r, std::shared_ptr<cost::CostModel> m, const EnvOptions& o,
       cost::WholeTimer timer, std::shared_ptr<const Starts> from, std::shared_ptr<Checkpoints> kept)
      : initial(std::move(g)),
        rules(std::move(r)),
        model(std::move(m)),
        options(o),
        starts(std::move(from)),
        checkpoints(model->is_local() ? std::move(kept) : nullptr),  // other prices change while a run learns them
        spec(observation_spec(*rules, o)),
        initial_features(model),
        initial_cost(cost::graph_cost(*model, initial)),
        level(options.reward, std::move(timer), initial),
        walk(start_state(initial, rules, initial_cost.runtime_us), walk_cost, *model, options.max_locations,
             allowance(), search::Walk::Unknown::estimated),
        start(walk.mark()),
        features(model) {
    if (initial_cost.runtime_us <= 0)
      fail("graph '{}' costs nothing under cost model {}: there is nothing to optimise", initial.name(), model->name());
    initial_features.reset(initial);
    restart();
  }

  // Stands where the other does.
  Impl(const Impl& o)
      : initial(o.initial),
        rules(o.rules),
        model(o.model),
        options(o.options),
        starts(o.starts),
        checkpoints(o.checkpoints),
        spec(o.spec),
        initial_features(o.initial_features),
        initial_cost(o.initial_cost),
        level(o.level),
        walk(o.walk.mark(), walk_cost, *model, options.max_locations, allowance(), search::Walk::Unknown::estimated),
        start(o.start),
        features(o.features),
        cost(o.cost),
        best_us(o.best_us),
        begin_us(o.begin_us),
        steps(o.steps),
        windowed(o.windowed),
        region(o.region),
        in_window(o.in_window),
        seen(o.seen),
        running(o.running),
        trace(o.trace),
        beginning(o.beginning) {}

  search::Walk::Allowance allowance() const {
    if (!options.prices_locations) return {};
    return [] { return true; };
  }

  // Of the rewrites that are offered; all places, or those in the window.
  std::span<const search::Place> offered() const {
    return windowed ? std::span<const search::Place>(in_window) : walk.places();
  }

  // Which are, now.
  void look_into_window() {
    in_window.clear();
    for (const search::Place& place : walk.places()) {
      if (!place.move || !region.contains(walk.graph(), *place.move->match)) continue;
      if (std::isfinite(place.move->delta_us) && seen.contains(walk.hash() + place.move->delta_hash)) continue;
      in_window.push_back(place);
    }
  }

  // A window around a random match: of 3 to options.window nodes, small ones as often as large ones.
  void open_window(uint64_t key) {
    if (walk.places().empty() || !walk.evaluates()) return;
    Rng rng({key, 0x717D0});
    constexpr double kSmallest = 3;
    const double size = kSmallest * std::pow(std::max(options.window / kSmallest, 1.0), rng.uniform());
    const size_t centre = search::draw_kind(walk.places(), tolerance_us(), rng);
    region.open(walk.graph(), *walk.places()[centre].move->match, static_cast<size_t>(size));
    windowed = true;
    seen = {walk.hash()};
    look_into_window();
  }

  double tolerance_us() const { return kTolerance * initial_cost.runtime_us; }

  // Makes what saves most, as long as something does.
  void descend() {
    while (const auto best = search::steepest(walk.places(), tolerance_us())) make(*best);
    cost = features.cost(walk.graph());
  }

  void restart() {
    windowed = false;
    walk.restore(start);
    features = initial_features;
    cost = initial_cost;
    best_us = initial_cost.runtime_us;
    level.begin();
    steps = 0;
    running = true;
    trace.clear();
    beginning = {};
  }

  mdp::Observation observe(mdp::Changes* changes = nullptr) {
    const Progress progress{initial_cost.runtime_us, cost.runtime_us, best_us};
    auto seen_now = features.observe(walk.graph(), offered(), rules->size(), progress, changes);
    if (!options.prices_locations) seen_now.loc_feat.clear();
    if (options.candidates) {
      if (changes != nullptr) *changes = {};
      add_candidates(*rules, walk.graph(), offered(), features, progress, seen_now);
    }
    return seen_now;
  }

  // Makes walk.places()[k].
  void make(size_t k) {
    const rules::Rewrite step = walk.places()[k].step;
    if (!walk.take(k))
      fail("rule {} did not apply at location {} although it matched (a bug of rlgo)", rules->name(step.rule),
           step.location);
    features.update(walk.graph(), walk.added(), walk.touched());
    trace.push_back(step);
  }

  // Makes what an action stands for.
  void apply(mdp::Action action) {
    const size_t k = find_place(offered(), action, *rules);
    if (!windowed) return make(k);
    make(walk.find(in_window[k].step).value());
    region.add(walk.graph(), walk.added());
    seen.insert(walk.hash());
    look_into_window();
  }

  // Stands where it stood with this key after these rewrites, or after them and more; false: that is not kept.
  bool resume(uint64_t key, std::span<const rules::Rewrite> way) {
    const auto kept = checkpoints ? checkpoints->find(key) : nullptr;
    if (!kept || kept->rewrites.size() < way.size() ||
        !std::ranges::equal(way, std::span(kept->rewrites).first(way.size())))
      return false;
    walk.restore(kept->mark);
    features = kept->features;
    trace = kept->rewrites;
    beginning.cost_us = kept->cost_us;
    return true;
  }

  void keep(uint64_t key) {
    if (checkpoints) checkpoints->keep(key, {walk.mark(), features, trace, beginning.cost_us});
  }

  // Makes rewrites of the unmodified graph; greedy descent follows, where episodes are played in windows.
  void go_along(std::span<const rules::Rewrite> way) {
    std::vector<uint64_t> keys;  // of the graph after each of them
    for (const rules::Rewrite& rewrite : way)
      keys.push_back(search::Walk::stamp_after(keys.empty() ? start.stamp : keys.back(), rewrite));
    const uint64_t end = options.window > 0 ? hash_combine(keys.back(), kDescended) : keys.back();
    if (resume(end, way)) return;
    size_t k = way.size();
    while (k > 0 && !resume(keys[k - 1], way.first(k))) --k;
    for (; k < way.size(); ++k) {
      apply({way[k].rule, way[k].location});
      beginning.cost_us.push_back(walk.cost_us());
      if ((k + 1) % kSpacing == 0 && keys[k] != end) keep(keys[k]);
    }
    if (options.window > 0) {
      while (const auto best = search::steepest(walk.places(), tolerance_us())) {
        make(*best);
        beginning.cost_us.push_back(walk.cost_us());
      }
    }
    keep(end);
  }

  // Makes the rewrites that the episode with this key begins with.
  void advance(uint64_t key) {
    if (!starts) return;
    const auto begin = starts->of(key);
    if (!begin) return;
    go_along(std::span(*begin->way).first(begin->length));
    cost = features.cost(walk.graph());
    if (options.window > 0) open_window(key);
    for (const rules::Rewrite& rewrite : trace) beginning.rewrites.push_back({rewrite.rule, rewrite.location});
    best_us = begin_us = cost.runtime_us;
    level.begin(walk.graph());
  }

  double step_reward(const cost::Cost& before, double timed, double best_before, bool ended) const {
    const double runtime = relative_drop(before.runtime_us, cost.runtime_us, initial_cost.runtime_us);
    switch (options.reward) {
      case Reward::step:
        return 100.0 * runtime;
      case Reward::final_only:
        return ended ? 100.0 * relative_drop(initial_cost.runtime_us, cost.runtime_us, initial_cost.runtime_us) : 0.0;
      case Reward::detailed:
        return 100.0 *
               (runtime + options.weight_flops * relative_drop(before.flops, cost.flops, initial_cost.flops) +
                options.weight_bytes * relative_drop(before.bytes, cost.bytes, initial_cost.bytes) +
                options.weight_peak * relative_drop(before.peak_bytes, cost.peak_bytes, initial_cost.peak_bytes) +
                options.weight_launches * relative_drop(before.launches, cost.launches, initial_cost.launches));
      case Reward::best:
        return 100.0 * relative_drop(best_before, best_us, initial_cost.runtime_us);
      case Reward::measured:
      case Reward::latency:
        return timed;
    }
    fail("no such reward: {}", static_cast<int>(options.reward));
  }

  const graph::Graph initial;
  const std::shared_ptr<const rules::RuleSet> rules;
  const std::shared_ptr<cost::CostModel> model;
  const EnvOptions options;
  const std::shared_ptr<const Starts> starts;
  const std::shared_ptr<Checkpoints> checkpoints;
  const mdp::ObservationSpec spec;
  FeatureBuilder initial_features;
  const cost::Cost initial_cost;
  WholeLevel level;

  search::SharedCost shared_cost{*model, {}};
  search::ThreadCost walk_cost{shared_cost};
  search::Walk walk;
  const search::Walk::Mark start;
  FeatureBuilder features;
  cost::Cost cost;
  double best_us = 0;
  double begin_us = 0;  // of the graph that the episode began with, where it is played in a window
  int steps = 0;
  bool windowed = false;
  search::Region region;
  std::vector<search::Place> in_window;  // that are offered
  std::unordered_set<uint64_t> seen;     // graphs that the episode had, by hash
  bool running = false;
  rules::Trace trace;
  mdp::Beginning beginning;
};

RewriteEnv::RewriteEnv(graph::Graph graph, std::shared_ptr<const rules::RuleSet> rules,
                       std::shared_ptr<cost::CostModel> model, const EnvOptions& options, cost::WholeTimer timer,
                       std::shared_ptr<const Starts> starts, std::shared_ptr<Checkpoints> checkpoints)
    : impl_(std::make_unique<Impl>(std::move(graph), std::move(rules), std::move(model), options, std::move(timer),
                                   std::move(starts), std::move(checkpoints))) {}
RewriteEnv::RewriteEnv(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RewriteEnv::~RewriteEnv() = default;

std::unique_ptr<RewriteEnv> RewriteEnv::fork() const {
  return std::unique_ptr<RewriteEnv>(new RewriteEnv(std::make_unique<Impl>(*impl_)));
}

const mdp::ObservationSpec& RewriteEnv::spec() const { return impl_->spec; }
double RewriteEnv::initial_cost_us() const { return impl_->initial_cost.runtime_us; }
double RewriteEnv::current_cost_us() const { return impl_->cost.runtime_us; }
mdp::Beginning RewriteEnv::beginning() const { return impl_->beginning; }
const graph::Graph& RewriteEnv::graph() const { return impl_->walk.graph(); }
const graph::Graph& RewriteEnv::initial_graph() const { return impl_->initial; }
const rules::Trace& RewriteEnv::trace() const { return impl_->trace; }
const rules::MatchIndex& RewriteEnv::matches() const { return impl_->walk.matches(); }

mdp::Observation RewriteEnv::reset(uint64_t key) {
  impl_->restart();
  impl_->advance(key);
  return impl_->observe();
}

mdp::StepResult RewriteEnv::step(mdp::Action action) {
  Impl& s = *impl_;
  if (!s.running) fail("step() on an episode that has ended; call reset() first");
  if (action.rule < 0 || action.rule > s.spec.rules) fail("illegal action: rule {} of {}", action.rule, s.spec.rules);
  const Stopwatch watch;
  const bool noop = action.rule == s.spec.rules;
  const cost::Cost before = s.cost;
  const double best_before = s.best_us;
  double timed = 0;   // what the whole graph's time earns
  s.running = false;  // an error below ends the episode
  mdp::StepResult result;
  if (!noop) {
    s.apply(action);
    s.cost = s.features.cost(s.walk.graph());
    timed = s.level.step(s.walk.graph(), result.info);
    s.best_us = std::min(s.best_us, s.cost.runtime_us);
    result.info.rule = s.rules->name(action.rule);
    result.info.location = s.trace.back().location;
  } else {
    s.level.stay(result.info);
  }
  ++s.steps;
  result.terminal = noop || s.offered().empty();
  const bool cut = !result.terminal && s.steps >= s.options.max_steps;
  // R2 pays for the whole episode where it is cut off: nothing is left to come, which a bootstrapped value would add.
  const bool paid = cut && s.options.reward == Reward::final_only;
  result.terminal = result.terminal || paid;
  result.truncated = cut && !paid;
  if (s.windowed)
    result.terminal = result.terminal || result.truncated || s.steps >= s.options.window_steps ||
                      s.cost.runtime_us < s.begin_us - s.tolerance_us();
  result.info.cost_us = s.cost.runtime_us;
  if (s.windowed && result.terminal) {  // what comes after it is paid, not bootstrapped
    result.truncated = false;
    s.descend();
    s.windowed = false;
    s.best_us = std::min(s.best_us, s.cost.runtime_us);
  }
  s.running = !result.terminal && !result.truncated;
  result.reward = static_cast<float>(s.step_reward(before, timed, best_before, !s.running));
  result.observation = s.observe(&result.changes);
  result.info.flops = s.cost.flops;
  result.info.bytes = s.cost.bytes;
  result.info.peak_bytes = s.cost.peak_bytes;
  result.info.launches = s.cost.launches;
  result.info.step_us = watch.us();
  return result;
}

}  // namespace rlgo::env
