#include "learner/session/learners.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
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
  out.put_string(place.why_no_nccl);
  out.put<uint64_t>(place.gpus.size());
  for (const auto& gpu : place.gpus) {
    out.put<int32_t>(gpu.index);
    out.put_string(gpu.address);
    out.put_string(gpu.model);
  }
  return out.take();
}

LearnerPlace decode_place(const std::string& bytes) {
  ByteReader in(bytes);
  LearnerPlace place;
  place.host = in.get_string();
  place.why_no_nccl = in.get_string();
  const auto count = in.get<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    const auto index = in.get<int32_t>();
    std::string address = in.get_string();
    place.gpus.push_back({index, std::move(address), in.get_string()});
  }
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
  out.put<uint8_t>(b.own);
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

// For each place the number of one of its GPUs, so that as few as possible share one: augmenting paths from each place
// in turn; what finds none takes the GPU that the fewest have.
std::vector<size_t> match_gpus(const std::vector<LearnerPlace>& places) {
  std::map<std::string, size_t> holder;  // host and address -> place
  std::vector<size_t> chosen(places.size());
  const auto name = [&](size_t place, size_t gpu) {
    return places[place].host + " " + places[place].gpus[gpu].address;
  };
  const std::function<bool(size_t, std::set<std::string>&)> find = [&](size_t place, std::set<std::string>& seen) {
    for (size_t gpu = 0; gpu < places[place].gpus.size(); ++gpu) {
      const auto key = name(place, gpu);
      if (!seen.insert(key).second) continue;
      const auto at = holder.find(key);
      if (at != holder.end() && !find(at->second, seen)) continue;
      holder[key] = place;
      chosen[place] = gpu;
      return true;
    }
    return false;
  };
  std::vector<size_t> left;
  for (size_t place = 0; place < places.size(); ++place) {
    std::set<std::string> seen;
    if (!find(place, seen)) left.push_back(place);
  }
  std::map<std::string, int> users;
  for (const auto& [key, place] : holder) users[key] = 1;
  for (const size_t place : left) {
    for (size_t gpu = 1; gpu < places[place].gpus.size(); ++gpu) {
      if (users[name(place, gpu)] < users[name(place, chosen[place])]) chosen[place] = gpu;
    }
    ++users[name(place, chosen[place])];
  }
  return chosen;
}

}  // namespace

LearnerPlace learner_place(const LearnersOptions& options) {
  LearnerPlace place;
  place.host = host_name();
  place.gpus = exec::usable_gpus(options.device);  // an Error names what is missing
  if (!place.gpus.empty()) place.why_no_nccl = comm::why_no_nccl();
  return place;
}

LearnerDevices choose_devices(const std::vector<LearnerPlace>& places, std::string_view word) {
  LearnerDevices result;
  result.own.assign(places.size(), true);
  for (const auto& place : places) {
    if (!place.why_no_nccl.empty()) result.why_not = "NCCL's plug-in does not load: " + place.why_no_nccl;
    if (!place.gpus.empty()) continue;
    result.devices.assign(places.size(), exec::Device{});
    result.why_not = fmt::format("{} has no GPU to use", place.host);
    return result;
  }
  const auto chosen = match_gpus(places);
  std::set<std::string> taken, models;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto& gpu = places[i].gpus[chosen[i]];
    result.devices.push_back({exec::Device::Kind::cuda, gpu.index});
    result.own[i] = taken.insert(places[i].host + " " + gpu.address).second;
    models.insert(gpu.model);
  }
  if (taken.size() < places.size())
    result.why_not =
        fmt::format("{} learners share {} GPU{}", places.size(), taken.size(), taken.size() > 1 ? "s" : "");
  if (word == "cuda" && taken.size() < places.size())
    fail("--device cuda: {}; use fewer --learners, --device auto or cuda:N to share one, or --device cpu",
         result.why_not);
  if (models.size() > 1)
    result.remark = fmt::format("the learners' GPUs differ ({}): each update takes as long as the slowest needs",
                                rlgo::join(std::vector(models.begin(), models.end()), ", "));
  result.nccl = result.why_not.empty();
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
  return choose_devices(places, options.device);
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
                 encode(Beginning{devices.devices[static_cast<size_t>(rank)], devices.own[static_cast<size_t>(rank)],
                                  devices.nccl, spec, initial, bytes}));
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
  b.own = in.get<uint8_t>() != 0;
  b.nccl = in.get<uint8_t>() != 0;
  b.spec = get_spec(in);
  b.initial = mdp::decode(in.get_string()).last;
  b.state = in.get_string();
  return b;
}

void send_place(const LearnersOptions& options, comm::Mailbox& mailbox) {
  mailbox.send(0, Tag::learner, encode(learner_place(options)));
}

void follow_leader(const LearnersOptions& options, comm::Mailbox& mailbox, const Beginning& beginning,
                   const std::shared_ptr<Algorithm>& algorithm) {
  algorithm->restore(decode_checkpoint(beginning.state));
  algorithm->set_group(join(options, mailbox, beginning.device, beginning.nccl));
  follow(mailbox, learner_ranks(options), *algorithm, inspector(algorithm, beginning.device),
         std::max(options.timeout_s, 300.0));
}

}  // namespace rlgo::learner
