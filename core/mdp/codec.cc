// Trajectories as bytes. Layout, little-endian: magic, version, the fields of Trajectory in the order of mdp.h, a count
// of steps, the steps, the last observation. The first observation is coded alone, each later one against the one
// before (observation_code.h). Bools are one byte, 0 or 1.
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/mdp/mdp.h"
#include "core/mdp/observation_code.h"

namespace rlgo::mdp {
namespace {

constexpr uint32_t kMagic = 0x4A52544C;  // "LTRJ"
constexpr uint32_t kVersion = 3;

// Facts about steps, each against the step before: a mask of those that changed, two bits a number (changed, and given
// as the difference of two whole numbers), then the numbers.
class InfoCode {
 public:
  void put(ByteWriter& out, const StepInfo& info) {
    const auto [found, added] = rules_.try_emplace(info.rule, rules_.size());
    out.put_varint(found->second);
    if (added) out.put_string(info.rule);
    const auto now = numbers(info);
    uint64_t mask = 0;
    for (size_t i = 0; i < now.size(); ++i) {
      if (std::bit_cast<uint64_t>(now[i]) == std::bit_cast<uint64_t>(before_[i])) continue;
      mask |= uint64_t{whole(now[i]) && whole(before_[i]) ? 3u : 1u} << 2 * i;
    }
    out.put_varint(mask);
    for (size_t i = 0; i < now.size(); ++i) {
      const uint64_t how = mask >> 2 * i & 3;
      if (how == 1) out.put(now[i]);
      if (how == 3) out.put_signed_varint(static_cast<int64_t>(now[i]) - static_cast<int64_t>(before_[i]));
    }
    before_ = now;
  }

  StepInfo get(ByteReader& in) {
    const uint64_t rule = in.get_varint();
    if (rule > names_.size()) fail("trajectory: rule {} of {}", rule, names_.size());
    if (rule == names_.size()) names_.push_back(in.get_string());
    const uint64_t mask = in.get_varint();
    if (mask >> 2 * before_.size() != 0) fail("trajectory: a mask of {:#x}", mask);
    for (size_t i = 0; i < before_.size(); ++i) {
      const uint64_t how = mask >> 2 * i & 3;
      if (how == 1) before_[i] = in.get<double>();
      if (how == 3) {
        if (!whole(before_[i])) fail("trajectory: a difference to {}, not a whole number", before_[i]);
        const int64_t difference = in.get_signed_varint();
        if (std::abs(difference) > 2 * kLargest) fail("trajectory: a difference of {}", difference);
        before_[i] = static_cast<double>(static_cast<int64_t>(before_[i]) + difference);
      }
    }
    const auto& n = before_;
    return {names_[rule], n[0], n[1], n[2], n[3], n[4], n[5], n[6]};
  }

 private:
  static constexpr int64_t kLargest = int64_t{1} << 53;  // up to here doubles hold all whole numbers
  static std::array<double, 7> numbers(const StepInfo& i) {
    return {i.cost_us, i.flops, i.bytes, i.peak_bytes, i.launches, i.step_us, i.measured_us};
  }
  // Whether it survives as an integer (-0 does not).
  static bool whole(double value) {
    if (!(std::abs(value) <= static_cast<double>(kLargest))) return false;
    return std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(value))) == std::bit_cast<uint64_t>(value);
  }

  std::array<double, 7> before_{};
  std::map<std::string, uint64_t> rules_;
  std::vector<std::string> names_;
};

void put(ByteWriter& out, ObservationEncoder& encoder, const Observation& observation) {
  encoder.put(observation, out);
  out.put_varint(observation.latent.size());
  for (const float value : observation.latent) out.put(value);
}

Observation get_observation(const Observation* before, ByteReader& in) {
  Observation observation = decode_observation(before, in);
  observation.latent = in.get_floats(in.get_varint());
  return observation;
}

void put(ByteWriter& out, const Step& step) {
  out.put_signed_varint(step.action.xfer);
  out.put_signed_varint(step.action.location);
  for (float value : {step.reward, step.log_prob_xfer, step.log_prob_location, step.value_xfer, step.value_location})
    out.put(value);
}

Step get_step(ByteReader& in) {
  Step step;
  step.action.xfer = static_cast<int32_t>(in.get_signed_varint());
  step.action.location = static_cast<int32_t>(in.get_signed_varint());
  for (float* value :
       {&step.reward, &step.log_prob_xfer, &step.log_prob_location, &step.value_xfer, &step.value_location}) {
    *value = in.get<float>();
  }
  return step;
}

bool get_bool(ByteReader& in) {
  const auto value = in.get<uint8_t>();
  if (value > 1) fail("trajectory: a flag is {}, not 0 or 1", value);
  return value == 1;
}

}  // namespace

std::string encode(const Trajectory& trajectory) {
  ObservationEncoder encoder;
  return encode(trajectory, encoder);
}

std::string encode(const Trajectory& trajectory, ObservationEncoder& encoder) {
  const auto& t = trajectory;
  ByteWriter out;
  out.put(kMagic);
  out.put(kVersion);
  out.put(t.seed);
  out.put(t.rank);
  out.put(t.episode);
  out.put(t.weights_version);
  out.put(t.spec_hash);
  out.put<uint8_t>(t.terminal);
  out.put<uint8_t>(t.dream);
  out.put(t.initial_cost_us);
  out.put(t.best_cost_us);
  out.put<uint64_t>(t.steps.size());
  InfoCode infos;
  encoder.restart();
  for (const auto& step : t.steps) {
    put(out, encoder, step.observation);
    put(out, step);
    infos.put(out, step.info);
  }
  put(out, encoder, t.last);
  encoder.restart();
  out.put(t.last_value_xfer);
  return out.take();
}

Trajectory decode(std::string_view bytes) {
  ByteReader in(bytes);
  if (const auto magic = in.get<uint32_t>(); magic != kMagic)
    fail("trajectory: magic number {:#x}, expected {:#x}", magic, kMagic);
  if (const auto version = in.get<uint32_t>(); version != kVersion) {
    fail("trajectory: format version {}, this program reads version {}", version, kVersion);
  }
  Trajectory t;
  t.seed = in.get<uint64_t>();
  t.rank = in.get<int32_t>();
  t.episode = in.get<int64_t>();
  t.weights_version = in.get<int64_t>();
  t.spec_hash = in.get<uint64_t>();
  t.terminal = get_bool(in);
  t.dream = get_bool(in);
  t.initial_cost_us = in.get<double>();
  t.best_cost_us = in.get<double>();
  const auto steps = in.get<uint64_t>();
  InfoCode infos;
  const auto before = [&t] { return t.steps.empty() ? nullptr : &t.steps.back().observation; };
  for (uint64_t i = 0; i < steps; ++i) {  // a false count ends in "truncated data"
    auto observation = get_observation(before(), in);
    t.steps.push_back(get_step(in));
    t.steps.back().observation = std::move(observation);
    t.steps.back().info = infos.get(in);
  }
  t.last = get_observation(before(), in);
  t.last_value_xfer = in.get<float>();
  if (!in.done()) fail("trajectory: bytes left over after the last field");
  return t;
}

}  // namespace rlgo::mdp
