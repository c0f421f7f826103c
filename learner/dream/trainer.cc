#include "learner/dream/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/nets/batch.h"
#include "core/nets/transfer.h"
#include "learner/ahead.h"
#include "learner/dream/trainer_parts.h"
#include "learner/torch_tensors.h"

namespace rlgo::learner {

using torch::Tensor;

namespace {

constexpr size_t kEncodeAtOnce = 256;  // graphs, without gradients

nets::Encoder copy_of(nets::WorldModel& model, uint64_t seed) {
  auto options = model->options();
  nets::WorldModel other(model->spec(), options, seed);
  auto encoder = other->encoder();
  encoder->to(model->device(), model->parameters()[0].scalar_type());
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

}  // namespace

std::vector<const mdp::Trajectory*> pointers(const std::vector<mdp::Trajectory>& all) {
  std::vector<const mdp::Trajectory*> result;
  for (const auto& t : all) result.push_back(&t);
  return result;
}

bool is_held_out(const mdp::Trajectory& t, double fraction) {
  const uint64_t h = hash_combine(hash_combine(mix64(t.seed + 0x401D), static_cast<uint64_t>(t.rank)),
                                  static_cast<uint64_t>(t.episode));
  return static_cast<double>(h >> 11) * 0x1.0p-53 < fraction;
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
  range_low_ = torch::full({z + model_->spec().rules + 1}, 1e30, exact);
  range_high_ = -range_low_;
  if (options_.train_encoder) target_ = copy_of(model_, seed);
  set_group(std::make_shared<LearnerGroup>());
}

void WorldTrainer::set_group(std::shared_ptr<LearnerGroup> group) {
  group_ = std::move(group);
  gradients_.reset();  // its hooks go first
  gradients_ = std::make_unique<GradientSum>(parameters_, group_);
}

Tensor WorldTrainer::encode(const Sequences& s, int64_t begin, int64_t end, nets::Encoder& encoder,
                            bool gradients) const {
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
  auto out = torch::zeros({(end - begin) * s.episodes, z}, torch::TensorOptions(device).dtype(type()));
  if (seen.empty()) return out.reshape({end - begin, s.episodes, z});
  const auto index = nets::to_device(torch::tensor(places, torch::kInt64), device);
  torch::AutoGradMode mode(gradients);
  return out.index_copy(0, index, encode_all(seen, encoder, gradients)).reshape({end - begin, s.episodes, z});
}

// [observations, Z] raw latents.
Tensor WorldTrainer::encode_all(std::span<const mdp::Observation* const> seen, nets::Encoder& encoder,
                                bool gradients) const {
  torch::AutoGradMode mode(gradients);
  std::vector<Tensor> parts;
  const size_t group = gradients ? seen.size() : kEncodeAtOnce;
  for (size_t at = 0; at < seen.size(); at += group) {
    const auto some = seen.subspan(at, std::min(group, seen.size() - at));
    auto batch = nets::collate(some, model_->spec(), model_->device());
    if (type() != torch::kFloat32) batch.convert(type());
    parts.push_back(encoder(batch).global);
  }
  return torch::cat(parts);
}

void WorldTrainer::follow_encoder(const Tensor& taken) {
  torch::NoGradGuard no_grad;
  const auto from = model_->encoder()->parameters();
  auto to = target_->parameters();
  const auto by = [&](const auto& weight) {
    for (size_t i = 0; i < to.size(); ++i) to[i].lerp_(from[i], weight);
  };
  const double all = 1 - options_.target_decay;
  if (taken.defined()) {
    by((taken * all).to(type()));
  } else {
    by(all);
  }
}

WorldTrainer::Views WorldTrainer::look(std::span<const mdp::Trajectory* const> episodes) {
  torch::NoGradGuard no_grad;
  const bool places = model_->options().locations;
  Views result;
  std::vector<const mdp::Observation*> seen;
  for (const auto* e : episodes) {
    for (const auto& step : e->steps) seen.push_back(&step.observation);
    seen.push_back(&e->last);
  }
  std::vector<Tensor> raw, described, features;
  std::vector<int64_t> sizes;
  for (size_t at = 0; at < seen.size(); at += kEncodeAtOnce) {
    const auto some = std::span(seen).subspan(at, std::min(kEncodeAtOnce, seen.size() - at));
    auto batch = nets::collate(some, model_->spec(), model_->device());
    if (type() != torch::kFloat32) batch.convert(type());
    const auto encoded = model_->encoder()(batch);
    raw.push_back(encoded.global);
    if (!places) continue;
    described.push_back(model_->places(batch, encoded).to(torch::kFloat32));
    const auto rules = static_cast<size_t>(batch.rules);
    for (size_t i = 0; i < some.size(); ++i)
      sizes.push_back(batch.loc_offset[(i + 1) * rules] - batch.loc_offset[i * rules]);
  }
  if (seen.empty()) return result;
  if (places) features = torch::cat(described).to(torch::kCPU).split_with_sizes(sizes);
  const auto all = torch::cat(raw), on_host = all.to(torch::kCPU);
  int64_t at = 0;
  for (const auto* e : episodes) {
    const auto length = static_cast<int64_t>(e->steps.size()) + 1;
    auto& view = result[e];
    view.raw = all.slice(0, at, at + length);
    view.raw_on_host = on_host.slice(0, at, at + length);
    if (places) {
      view.features.assign(features.begin() + at, features.begin() + at + length);
      view.places = find_places(*e, view.features, model_->spec());
    }
    at += length;
  }
  return result;
}

Sequences WorldTrainer::sequences(std::span<const mdp::Trajectory* const> episodes, const Views& views,
                                  int64_t steps) const {
  auto s = make_sequences(episodes, model_->spec(), steps);
  if (!model_->options().locations) return s;
  std::vector<const EpisodePlaces*> places;
  for (const auto* e : episodes) places.push_back(&views.at(e).places);
  add_places(s, places);
  return s;
}

void WorldTrainer::make_batch(Batch& batch, const Views& views) const {
  if (batch.own.empty()) return;
  batch.s = sequences(batch.own, views, batch.steps);
  batch.on_device = on_device(batch.s, model_->device(), type());
  if (!options_.train_encoder) add_latents(batch, views);
}

// Of an encoder that stays as it is.
void WorldTrainer::add_latents(Batch& batch, const Views& views) const {
  const auto joined = [&](torch::TensorOptions as, auto part) {
    auto all = torch::zeros({batch.s.steps + 1, batch.s.episodes, model_->latent_width()}, as);
    for (size_t b = 0; b < batch.own.size(); ++b) {
      const Tensor& own = part(views.at(batch.own[b]));
      all.select(1, static_cast<int64_t>(b)).slice(0, 0, own.size(0)).copy_(own);
    }
    return all;
  };
  batch.raw = joined(torch::TensorOptions(model_->device()).dtype(type()),
                     [](const View& view) -> const Tensor& { return view.raw; });
  if (!batch.first) return;
  batch.raw_exact = batch.raw.is_cpu() ? batch.raw.to(torch::kFloat64)
                                       : joined(torch::TensorOptions(torch::kFloat64),
                                                [](const View& view) -> const Tensor& { return view.raw_on_host; });
}

std::optional<WorldTrainer::Batch> WorldTrainer::next_batch(Course& course) const {
  auto& order = course.order;
  if (course.at == order.size()) {
    course.at = 0;
    ++course.pass;
  }
  if (course.pass == options_.passes) return {};
  if (course.at == 0) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[course.shuffle.below(i)]);
  }
  Batch batch;
  batch.first = course.pass == 0;
  const auto& [lengths, first] = course.lengths;
  const size_t end = std::min(course.at + static_cast<size_t>(options_.batch), order.size());
  for (size_t& i = course.at; i < end; ++i, ++batch.episodes) {
    batch.steps = std::max(batch.steps, static_cast<int64_t>(lengths[order[i]]));
    if (order[i] < first || order[i] >= first + course.known.size()) continue;
    batch.own.push_back(course.known[order[i] - first]);
    batch.columns.push_back(batch.episodes);
  }
  make_batch(batch, course.views);
  return batch;
}

void WorldTrainer::step(Sums& sums) {
  const double norm = gradients_->finish(options_.max_grad_norm);
  if (!std::isfinite(norm)) {
    ++sums.stats.skipped;
    return;
  }
  fused_step(adam_);
  if (options_.train_encoder) follow_encoder();
  sums.stats.grad_norm += norm;
}

void WorldTrainer::step_there(Sums& sums) {
  torch::NoGradGuard no_grad;
  const auto norm = gradients_->finish_there(options_.max_grad_norm);
  const auto taken = finite(norm);
  sums.taken = sums.taken + taken.to(torch::kFloat32);
  fused_step(adam_, {(1 - taken).to(torch::kFloat32), sums.taken});
  if (options_.train_encoder) follow_encoder(taken);
  sums.norms = sums.norms + torch::where(taken > 0, norm, torch::zeros_like(norm));
}

void WorldTrainer::learn(Batch& batch, Sums& sums) {
  model_->train();
  auto memory = model_->blank(std::max<int64_t>(batch.s.episodes, 1));
  for (int64_t begin = 0; begin < batch.steps; begin += options_.sequence) {
    const int64_t end = std::min(begin + options_.sequence, batch.steps);
    const auto loss = own_loss(batch, begin, end, memory, sums);
    gradients_->begin();
    if (loss.defined()) loss.backward();
    sums.taken.defined() ? step_there(sums) : step(sums);
    ++sums.chunks;
  }
}

// The head measures; what depends on it is sent to all.
WorldScore WorldTrainer::score_at_head(std::span<const mdp::Trajectory* const> unseen) {
  WorldScore result;
  if (group_->place() == 0) result = score(unseen);
  double sums[] = {static_cast<double>(result.steps), result.reward_correlation};
  group_->sum(sums);
  result.steps = static_cast<int64_t>(sums[0]);
  result.reward_correlation = sums[1];
  return result;
}

// Means over the chunks. Where the host has looked at none of them, this is its one copy.
void WorldTrainer::end(Sums& sums) {
  auto& stats = sums.stats;
  double* const parts[] = {&stats.loss,  &stats.latent,  &stats.reward,   &stats.terminal, &stats.present,
                           &stats.count, &stats.members, &stats.variance, &stats.gone,     &stats.come};
  static_assert(std::size(parts) == Sums::kParts);
  auto values = sums.parts;
  if (sums.taken.defined()) values = torch::cat({values, torch::stack({sums.norms, sums.taken.to(torch::kFloat64)})});
  values = values.to(torch::kCPU);
  double* const v = values.data_ptr<double>();
  if (sums.taken.defined()) {
    const auto taken = static_cast<int64_t>(v[Sums::kParts + 1]);
    count_steps(adam_, taken);
    stats.grad_norm = v[Sums::kParts];
    stats.skipped = sums.chunks - taken;
  }
  group_->sum({v, Sums::kParts});
  const auto n = static_cast<double>(std::max<int64_t>(sums.chunks, 1));
  for (size_t i = 0; i < std::size(parts); ++i) *parts[i] = v[i] / n;
  stats.grad_norm /= n;
  const auto mean = z_sums_[1] / z_sums_[0];
  stats.latent_deviation = (z_sums_[2] / z_sums_[0] - mean.square()).clamp_min(0).sqrt().min().item<double>();
}

WorldStats WorldTrainer::update(std::span<const mdp::Trajectory* const> trajectories, double progress, Rng& shuffle,
                                const std::function<void()>& between) {
  std::vector<const mdp::Trajectory*> known, unseen;
  std::vector<double> own_lengths;
  for (const auto* t : trajectories) {
    if (t->steps.empty()) continue;
    if (t->spec_hash != model_->spec().hash())
      fail("world model: episode {} of rank {} comes from another environment", t->episode, t->rank);
    const bool held_out = is_held_out(*t, options_.holdout);
    (held_out ? unseen : known).push_back(t);
    if (!held_out) own_lengths.push_back(static_cast<double>(t->steps.size()));
  }
  Sums sums;
  auto& stats = sums.stats;
  double held_out = static_cast<double>(unseen.size());
  group_->sum({&held_out, 1});
  stats.held_out = static_cast<int64_t>(held_out);
  const auto all = group_->gather(own_lengths);
  if (all.values.empty()) return stats;
  const double rest = 1 - std::clamp(progress, 0.0, 1.0);
  stats.learning_rate =
      (options_.learning_rate - options_.learning_rate_end) * rest * rest + options_.learning_rate_end;
  static_cast<torch::optim::AdamOptions&>(adam_.param_groups()[0].options()).lr(stats.learning_rate);
  if (updates_ > 0) stats.score = score_at_head(unseen);
  const bool needed = !options_.train_encoder || model_->options().locations;
  const auto views = needed ? look(known) : Views();
  Course course{known, all, views, shuffle, std::vector<size_t>(all.values.size())};
  std::iota(course.order.begin(), course.order.end(), size_t{0});
  const auto where = torch::TensorOptions(model_->device());
  sums.parts = torch::zeros({Sums::kParts}, where.dtype(torch::kFloat64));
  if (gradients_->decides_there()) {
    sums.taken = torch::zeros({}, where.dtype(torch::kFloat32));
    sums.norms = torch::zeros({}, where.dtype(torch::kFloat64));
  }
  // On a GPU the next one is made while this one is learned from.
  Ahead<Batch> batches(!model_->device().is_cpu(), [&] { return next_batch(course); });
  while (auto batch = batches.next(between)) {
    if (batch->first) observe(*batch);
    learn(*batch, sums);
    ++stats.minibatches;
    if (between) between();
  }
  ++updates_;
  stats.episodes = static_cast<int64_t>(all.values.size());
  for (const double length : all.values) stats.steps += static_cast<int64_t>(length);
  end(sums);
  return stats;
}

void WorldTrainer::store(Checkpoint& c, const std::string& prefix) const {
  store_module(c, prefix + "model/", *model_);
  if (target_) store_module(c, prefix + "target/", *target_);
  store_adam(c, prefix + "adam/", const_cast<torch::optim::Adam&>(adam_));
  c.tensors[prefix + "sums/z"] = to_data(z_sums_);
  c.tensors[prefix + "sums/change"] = to_data(change_sums_);
  c.tensors[prefix + "sums/reward"] = to_data(reward_sums_);
  c.tensors[prefix + "range/low"] = to_data(range_low_);
  c.tensors[prefix + "range/high"] = to_data(range_high_);
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
  if (model_->options().ranges) {
    for (const char* name : {"range/low", "range/high"}) {
      if (!c.tensors.contains(prefix + name)) fail("the checkpoint has no '{}{}' (--wm.ranges false?)", prefix, name);
    }
    range_low_ = to_tensor(c.tensors.at(prefix + "range/low"));
    range_high_ = to_tensor(c.tensors.at(prefix + "range/high"));
  }
  const auto updates = c.counters.find(prefix + "updates");
  if (updates == c.counters.end()) fail("the checkpoint has no counter '{}updates'", prefix);
  updates_ = updates->second;
}

}  // namespace rlgo::learner
