#include "launch/train/learners.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/comm/device_group.h"
#include "core/exec/device_tools.h"
#include "launch/train/roles.h"
#include "learner/session/memory.h"

namespace rlgo::launch {

using comm::Tag;

namespace {

std::vector<int> learner_ranks(const RunConfig& config) {
  std::vector<int> ranks;
  for (int rank = 0; rank < config.loop.learners; ++rank) ranks.push_back(rank);
  return ranks;
}

std::string encode(const LearnerPlace& place) {
  ByteWriter out;
  out.put_string(place.host);
  out.put<uint8_t>(place.nccl);
  out.put<uint64_t>(place.gpus.size());
  for (const auto& gpu : place.gpus) out.put_string(gpu);
  return out.take();
}

LearnerPlace decode_place(const std::string& bytes) {
  ByteReader in(bytes);
  LearnerPlace place;
  place.host = in.get_string();
  place.nccl = in.get<uint8_t>() != 0;
  const auto count = in.get<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) place.gpus.push_back(in.get_string());
  return place;
}

void put_spec(ByteWriter& out, const mdp::ObservationSpec& spec) {
  for (int32_t value : {spec.ops, spec.node_features, spec.edge_features, spec.global_features, spec.rules,
                        spec.max_locations, spec.location_features, spec.latent_features})
    out.put(value);
  for (const auto& name : spec.rule_names) out.put_string(name);
  out.put_vector(spec.nonlocal_node_features);
}

mdp::ObservationSpec get_spec(ByteReader& in) {
  mdp::ObservationSpec spec;
  for (int32_t* value : {&spec.ops, &spec.node_features, &spec.edge_features, &spec.global_features, &spec.rules,
                         &spec.max_locations, &spec.location_features, &spec.latent_features})
    *value = in.get<int32_t>();
  for (int32_t x = 0; x < spec.rules; ++x) spec.rule_names.push_back(in.get_string());
  spec.nonlocal_node_features = in.get_vector<int32_t>();
  return spec;
}

// What a learner begins with.
struct Beginning {
  exec::Device device;
  bool nccl = false;
  mdp::ObservationSpec spec;
  mdp::Observation initial;
  std::string state;  // of the algorithm, a checkpoint
};

std::string encode(const Beginning& b) {
  ByteWriter out;
  out.put<uint8_t>(b.device.kind == exec::Device::Kind::cuda);
  out.put<int32_t>(b.device.index);
  out.put<uint8_t>(b.nccl);
  put_spec(out, b.spec);
  mdp::Trajectory carrier;
  carrier.last = b.initial;
  out.put_string(mdp::encode(carrier));
  out.put_string(b.state);
  return out.take();
}

Beginning decode_beginning(const std::string& bytes) {
  ByteReader in(bytes);
  Beginning b;
  b.device.kind = in.get<uint8_t>() != 0 ? exec::Device::Kind::cuda : exec::Device::Kind::cpu;
  b.device.index = in.get<int32_t>();
  b.nccl = in.get<uint8_t>() != 0;
  b.spec = get_spec(in);
  b.initial = mdp::decode(in.get_string()).last;
  b.state = in.get_string();
  return b;
}

std::shared_ptr<learner::LearnerGroup> join(const RunConfig& config, comm::Mailbox& mailbox, const exec::Device& device,
                                            bool nccl) {
  const auto ranks = learner_ranks(config);
  const comm::GroupOptions options{config.loop.actor_timeout_s, fmt::format("MPI ({} ranks)", mailbox.size())};
  std::shared_ptr<comm::DeviceGroup> host = comm::ring_group(mailbox, ranks, options), gpu;
  if (nccl) gpu = comm::nccl_group(mailbox, ranks, device.index, options);
  return std::make_shared<learner::LearnerGroup>(host, gpu, mailbox, ranks, config.loop.actor_timeout_s);
}

learner::Inspect inspector(std::shared_ptr<const learner::Algorithm> algorithm, const exec::Device& device) {
  return [algorithm, device] {
    const auto peak = learner::memory_peak(device);
    return learner::FollowerReport{digest(*algorithm), 0, peak.host_bytes, peak.device_bytes};
  };
}

int follow_to_the_end(RunConfig config, comm::Mailbox& mailbox) {
  mailbox.send(0, Tag::learner, encode(learner_place(config)));
  const auto message = wait_for_start(mailbox, Tag::learner, kStartSilence_s, [] { return false; });
  if (!message) return 0;
  const auto beginning = std::make_unique<Beginning>(decode_beginning(message->payload));
  if (config.dream.encoder == learner::EncoderSource::ppo)
    config.dream.encoder = learner::EncoderSource::random;  // its weights come from the leader, like all others
  tune_learner(config, beginning->device);
  const auto algorithm = make_algorithm({config, beginning->spec, beginning->device, beginning->initial, {}});
  algorithm->restore(learner::decode_checkpoint(beginning->state));
  algorithm->set_group(join(config, mailbox, beginning->device, beginning->nccl));
  learner::follow(mailbox, 0, *algorithm, inspector(algorithm, beginning->device),
                  std::max(config.loop.actor_timeout_s, 300.0));
  return 0;
}

}  // namespace

void tune_learner(const RunConfig& config, const exec::Device& device) {
  if (config.loop.reproducible) ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  exec::tune(device, config.loop.reproducible);
}

LearnerPlace learner_place(const RunConfig& config) {
  LearnerPlace place;
  place.host = host_name();
  if (config.device == "cpu") return place;
  if (config.device == "cuda") exec::resolve_device("cuda");  // an Error tells what is missing
  const int count = exec::gpu_count();
  place.nccl = count > 0 && comm::built_with_nccl();
  for (int gpu = 0; gpu < count; ++gpu) {
    std::string address = fmt::format("GPU {}", gpu);
    try {
      if (place.nccl) address = comm::device_address(gpu);
    } catch (const Error&) {
      place.nccl = false;
    }
    place.gpus.push_back(address);
  }
  return place;
}

LearnerDevices choose_devices(const std::vector<LearnerPlace>& places) {
  LearnerDevices result;
  for (const auto& place : places) {
    if (place.gpus.empty()) {
      result.devices.assign(places.size(), exec::Device{});
      result.why_not = fmt::format("{} has no GPU to use", place.host);
      return result;
    }
  }
  std::map<std::string, int> on_host;
  std::set<std::string> taken;
  bool own = true, nccl = true;
  for (const auto& place : places) {
    const int index = on_host[place.host]++ % static_cast<int>(place.gpus.size());
    result.devices.push_back({exec::Device::Kind::cuda, index});
    own = taken.insert(place.host + " " + place.gpus[static_cast<size_t>(index)]).second && own;
    nccl = nccl && place.nccl;
  }
  result.nccl = own && nccl;
  if (!own) result.why_not = "two learners share a GPU";
  if (!nccl) result.why_not = "NCCL's plug-in is not there or does not load";
  return result;
}

LearnerDevices meet_learners(const RunConfig& config, comm::Mailbox& mailbox) {
  std::vector<LearnerPlace> places = {learner_place(config)};
  for (int rank = 1; rank < config.loop.learners; ++rank) {
    const Stopwatch watch;
    for (;;) {
      if (auto message = mailbox.take(Tag::learner, rank)) {
        places.push_back(decode_place(message->payload));
        break;
      }
      if (auto message = mailbox.take(Tag::stop, rank)) fail("learner rank {} ended: {}", rank, message->payload);
      if (watch.seconds() > config.loop.actor_timeout_s)
        throw comm::NoAnswer(
            fmt::format("learner rank {} did not come within {} s", rank, config.loop.actor_timeout_s));
      mailbox.wait(20);
    }
  }
  return choose_devices(places);
}

std::shared_ptr<learner::LeaderAlgorithm> lead_learners(const RunConfig& config, comm::Mailbox& mailbox,
                                                        const LearnerDevices& devices, const mdp::ObservationSpec& spec,
                                                        const mdp::Observation& initial,
                                                        std::shared_ptr<learner::Algorithm> algorithm) {
  learner::Checkpoint state;
  algorithm->store(state);
  const std::string bytes = learner::encode(state);
  const auto ranks = learner_ranks(config);
  for (int rank = 1; rank < config.loop.learners; ++rank)
    mailbox.send(rank, Tag::learner,
                 encode(Beginning{devices.devices[static_cast<size_t>(rank)], devices.nccl, spec, initial, bytes}));
  mailbox.flush(config.loop.actor_timeout_s, ranks);
  const auto group = join(config, mailbox, devices.devices[0], devices.nccl);
  algorithm->set_group(group);
  return std::make_shared<learner::LeaderAlgorithm>(
      algorithm, group, mailbox, ranks, inspector(algorithm, devices.devices[0]), config.loop.actor_timeout_s);
}

std::string describe(const learner::LearnerGroup& group, const LearnerDevices& devices) {
  return fmt::format("{} learners; gradients are summed by {}{}", group.size(), group.name(),
                     devices.nccl ? "" : fmt::format(" (no NCCL: {})", devices.why_not));
}

int as_follower(comm::Mailbox& mailbox, int learners, const std::function<int()>& work) {
  try {
    return work();
  } catch (const comm::NoAnswer& e) {  // whoever is silent, the first learner notices too, and decides
    std::fprintf(stderr, "rlgo: rank %d: error: %s\n", mailbox.rank(), e.what());
    return kRestartStatus;
  } catch (const std::exception& e) {  // LibTorch's errors are not rlgo's
    for (int rank = 0; rank < learners; ++rank) {
      if (rank != mailbox.rank()) mailbox.send(rank, Tag::stop, e.what());
    }
    mailbox.flush(2.0);
    throw;
  }
}

int run_follower(const RunConfig& config, comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  return as_follower(mailbox, config.loop.learners, [&] { return follow_to_the_end(config, mailbox); });
}

}  // namespace rlgo::launch
