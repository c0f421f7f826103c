#include "actors/dreamer.h"

#include "actors/network_policy.h"
#include "core/base/bytes.h"
#include "core/base/error.h"
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

Dreamer::Dreamer(const mdp::ObservationSpec& spec, const nets::WorldOptions& world_options,
                 const nets::LatentAgentOptions& agent_options, uint64_t seed, torch::Device device)
    : world(spec, world_options, seed), agent(world->spec(), agent_options, seed) {
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
      version_(version) {}

// Episodes that began at random have no latents: they go on as they began, beside others that the controller plays.
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
