#include "learner/dream/dream_agent.h"

#include <algorithm>
#include <cmath>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/nets/weights.h"
#include "learner/dream/autoencoder.h"
#include "learner/ppo/trainer_checkpoint.h"
#include "learner/torch_tensors.h"

namespace rlgo::learner {

namespace {

constexpr double kGateMemory = 0.7;  // of the running reward correlation, per epoch
// Where the model learns from what the controller plays: as in the middle of its training, which sets the learning
// rate.
constexpr double kOnPolicyProgress = 0.5;
constexpr double kFirstSigma = 0.1;         // of CMA-ES, as Ha and Schmidhuber's
constexpr int64_t kDreamsOfACandidate = 8;  // that show what it is worth

// The encoder of a model-free run's newest checkpoint.
void adopt_encoder(const std::string& run, nets::WorldModel& world) {
  const std::filesystem::path folder = std::filesystem::path(run) / "checkpoints";
  const auto found = latest(folder);
  if (!found.checkpoint) fail("--wm.encoder-from {}: no usable checkpoint in {}", run, folder.string());
  const std::string prefix = std::string(kNetworkPrefix) + "encoder.";
  const auto tensors = tensors_with(*found.checkpoint, prefix);
  if (tensors.empty()) fail("--wm.encoder-from {}: {} is not of a model-free agent", run, found.path.string());
  try {
    nets::load_named(*world->encoder(), tensors);
  } catch (const Error& e) {
    throw e.in(
        fmt::format("--wm.encoder-from {}: its encoder does not fit (--gnn.rounds, --gnn.width, --gnn.block, another "
                    "graph's rules?)",
                    run));
  }
}

// What the controller learns from: latents and counts; the graphs are not needed any more.
mdp::Trajectory without_graphs(mdp::Trajectory t) {
  const auto strip = [](mdp::Observation& o) {
    mdp::Observation bare;
    bare.counts = std::move(o.counts);
    bare.latent = std::move(o.latent);
    o = std::move(bare);
  };
  for (auto& step : t.steps) strip(step.observation);
  return t;
}

}  // namespace

std::shared_ptr<actors::Dreamer> make_dreamer(const DreamAgentOptions& options, const mdp::ObservationSpec& spec,
                                              uint64_t seed, torch::Device device) {
  return std::make_shared<actors::Dreamer>(spec, options.world, options.controller, seed, device, options.play_noop);
}

DreamAgent::DreamAgent(const DreamAgentInput& in)
    : options_(in.options),
      seed_(in.seed),
      epochs_(in.epochs),
      dreamer_(in.dreamer ? in.dreamer : make_dreamer(in.options, in.spec, in.seed, in.device)),
      world_(dreamer_->world, in.options.trainer, in.seed),
      ppo_(dreamer_->agent.ptr(), in.ppo),
      decoder_(!dreamer_->world->device().is_cpu()),
      initial_(in.initial),
      rollouts_(in.rollouts),
      episode_steps_(in.episode_steps) {
  if (options_.encoder == EncoderSource::ppo) adopt_encoder(options_.encoder_from, dreamer_->world);
  size_t weights = 0;
  for (const auto& t : dreamer_->agent->evolving()) weights += static_cast<size_t>(t.numel());
  if (weights > 0) cma_.emplace(weights, kFirstSigma);
  begin_at_start();
}

EpochPlan DreamAgent::plan(int64_t epoch, double progress, int64_t steps) {
  const bool ranks_dream = options_.actors > 0;
  EpochPlan plan{steps, 0, false};
  if (hybrid()) {
    phase_ = Phase::hybrid;
    dreamer_->act_at_random = progress < options_.warmup;
    if (!dreamer_->act_at_random) dreamer_->world->freeze_view();
    dreamer_->may_dream = !dreamer_->act_at_random && reward_correlation_ >= options_.threshold && trusted_;
    if (ranks_dream && dreamer_->may_dream) plan.dream_steps = options_.steps_per_epoch;
    return plan;
  }
  if (progress < options_.fraction) {
    phase_ = Phase::collect;
    dreamer_->act_at_random = true;
    dreamer_->may_dream = false;
    return plan;
  }
  if (first_dream_epoch_ < 0) first_dream_epoch_ = epoch;
  dreamer_->act_at_random = false;
  dreamer_->world->freeze_view();
  const bool last = epoch + 1 >= epochs_;
  // With a guard an evaluation comes before the first dreams, too.
  const int64_t turn = options_.guard > 0 ? 0 : options_.evaluate_every;
  const bool evaluate = last || (epoch - first_dream_epoch_) % (options_.evaluate_every + 1) == turn;
  phase_ = evaluate ? Phase::evaluate : trusted_ ? Phase::dream : Phase::collect;
  dreamer_->may_dream = ranks_dream && phase_ == Phase::dream;
  if (phase_ != Phase::dream) return plan;
  return {0, ranks_dream ? options_.steps_per_epoch : 0, ranks_dream};
}

std::string DreamAgent::final_weights() {
  plan(epochs_, 1.0, 1);
  begin_at_start();
  return weights();
}

void DreamAgent::set_group(const std::shared_ptr<LearnerGroup>& group) {
  group_ = group;
  world_.set_group(group_);
  ppo_.set_group(group_);
}

// By the graph auto-encoder, once. Several learners do so each on its own part, and take the mean of their encoders.
void DreamAgent::train_encoder(const std::vector<mdp::Trajectory>& real, const UpdateContext& context,
                               UpdateReport& report) {
  std::vector<const mdp::Observation*> seen;
  for (const auto& t : real)
    for (const auto& step : t.steps) seen.push_back(&step.observation);
  auto& encoder = dreamer_->world->encoder();
  const auto& spec = dreamer_->world->spec();
  const double left = pretrain(encoder, seen, spec, dreamer_->world->device(), seed_, {}, context.between);
  report.notes.push_back(
      fmt::format("graph auto-encoder: loss fell to {:.0f} % on {} graphs", 100 * left, seen.size()));
  if (group_->size() == 1) return;
  const torch::NoGradGuard no_gradients;
  for (auto& p : encoder->parameters()) {
    const auto host = p.to(torch::kCPU, torch::kFloat64).contiguous();
    group_->sum({host.data_ptr<double>(), static_cast<size_t>(host.numel())});
    p.copy_(host / group_->size());
  }
}

void DreamAgent::train_world(const std::vector<mdp::Trajectory>& real, const UpdateContext& context, double progress,
                             UpdateReport& report) {
  std::vector<mdp::Trajectory> stored;
  auto chosen = pointers(real);
  if (options_.encoder == EncoderSource::autoencoder && context.version == 0) train_encoder(real, context, report);
  if (options_.data == WorldData::store && is_head()) {
    const auto version = static_cast<uint64_t>(context.version);
    const std::filesystem::path place = options_.store.empty() ? rollouts_ : std::filesystem::path(options_.store);
    const Rng draws({seed_, version, 0x5A3});
    if (sampler_) {
      sampler_->refresh(draws);
    } else {
      sampler_.emplace(place, draws, true);
    }
    auto& sampler = *sampler_;
    for (const auto& part : sampler.broken()) {
      if (broken_parts_.insert(part.path.string()).second)
        report.notes.push_back(fmt::format("left out: {}", part.reason));
    }
    for (int64_t steps = 0; sampler.episodes() > 0 && steps < options_.store_steps;) {
      stored.push_back(sampler.episode());
      steps += static_cast<int64_t>(stored.back().steps.size());
    }
  }
  if (options_.data == WorldData::store) {
    stored = hand_out(std::move(stored));
    for (const auto& t : stored) chosen.push_back(&t);
  }
  Rng shuffle({seed_, static_cast<uint64_t>(context.version), 0x30D});
  const auto stats = world_.update(chosen, progress, shuffle, context.between);
  if (stats.score.steps > 0) {
    reward_correlation_ = kGateMemory * reward_correlation_ + (1 - kGateMemory) * stats.score.reward_correlation;
  }
  const auto named = stats.named();
  report.values.insert(report.values.end(), named.begin(), named.end());
  report.values.emplace_back("wm_gate", reward_correlation_);
}

void DreamAgent::train_controller(std::vector<mdp::Trajectory> trajectories, const UpdateContext& context,
                                  uint64_t purpose, UpdateReport& report) {
  Rng shuffle({seed_, static_cast<uint64_t>(context.version), purpose});
  const auto stats = ppo_.update(trajectories, shuffle, context.between);
  const auto named = stats.named();
  report.values.insert(report.values.end(), named.begin(), named.end());
}

std::vector<mdp::Trajectory> DreamAgent::evolve(const UpdateContext& context) {
  const torch::NoGradGuard no_gradients;
  const auto weights = dreamer_->agent->evolving();
  const auto set = [&](const std::vector<float>& values) {
    int64_t next = 0;
    const auto all = torch::tensor(values);
    for (const auto& w : weights) {
      w.copy_(all.slice(0, next, next + w.numel()).reshape(w.sizes()));
      next += w.numel();
    }
  };
  std::vector<torch::Tensor> flat;
  for (const auto& w : weights) flat.push_back(w.reshape(-1));
  auto mean = nets::to_floats(torch::cat(flat));
  const uint64_t seed = Rng({seed_, static_cast<uint64_t>(context.version), 0xE70}).next();
  std::vector<double> worth;
  std::vector<mdp::Trajectory> all;
  for (size_t k = 0; k < cma_->population(); ++k) {
    set(cma_->candidate(mean, seed, k));
    worth.push_back(0);
    // The same key for all: what they are worth differs by what they do, not by luck.
    for (auto& t : dream(0, options_.dream.max_steps, context.version, seed, kDreamsOfACandidate)) {
      worth.back() += total_reward(t);
      all.push_back(std::move(t));
    }
    context.between();
  }
  group_->sum(worth);
  cma_->update(mean, seed, worth);
  set(mean);
  return all;
}

// What is held out stays with the head, which measures.
std::vector<mdp::Trajectory> DreamAgent::hand_out(std::vector<mdp::Trajectory> trajectories) const {
  const auto places = balanced(trajectories, group_->size(),
                               [this](const auto& t) { return !t.dream && is_held_out(t, options_.trainer.holdout); });
  return group_->scatter(std::move(trajectories), places);
}

void DreamAgent::add_hybrid(std::vector<mdp::Trajectory> trajectories, const UpdateContext& context,
                            UpdateReport& report) {
  const bool compare = context.version % std::max<int64_t>(options_.evaluate_every, 1) == 0;
  const std::vector<mdp::Trajectory> none;
  const auto& compared = compare ? trajectories : none;
  compare_returns(compared, context, report);
  weigh_promise(compared, context, report);
  if (!trusted_) ++refused_;
  std::vector<mdp::Trajectory> real, dreams;
  for (auto& t : hand_out(std::move(trajectories))) (t.dream ? dreams : real).push_back(std::move(t));
  std::vector<mdp::Trajectory> lessons;
  int64_t real_steps = 0, dream_steps = 0;
  for (const auto& t : real) {
    if (t.weights_version < 0) continue;  // played at random
    lessons.push_back(without_graphs(t));
    real_steps += static_cast<int64_t>(t.steps.size());
  }
  // Dreams never make up more than 1 - real_fraction of what the controller learns from.
  const auto room =
      static_cast<int64_t>(static_cast<double>(real_steps) * (1 - options_.real_fraction) / options_.real_fraction);
  if (dreamer_->may_dream && options_.actors == 0 && room > 0) {
    begin_at_replayed(real);
    dreams = dream(std::min(room, own_part(options_.steps_per_epoch)), options_.dream.max_steps, context.version,
                   static_cast<uint64_t>(context.version), 0);
  }
  for (auto& t : dreams) {
    if (dream_steps + static_cast<int64_t>(t.steps.size()) > room) break;
    dream_steps += static_cast<int64_t>(t.steps.size());
    lessons.push_back(std::move(t));
  }
  if (real_steps > 0) ppo_.set_weights_version(context.version);
  train_controller(std::move(lessons), context, 0xB1, report);
  double dreamed = static_cast<double>(dream_steps);
  group_->sum({&dreamed, 1});
  report.values.emplace_back("dreamed_steps", dreamed);
  train_world(real, context, context.progress, report);
  choose_starts(real);
}

void DreamAgent::prepare(const Episode& episode) {
  const bool wanted = phase_ == Phase::hybrid || episode->facts.dream == (phase_ == Phase::dream);
  if (wanted && group_->size() == 1 && !dreamer_->world->device().is_cpu()) decoder_.ahead(episode);
}

UpdateReport DreamAgent::update(std::vector<Episode> episodes, const UpdateContext& context) {
  UpdateReport report;
  // What the real environment gave meanwhile is nothing to a dream, nor late dreams to a phase of real steps.
  if (phase_ != Phase::hybrid)
    std::erase_if(episodes, [&](const auto& e) { return e->facts.dream != (phase_ == Phase::dream); });
  auto trajectories = decoder_.take(std::move(episodes), report.notes, context.between);
  report.values.emplace_back("phase", static_cast<double>(phase_));
  switch (phase_) {
    case Phase::collect: {
      const bool refused = !dreamer_->act_at_random;
      if (refused) ++refused_;
      trajectories = hand_out(std::move(trajectories));
      train_world(trajectories, context, refused ? kOnPolicyProgress : context.progress / options_.fraction, report);
      choose_starts(trajectories);
      break;
    }
    case Phase::dream: {
      if (cma_) {
        trajectories = evolve(context);
      } else if (options_.actors == 0) {
        trajectories = dream(own_part(options_.steps_per_epoch), options_.dream.max_steps, context.version,
                             static_cast<uint64_t>(context.version), 0);
      } else {
        trajectories = hand_out(std::move(trajectories));
      }
      double sums[] = {0, 0, 0};  // reward, steps, dreams
      for (const auto& t : trajectories) {
        sums[0] += total_reward(t);
        sums[1] += static_cast<double>(t.steps.size());
        sums[2] += 1;
      }
      group_->sum(sums);
      report.values.emplace_back("dream_epoch_reward", sums[2] > 0 ? sums[0] / sums[2] : 0.0);
      report.values.emplace_back("dreamed_steps", sums[1]);
      if (cma_) break;
      ppo_.set_weights_version(context.version);
      train_controller(std::move(trajectories), context, 0xD0, report);
      break;
    }
    case Phase::evaluate:
      compare_returns(trajectories, context, report);
      weigh_promise(trajectories, context, report);
      // After the comparisons, which are of episodes that the model has not seen. Where dreams begin at real states,
      // they begin at the controller's own from now on.
      trajectories = hand_out(std::move(trajectories));
      if (options_.on_policy) train_world(trajectories, context, kOnPolicyProgress, report);
      choose_starts(trajectories);
      break;
    case Phase::hybrid:
      add_hybrid(std::move(trajectories), context, report);
      break;
  }
  report.values.emplace_back("dreams_refused", static_cast<double>(refused_));
  return report;
}

void DreamAgent::store(Checkpoint& c) const {
  world_.store(c, "world/");
  learner::store(ppo_, c);
  if (cma_) cma_->store(c);
  c.counters["dream/first_epoch"] = first_dream_epoch_;
  c.numbers["dream/reward_correlation"] = reward_correlation_;
  const auto& s = dreamer_->starts;
  const std::pair<const char*, const torch::Tensor*> starts[] = {
      {"z", &s.z}, {"h", &s.h}, {"c", &s.c}, {"counts", &s.counts}};
  for (const auto& [name, tensor] : starts) c.tensors[std::string(kOwnPrefix) + name] = to_data(*tensor);
  ByteWriter menus;
  for (const auto& menu : s.menus) menu.put(menus);
  c.tensors[std::string(kOwnPrefix) + "menus"] = {"uint8", {std::ssize(menus.bytes())}, menus.bytes()};
  c.counters["dream/trusted"] = trusted_ ? 1 : 0;
  c.counters["dream/refused"] = refused_;
}

void DreamAgent::restore(const Checkpoint& c) {
  world_.restore(c, "world/");
  learner::restore(ppo_, c);
  if (cma_) cma_->restore(c);
  const auto first = c.counters.find("dream/first_epoch");
  if (first == c.counters.end()) fail("the checkpoint has no counter 'dream/first_epoch'");
  first_dream_epoch_ = first->second;
  reward_correlation_ = c.numbers.at("dream/reward_correlation");
  auto& s = dreamer_->starts;
  const std::pair<const char*, torch::Tensor*> starts[] = {
      {"z", &s.z}, {"h", &s.h}, {"c", &s.c}, {"counts", &s.counts}};
  for (const auto& [name, tensor] : starts) {
    const auto found = c.tensors.find(std::string(kOwnPrefix) + name);
    if (found == c.tensors.end()) fail("the checkpoint has no tensor 'starts/{}'", name);
    *tensor = to_tensor(found->second).to(dreamer_->world->device());
  }
  // Of runs before there was a guard there are none.
  s.menus.clear();
  if (dreamer_->world->options().locations) {
    ByteReader menus(c.tensors.at(std::string(kOwnPrefix) + "menus").bytes);
    for (int64_t i = 0; i < s.size(); ++i) s.menus.push_back(nets::Menu::get(menus));
  }
  if (const auto found = c.counters.find("dream/trusted"); found != c.counters.end()) trusted_ = found->second != 0;
  if (const auto found = c.counters.find("dream/refused"); found != c.counters.end()) refused_ = found->second;
}

}  // namespace rlgo::learner
