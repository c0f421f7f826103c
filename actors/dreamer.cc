#include "actors/dreamer.h"

#include <algorithm>

#include "actors/network_policy.h"
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/nets/transfer.h"
#include "core/nets/weights.h"

namespace rlgo::actors {

using torch::Tensor;

namespace {

constexpr uint32_t kMagic = 0x4D414552;  // "REAM"

void put(ByteWriter& out, const Tensor& tensor) {
  const auto host = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  out.put_vector(std::vector<float>(host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()));
}

Tensor get(ByteReader& in, int64_t rows, int64_t columns, torch::Device device) {
  const auto values = in.get_vector<float>();
  if (static_cast<int64_t>(values.size()) != rows * columns)
    fail("dream starts: {} numbers, expected {} x {}", values.size(), rows, columns);
  return torch::tensor(values).reshape({rows, columns}).to(device);
}

}  // namespace

nets::WorldInput world_input(const nets::WorldModelImpl& world, std::span<const mdp::Action> actions,
                             std::span<const std::vector<int32_t>* const> counts,
                             std::span<const nets::Menu* const> menus) {
  const auto rows = static_cast<int64_t>(actions.size());
  const int64_t rules = world.spec().rules, width = world.place_width();
  const bool sees = world.options().locations;
  nets::WorldInput input;
  input.rule = torch::empty({rows}, torch::kInt64);
  input.location = torch::empty({rows, 2});
  if (sees) {
    input.place = torch::zeros({rows, width});
    input.overlap = torch::zeros({rows, rules});
  }
  for (size_t i = 0; i < actions.size(); ++i) {
    const auto [x, l] = actions[i];
    const auto& legal = *counts[i];
    const bool noop = x == rules;
    if (!noop && (x < 0 || x > rules || l < 0 || l >= legal[static_cast<size_t>(x)]))
      fail("dream: action (rule {}, location {}) is not legal", x, l);
    input.rule.data_ptr<int64_t>()[i] = x;
    const auto where = nets::location_features(actions[i], legal, world.spec().max_locations);
    std::copy(where.begin(), where.end(), input.location.data_ptr<float>() + 2 * i);
    if (!sees || noop) continue;
    const auto& features = menus[i]->at(actions[i]).features;
    std::copy(features.begin(), features.end(), input.place.data_ptr<float>() + i * static_cast<size_t>(width));
    float* overlap = input.overlap.data_ptr<float>() + i * static_cast<size_t>(rules);
    menus[i]->overlap(actions[i], {overlap, static_cast<size_t>(rules)});
  }
  for (auto* part : {&input.rule, &input.location, &input.place, &input.overlap}) {
    if (part->defined()) *part = nets::to_device(*part, world.device());
  }
  return input;
}

Dreamer::Dreamer(const mdp::ObservationSpec& spec, const nets::WorldOptions& world_options,
                 const nets::LatentAgentOptions& agent_options, uint64_t seed, torch::Device device, bool stops)
    : world(spec, world_options, seed), agent(world->spec(), agent_options, seed), random_stops(stops) {
  world->to(device);
  agent->to(device);
}

std::string Dreamer::pack() const {
  ByteWriter out;
  out.put(kMagic);
  out.put<uint8_t>(act_at_random);
  out.put<uint8_t>(may_dream);
  const bool needed = !act_at_random || may_dream;  // who acts at random needs no networks
  out.put_string(needed ? nets::pack(*world) : "");
  out.put_string(needed ? nets::pack(*agent) : "");
  out.put<int64_t>(starts.size());
  if (starts.size() > 0) {
    for (const auto* t : {&starts.z, &starts.h, &starts.c, &starts.counts}) put(out, *t);
    out.put<uint64_t>(starts.menus.size());
    for (const auto& menu : starts.menus) menu.put(out);
  }
  return out.take();
}

void Dreamer::unpack(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.get<uint32_t>() != kMagic) fail("weights: not those of an agent with a world model");
  const bool random = in.get<uint8_t>() != 0, dream = in.get<uint8_t>() != 0;
  const auto world_bytes = in.get_string(), agent_bytes = in.get_string();
  DreamStarts fresh;
  if (const auto rows = in.get<int64_t>(); rows > 0) {
    const auto device = world->device();
    fresh.z = get(in, rows, world->latent_width(), device);
    fresh.h = get(in, rows, world->options().hidden, device);
    fresh.c = get(in, rows, world->options().hidden, device);
    fresh.counts = get(in, rows, spec().rules, device);
    const auto menus = in.get<uint64_t>();
    if (menus != 0 && menus != static_cast<uint64_t>(rows)) fail("dream starts: {} lists of {}", menus, rows);
    for (uint64_t i = 0; i < menus; ++i) fresh.menus.push_back(nets::Menu::get(in));
  }
  if (!in.done()) fail("weights: bytes left over after the last field");
  if (!random || dream) {
    nets::unpack(*world, world_bytes);
    nets::unpack(*agent, agent_bytes);
  }
  starts = fresh;
  act_at_random = random;
  may_dream = dream;
}

DreamerPolicy::DreamerPolicy(std::shared_ptr<Dreamer> dreamer, int64_t version)
    : dreamer_(std::move(dreamer)),
      controller_(std::make_unique<NetworkPolicy>(dreamer_->agent.ptr())),
      random_(dreamer_->random_stops),
      version_(version) {}

// Episodes that began at random have no latents: they continue as they began, next to others that the controller plays.
std::vector<Decision> DreamerPolicy::act(std::span<const mdp::Observation* const> observations,
                                         std::span<Rng* const> rngs) {
  std::vector<const mdp::Observation*> blind, seeing;
  std::vector<Rng*> blind_rngs, seeing_rngs;
  for (size_t i = 0; i < observations.size(); ++i) {
    const bool latent = !observations[i]->latent.empty();
    (latent ? seeing : blind).push_back(observations[i]);
    (latent ? seeing_rngs : blind_rngs).push_back(rngs[i]);
  }
  std::vector<Decision> by_chance, by_controller;
  if (!blind.empty()) by_chance = random_.act(blind, blind_rngs);
  if (!seeing.empty()) {
    controller_->set_greedy(greedy());
    by_controller = controller_->act(seeing, seeing_rngs);
  }
  std::vector<Decision> decisions;
  size_t chance = 0, controller = 0;
  for (const auto* o : observations)
    decisions.push_back(o->latent.empty() ? by_chance[chance++] : by_controller[controller++]);
  return decisions;
}

std::vector<float> DreamerPolicy::value(std::span<const mdp::Observation* const> observations) {
  if (values_together() && std::ranges::none_of(observations, [](const auto* o) { return o->latent.empty(); }))
    return controller_->value(observations);
  std::vector<float> values;
  for (const auto* o : observations) {
    const mdp::Observation* const one[] = {o};
    values.push_back((o->latent.empty() ? random_.value(one) : controller_->value(one)).at(0));
  }
  return values;
}

void DreamerPolicy::load(std::string_view weights, int64_t version) {
  dreamer_->unpack(weights);
  version_ = version;
}

}  // namespace rlgo::actors
