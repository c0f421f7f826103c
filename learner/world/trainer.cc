#include "learner/world/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/nets/batch.h"
#include "learner/torch_tensors.h"
#include "learner/world/loss.h"

namespace rlgo::learner {

using torch::Tensor;

namespace {

constexpr double kJointDecay = 0.9;     // of the statistics per batch, where the encoder moves
constexpr size_t kEncodeAtOnce = 256;  // graphs, without gradients

void bound(const char* name, double value, double low, double high) {
  if (!(value >= low && value <= high)) fail("world model: {} is {}, outside [{}, {}]", name, value, low, high);
}

nets::Encoder copy_of(nets::WorldModel& model, uint64_t seed) {
  auto options = model->options();
  nets::WorldModel other(model->spec(), options, seed);
  auto encoder = other->encoder();
  encoder->to(model->device());
  torch::NoGradGuard no_grad;
  const auto from = model->encoder()->parameters();
  auto to = encoder->parameters();
  for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
  return encoder;
}

std::vector<Tensor> trained(const nets::WorldModel& model, bool with_encoder) {
  std::vector<Tensor> result;
  for (const auto& item : model->named_parameters()) {
    if (with_encoder || !item.key().starts_with("encoder.")) result.push_back(item.value());
  }
  return result;
}

Tensor over_steps(const Tensor& x) { return x.sum(torch::IntArrayRef({0, 1})); }  // [T, B, Z] -> [Z]

bool is_held_out(const mdp::Trajectory& t, double share) {
  const uint64_t h = hash_combine(hash_combine(mix64(t.seed + 0x401D), static_cast<uint64_t>(t.rank)), static_cast<uint64_t>(t.episode));
  return static_cast<double>(h >> 11) * 0x1.0p-53 < share;
}

}  // namespace

void check(const WorldTrainerOptions& o) {
  bound("learning rate", o.learning_rate, 1e-12, 1);
  bound("final learning rate", o.learning_rate_end, 0, o.learning_rate);
  bound("passes", o.passes, 1, 1000);
  bound("batch", o.batch, 1, 1e6);
  bound("sequence length", o.sequence, 1, 1e6);
  bound("max grad norm", o.max_grad_norm, 0, 1e9);
  for (const double weight : {o.reward_weight, o.terminal_weight, o.terminal_positive_weight, o.present_weight, o.count_weight, o.variance_weight})
    bound("loss weight", weight, 0, 1e6);
  bound("target decay", o.target_decay, 0, 1);
  bound("held-out share", o.holdout, 0, 0.5);
}

WorldTrainer::WorldTrainer(nets::WorldModel model, WorldTrainerOptions options, uint64_t seed)
    : model_(std::move(model)),
      options_((check(options), options)),
      parameters_(trained(model_, options.train_encoder)),
      adam_(parameters_, torch::optim::AdamOptions(options.learning_rate).eps(1e-8)),
      seed_(seed) {
  const int64_t z = model_->latent_width();
  const auto exact = torch::TensorOptions(torch::kFloat64);
  z_sums_ = torch::zeros({3, z}, exact);
  change_sums_ = torch::zeros({3, z}, exact);
  reward_sums_ = torch::zeros({3}, exact);
  if (options_.train_encoder) target_ = copy_of(model_, seed);
}

// Means over the chunks of an update.
struct WorldTrainer::Sums {
  WorldStats stats;
  int64_t chunks = 0;
};

// Standardised latents of a chunk of T steps: what the model reads, and what it must foretell.
struct WorldTrainer::Latents {
  Tensor input;   // [T, B, Z]
  Tensor target;  // [T, B, Z] without gradient
  Tensor raw;     // [T+1, B, Z]
};

Tensor WorldTrainer::encode(const Sequences& s, int64_t begin, int64_t end, nets::Encoder& encoder, bool gradients) const {
  std::vector<const mdp::Observation*> seen;
  std::vector<int64_t> places;
  for (int64_t t = begin; t < end; ++t) {
    const auto& row = s.observations[static_cast<size_t>(t)];
    for (size_t b = 0; b < row.size(); ++b) {
      if (row[b] == nullptr) continue;
      seen.push_back(row[b]);
      places.push_back((t - begin) * s.episodes + static_cast<int64_t>(b));
    }
  }
  const int64_t z = model_->latent_width();
  const auto device = model_->device();
  auto out = torch::zeros({(end - begin) * s.episodes, z}, torch::TensorOptions(device));
  if (seen.empty()) return out.reshape({end - begin, s.episodes, z});
  const auto index = torch::tensor(places, torch::kInt64).to(device);
  torch::AutoGradMode mode(gradients);
  return out.index_copy(0, index, encode_all(seen, encoder, gradients)).reshape({end - begin, s.episodes, z});
}

// [observations, Z] raw latents.
Tensor WorldTrainer::encode_all(std::span<const mdp::Observation* const> seen, nets::Encoder& encoder, bool gradients) const {
  torch::AutoGradMode mode(gradients);
  std::vector<Tensor> parts;
  const size_t group = gradients ? seen.size() : kEncodeAtOnce;
  for (size_t at = 0; at < seen.size(); at += group) {
    const auto some = seen.subspan(at, std::min(group, seen.size() - at));
    parts.push_back(encoder(nets::collate(some, model_->spec(), model_->device())).global);
  }
  return torch::cat(parts);
}

// Statistics of latents and of their changes, over the real steps.
void WorldTrainer::observe(const Sequences& s, const Tensor& raw) {
  torch::NoGradGuard no_grad;
  const double decay = options_.train_encoder ? kJointDecay : 1.0;
  const auto mask = s.mask.to(torch::kFloat64).unsqueeze(-1);  // [T, B, 1]
  const auto exact = raw.detach().to(torch::kCPU, torch::kFloat64);
  const auto before = exact.slice(0, 0, s.steps), change = exact.slice(0, 1) - before;
  const auto add = [&](Tensor& sums, const Tensor& x) {
    const auto total = mask.sum().expand({x.size(-1)});
    sums = sums * decay + torch::stack({total, over_steps(x * mask), over_steps(x.square() * mask)});
  };
  add(z_sums_, before);
  add(change_sums_, change);
  const auto mean = z_sums_[1] / z_sums_[0];
  const auto variance = (z_sums_[2] / z_sums_[0] - mean.square()).clamp_min(0);
  model_->set_latent_statistics(mean.to(torch::kFloat32), variance.sqrt().to(torch::kFloat32));
}

void WorldTrainer::observe_rewards(const Sequences& s) {
  const auto mask = s.mask.to(torch::kFloat64), reward = s.reward.to(torch::kFloat64);
  reward_sums_ = reward_sums_ + torch::stack({mask.sum(), (reward * mask).sum(), (reward.square() * mask).sum()});
  const double n = reward_sums_[0].item<double>(), mean = reward_sums_[1].item<double>() / n;
  model_->set_reward_statistics(mean, std::sqrt(std::max(reward_sums_[2].item<double>() / n - mean * mean, 0.0)));
}

WorldTrainer::Latents WorldTrainer::latents(const Sequences& s, const Tensor& raw, int64_t begin, int64_t end) {
  Latents l;
  const bool joint = options_.train_encoder;
  l.raw = joint ? encode(s, begin, end + 1, model_->encoder(), true) : raw.slice(0, begin, end + 1);
  const auto input = model_->standardise(l.raw);
  l.input = input.slice(0, 0, end - begin);
  l.target = joint ? model_->standardise(encode(s, begin + 1, end + 1, target_, false)) : input.slice(0, 1);
  return l;
}

void WorldTrainer::learn_chunk(const Sequences& s, const Tensor& raw, int64_t begin, int64_t end, nets::Memory& memory, Sums& sums) {
  const auto device = model_->device();
  const auto part = [&](const Tensor& t, int64_t from, int64_t to) { return t.slice(0, from, to).to(device); };
  const auto l = latents(s, raw, begin, end);
  const auto mask = part(s.mask, begin, end), next = part(s.counts, begin + 1, end + 1);
  const nets::WorldInput input{l.input, part(s.counts, begin, end), part(s.xfer, begin, end), part(s.location, begin, end)};
  const auto p = model_->sequence(input, memory);
  memory = {memory.h.detach(), memory.c.detach()};

  const auto& o = options_;
  auto& stats = sums.stats;
  const auto reward_target = model_->standardise_reward(part(s.reward, begin, end));
  const auto latent = latent_loss(p.z, l.target, mask);
  // A step counts for each member with probability 1/2 (bootstrap), where there are several.
  const int64_t members = model_->options().ensemble;
  auto counts_for = torch::ones({end - begin, s.episodes, members}, mask.options());
  if (members > 1) {
    Rng rng({seed_, static_cast<uint64_t>(updates_), static_cast<uint64_t>(sums.chunks), 0xB007});
    auto coins = torch::empty({end - begin, s.episodes, members});
    for (int64_t i = 0; i < coins.numel(); ++i) coins.data_ptr<float>()[i] = rng.uniform() < 0.5 ? 1.0f : 0.0f;
    counts_for = coins.to(device);
  }
  const auto reward = reward_loss(p.reward, reward_target, counts_for, mask);
  const auto terminal = terminal_loss(p.terminal, part(s.terminal, begin, end), mask, o.terminal_positive_weight);
  const auto present = present_loss(p.present, next, mask);
  const auto count = count_loss(p.log_count, next, mask);
  const auto member = members_loss(p.members, l.target, counts_for, mask);
  auto loss = latent + o.reward_weight * reward + o.terminal_weight * terminal + o.present_weight * present + o.count_weight * count + member;
  auto variance = torch::zeros({}, latent.options());
  if (o.train_encoder) {
    const auto real = l.raw.slice(0, 0, end - begin).reshape({-1, model_->latent_width()}).index_select(0, mask.reshape(-1).nonzero().squeeze(1));
    if (real.size(0) > 1) variance = torch::relu(kMinLatentDeviation - (real.var(0) + 1e-8).sqrt()).mean() / kMinLatentDeviation;
    loss = loss + o.variance_weight * variance;
  }
  adam_.zero_grad();
  loss.backward();
  const double limit = o.max_grad_norm > 0 ? o.max_grad_norm : std::numeric_limits<double>::infinity();
  const double norm = torch::nn::utils::clip_grad_norm_(parameters_, limit);
  if (std::isfinite(norm)) {
    adam_.step();
    if (o.train_encoder) follow_encoder();
    stats.grad_norm += norm;
  } else {
    ++stats.skipped;
  }
  ++sums.chunks;
  const std::pair<double*, Tensor> parts[] = {{&stats.loss, loss},         {&stats.latent, latent}, {&stats.reward, reward},   {&stats.terminal, terminal},
                                              {&stats.present, present}, {&stats.count, count},   {&stats.members, member}, {&stats.variance, variance}};
  for (const auto& [to, from] : parts) *to += from.item<double>();
}

void WorldTrainer::follow_encoder() {
  torch::NoGradGuard no_grad;
  const auto from = model_->encoder()->parameters();
  auto to = target_->parameters();
  for (size_t i = 0; i < to.size(); ++i) to[i].lerp_(from[i], 1 - options_.target_decay);
}

// Raw latents of each episode [steps + 1, Z], once for all passes, where the encoder stays as it is.
std::map<const mdp::Trajectory*, Tensor> WorldTrainer::encode_once(std::span<const mdp::Trajectory* const> episodes) {
  std::map<const mdp::Trajectory*, Tensor> result;
  if (options_.train_encoder) return result;
  std::vector<const mdp::Observation*> seen;
  for (const auto* e : episodes) {
    for (const auto& step : e->steps) seen.push_back(&step.observation);
    seen.push_back(&e->last);
  }
  const auto all = encode_all(seen, model_->encoder(), false);
  int64_t at = 0;
  for (const auto* e : episodes) {
    const auto length = static_cast<int64_t>(e->steps.size()) + 1;
    result[e] = all.slice(0, at, at + length);
    at += length;
  }
  return result;
}

void WorldTrainer::learn(std::span<const mdp::Trajectory* const> episodes, const std::map<const mdp::Trajectory*, Tensor>& latents, bool first,
                         Sums& sums) {
  model_->train();
  const auto s = make_sequences(episodes, model_->spec());
  Tensor raw;
  if (options_.train_encoder) {
    if (first) raw = encode(s, 0, s.steps + 1, model_->encoder(), false);
  } else {
    raw = torch::zeros({s.steps + 1, s.episodes, model_->latent_width()}, torch::TensorOptions(model_->device()));
    for (size_t b = 0; b < episodes.size(); ++b) {
      const auto& own = latents.at(episodes[b]);
      raw.select(1, static_cast<int64_t>(b)).slice(0, 0, own.size(0)).copy_(own);
    }
  }
  if (first) {
    observe(s, raw);
    observe_rewards(s);
  }
  auto memory = model_->blank(s.episodes);
  for (int64_t begin = 0; begin < s.steps; begin += options_.sequence)
    learn_chunk(s, raw, begin, std::min(begin + options_.sequence, s.steps), memory, sums);
}

WorldStats WorldTrainer::update(std::span<const mdp::Trajectory* const> trajectories, double progress, Rng& shuffle,
                                const std::function<void()>& between) {
  std::vector<const mdp::Trajectory*> known, unseen;
  for (const auto* t : trajectories) {
    if (t->steps.empty()) continue;
    if (t->spec_hash != model_->spec().hash()) fail("world model: episode {} of rank {} comes from another environment", t->episode, t->rank);
    (is_held_out(*t, options_.holdout) ? unseen : known).push_back(t);
  }
  Sums sums;
  auto& stats = sums.stats;
  stats.held_out = static_cast<int64_t>(unseen.size());
  if (known.empty()) return stats;
  const double rest = 1 - std::clamp(progress, 0.0, 1.0);
  stats.learning_rate = (options_.learning_rate - options_.learning_rate_end) * rest * rest + options_.learning_rate_end;
  static_cast<torch::optim::AdamOptions&>(adam_.param_groups()[0].options()).lr(stats.learning_rate);
  if (updates_ > 0) stats.score = score(unseen);
  const auto latents = encode_once(known);
  for (int pass = 0; pass < options_.passes; ++pass) {
    for (size_t i = known.size(); i > 1; --i) std::swap(known[i - 1], known[shuffle.below(i)]);
    for (size_t at = 0; at < known.size(); at += static_cast<size_t>(options_.batch)) {
      const auto some = std::span(known).subspan(at, std::min(static_cast<size_t>(options_.batch), known.size() - at));
      learn(some, latents, pass == 0, sums);
      ++stats.minibatches;
      if (between) between();
    }
  }
  ++updates_;
  stats.episodes = static_cast<int64_t>(known.size());
  for (const auto* t : known) stats.steps += static_cast<int64_t>(t->steps.size());
  const auto n = static_cast<double>(std::max<int64_t>(sums.chunks, 1));
  for (double* sum : {&stats.loss, &stats.latent, &stats.reward, &stats.terminal, &stats.present, &stats.count, &stats.members, &stats.variance, &stats.grad_norm})
    *sum /= n;
  const auto mean = z_sums_[1] / z_sums_[0];
  stats.latent_deviation = (z_sums_[2] / z_sums_[0] - mean.square()).clamp_min(0).sqrt().min().item<double>();
  return stats;
}

void WorldTrainer::store(Checkpoint& c, const std::string& prefix) const {
  store_module(c, prefix + "model/", *model_);
  if (target_) store_module(c, prefix + "target/", *target_);
  store_adam(c, prefix + "adam/", const_cast<torch::optim::Adam&>(adam_));
  c.tensors[prefix + "sums/z"] = to_data(z_sums_);
  c.tensors[prefix + "sums/change"] = to_data(change_sums_);
  c.tensors[prefix + "sums/reward"] = to_data(reward_sums_);
  c.counters[prefix + "updates"] = updates_;
}

void WorldTrainer::restore(const Checkpoint& c, const std::string& prefix) {
  for (const char* name : {"sums/z", "sums/change", "sums/reward"}) {
    if (!c.tensors.contains(prefix + name)) fail("the checkpoint has no '{}{}'", prefix, name);
  }
  restore_module(c, prefix + "model/", *model_);
  if (target_) restore_module(c, prefix + "target/", *target_);
  restore_adam(c, prefix + "adam/", adam_);
  z_sums_ = to_tensor(c.tensors.at(prefix + "sums/z"));
  change_sums_ = to_tensor(c.tensors.at(prefix + "sums/change"));
  reward_sums_ = to_tensor(c.tensors.at(prefix + "sums/reward"));
  const auto updates = c.counters.find(prefix + "updates");
  if (updates == c.counters.end()) fail("the checkpoint has no counter '{}updates'", prefix);
  updates_ = updates->second;
}

}  // namespace rlgo::learner
