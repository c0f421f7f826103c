// The dreams of an agent with a world model: where they begin, and what they promise against what reality gave.
#include <algorithm>
#include <limits>

#include "actors/collector.h"
#include "actors/network_policy.h"
#include "core/base/error.h"
#include "core/nets/transfer.h"
#include "learner/dream/dream_agent.h"

namespace rlgo::learner {
namespace {

constexpr int64_t kReplayedStarts = 64;   // real states that dreams branch from,
constexpr size_t kReplayedEpisodes = 16;  // ... of as many episodes
constexpr int64_t kComparedDreams = 16;   // whole episodes behind a dream-predicted return
constexpr int64_t kComparedStates = 256;  // real states from which dreams are compared with what came

class Keep : public actors::Sink {
 public:
  void on_trajectory(mdp::Trajectory t) override {
    steps += static_cast<int64_t>(t.steps.size());
    kept.push_back(std::move(t));
  }
  void on_lost(const actors::LostEpisode& lost) override { fail("a dream failed: {}", lost.what); }
  std::vector<mdp::Trajectory> kept;
  int64_t steps = 0;
};

}  // namespace

void DreamAgent::begin_at_start() {
  torch::NoGradGuard no_grad;
  auto& world = dreamer_->world;
  auto& s = dreamer_->starts;
  const auto batch = nets::collate(initial_, world->spec(), world->device());
  const auto encoded = world->encoder()(batch);
  s.z = world->standardise(encoded.global);
  const auto blank = world->blank(1);
  s.h = blank.h;
  s.c = blank.c;
  s.counts = nets::to_device(torch::tensor(initial_.counts, torch::kFloat32).unsqueeze(0), world->device());
  s.menus.clear();
  if (!world->options().locations) return;
  const auto features = nets::to_floats(world->places(batch, encoded));
  s.menus.emplace_back(initial_, features, world->place_width());
}

void DreamAgent::choose_starts(const std::vector<mdp::Trajectory>& real) {
  if (options_.start == DreamStart::replayed) {
    begin_at_replayed(real);
  } else {
    begin_at_start();
  }
}

// States along real episodes, with the memory that led there.
void DreamAgent::begin_at_replayed(const std::vector<mdp::Trajectory>& real) {
  std::vector<const mdp::Trajectory*> some;
  for (const auto& t : real) {
    if (t.steps.size() > 1) some.push_back(&t);
    if (some.size() == kReplayedEpisodes) break;
  }
  if (some.empty()) return begin_at_start();
  dreamer_->starts = states_along(some, world_, kReplayedStarts).starts;
}

std::vector<mdp::Trajectory> DreamAgent::dream(int64_t steps, int max_steps, int64_t version, uint64_t key,
                                               int64_t episodes) {
  auto options = options_.dream;
  options.max_steps = max_steps;
  if (group_->size() > 1 && episodes == 0) options.batch = std::max(1, options.batch / group_->size());
  if (episodes > 0) options.batch = static_cast<int>(std::min<int64_t>(options.batch, episodes));
  actors::DreamEnv env(dreamer_, options);
  actors::NetworkPolicy policy(dreamer_->agent.ptr(), version);
  Keep sink;
  actors::CollectorOptions collecting;
  collecting.seed = key;
  collecting.rank = -2 - group_->place();  // keeps these episodes apart from all others
  collecting.dream = true;
  collecting.step_together = true;
  actors::Collector collector(env, policy, sink, collecting);
  const auto may_start = [&] {
    return episodes > 0 ? collector.next_episode() < episodes : sink.steps + collector.running_steps() < steps;
  };
  while (collector.round(may_start) > 0) {
  }
  return std::move(sink.kept);
}

void DreamAgent::compare_returns(const std::vector<mdp::Trajectory>& real, const UpdateContext& context,
                                 UpdateReport& report) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  double real_return = unknown, dream_return = unknown, real_sum = 0;
  int64_t count = 0;
  for (const auto& t : real) {
    if (t.dream) continue;
    if (t.weights_version != context.version) continue;
    real_sum += total_reward(t);
    ++count;
  }
  if (count > 0) {
    const auto own = dreamer_->starts;
    begin_at_start();
    const auto dreams = dream(0, episode_steps_, context.version, seed_ + 0xC0, kComparedDreams);
    dreamer_->starts = own;
    dream_return = 0;
    for (const auto& t : dreams) dream_return += total_reward(t) / static_cast<double>(dreams.size());
    real_return = real_sum / static_cast<double>(count);
  }
  report.values.emplace_back("real_return", real_return);
  report.values.emplace_back("dream_return", dream_return);
  report.values.emplace_back("return_gap", dream_return - real_return);
}

// Measures what dreams of the length that is learned from promise, against the controller's own episodes. The head
// does, all learners obey.
void DreamAgent::weigh_promise(const std::vector<mdp::Trajectory>& real, const UpdateContext& context,
                               UpdateReport& report) {
  std::vector<const mdp::Trajectory*> own;
  for (const auto& t : real) {
    if (!t.dream && t.weights_version == context.version && !t.steps.empty()) own.push_back(&t);
  }
  double sums[] = {0, 0, 0, 0};  // measured, return in reality, in dreams, error
  bool trusted = trusted_;
  if (is_head() && !own.empty()) {
    const int horizons[] = {options_.dream.max_steps};
    const auto states = states_along(own, world_, kComparedStates);
    const auto r = learner::compare_returns(*dreamer_, states, own, options_.dream, horizons,
                                            seed_ + static_cast<uint64_t>(context.version))[0];
    if (r.states > 0) {
      trusted = keeps_promise(r, options_.guard);
      const double found[] = {1, r.real, r.dream, r.error()};
      std::ranges::copy(found, sums);
    }
  }
  double verdict[] = {is_head() && trusted ? 1.0 : 0.0};
  group_->sum(sums);
  group_->sum(verdict);
  trusted_ = verdict[0] > 0;
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const bool measured = sums[0] > 0;
  report.values.emplace_back("promise_real", measured ? sums[1] : unknown);
  report.values.emplace_back("promise_dream", measured ? sums[2] : unknown);
  report.values.emplace_back("promise_error", measured ? sums[3] : unknown);
  if (measured && !trusted_) {
    report.notes.push_back(fmt::format(
        "dreams are not learned from: {} steps of them promise {:.3f} %, reality gave {:.3f} % from the same states "
        "(error beyond chance {:.3f} %, --dream.guard {:g})",
        options_.dream.max_steps, sums[2], sums[1], sums[3], options_.guard));
  }
}

}  // namespace rlgo::learner
