#include "learner/session/learners.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/comm/device_group.h"
#include "core/exec/device_tools.h"
#include "learner/checkpoint.h"
#include "learner/session/memory.h"

namespace rlgo::learner {

using comm::Tag;

namespace {

std::vector<int> learner_ranks(const LearnersOptions& options) {
  std::vector<int> ranks;
  for (int rank = 0; rank < options.learners; ++rank) ranks.push_back(rank);
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
                        spec.max_locations, spec.location_features, spec.latent_features, spec.location_latents})
    out.put(value);
  for (const auto& name : spec.rule_names) out.put_string(name);
  out.put_vector(spec.nonlocal_node_features);
}

mdp::ObservationSpec get_spec(ByteReader& in) {
  mdp::ObservationSpec spec;
  for (int32_t* value : {&spec.ops, &spec.node_features, &spec.edge_features, &spec.global_features, &spec.rules,
                         &spec.max_locations, &spec.location_features, &spec.latent_features, &spec.location_latents})
    *value = in.get<int32_t>();
  for (int32_t x = 0; x < spec.rules; ++x) spec.rule_names.push_back(in.get_string());
  spec.nonlocal_node_features = in.get_vector<int32_t>();
  return spec;
}

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

std::shared_ptr<LearnerGroup> join(const LearnersOptions& options, comm::Mailbox& mailbox, const exec::Device& device,
                                   bool nccl) {
  const auto ranks = learner_ranks(options);
  const comm::GroupOptions group{options.timeout_s, fmt::format("MPI ({} ranks)", mailbox.size())};
  std::shared_ptr<comm::DeviceGroup> host = comm::ring_group(mailbox, ranks, group), gpu;
  if (nccl) gpu = comm::nccl_group(mailbox, ranks, device.index, group);
  return std::make_shared<LearnerGroup>(host, gpu, mailbox, ranks, options.timeout_s);
}

Inspect inspector(std::shared_ptr<const Algorithm> algorithm, const exec::Device& device) {
  return [algorithm = std::move(algorithm), device] {
    const auto peak = memory_peak(device);
    return FollowerReport{digest(*algorithm), 0, peak.host_bytes, peak.device_bytes};
  };
}

}  // namespace

LearnerPlace learner_place(const LearnersOptions& options) {
  LearnerPlace place;
  place.host = host_name();
  if (options.device == "cpu") return place;
  if (options.device == "cuda") exec::resolve_device("cuda");  // an Error tells what is missing
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

LearnerDevices meet_learners(const LearnersOptions& options, comm::Mailbox& mailbox) {
  std::vector<LearnerPlace> places = {learner_place(options)};
  for (int rank = 1; rank < options.learners; ++rank) {
    const Stopwatch watch;
    for (;;) {
      if (auto message = mailbox.take(Tag::learner, rank)) {
        places.push_back(decode_place(message->payload));
        break;
      }
      if (auto message = mailbox.take(Tag::stop, rank)) fail("learner rank {} ended: {}", rank, message->payload);
      if (watch.seconds() > options.timeout_s)
        throw comm::NoAnswer(fmt::format("learner rank {} did not come within {} s", rank, options.timeout_s));
      mailbox.wait(20);
    }
  }
  return choose_devices(places);
}

std::shared_ptr<LeaderAlgorithm> lead_learners(const LearnersOptions& options, comm::Mailbox& mailbox,
                                               const LearnerDevices& devices, const mdp::ObservationSpec& spec,
                                               const mdp::Observation& initial,
                                               const std::shared_ptr<Algorithm>& algorithm) {
  Checkpoint state;
  algorithm->store(state);
  const std::string bytes = encode(state);
  const auto ranks = learner_ranks(options);
  for (int rank = 1; rank < options.learners; ++rank)
    mailbox.send(rank, Tag::learner,
                 encode(Beginning{devices.devices[static_cast<size_t>(rank)], devices.nccl, spec, initial, bytes}));
  mailbox.flush(options.timeout_s, ranks);
  const auto group = join(options, mailbox, devices.devices[0], devices.nccl);
  algorithm->set_group(group);
  return std::make_shared<LeaderAlgorithm>(algorithm, group, mailbox, ranks, inspector(algorithm, devices.devices[0]),
                                           options.timeout_s);
}

std::string describe(const LearnerGroup& group, const LearnerDevices& devices) {
  return fmt::format("{} learners; gradients are summed by {}{}", group.size(), group.name(),
                     devices.nccl ? "" : fmt::format(" (no NCCL: {})", devices.why_not));
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

void tell_place(const LearnersOptions& options, comm::Mailbox& mailbox) {
  mailbox.send(0, Tag::learner, encode(learner_place(options)));
}

void follow_leader(const LearnersOptions& options, comm::Mailbox& mailbox, const Beginning& beginning,
                   const std::shared_ptr<Algorithm>& algorithm) {
  algorithm->restore(decode_checkpoint(beginning.state));
  algorithm->set_group(join(options, mailbox, beginning.device, beginning.nccl));
  follow(mailbox, 0, *algorithm, inspector(algorithm, beginning.device), std::max(options.timeout_s, 300.0));
}

}  // namespace rlgo::learner
