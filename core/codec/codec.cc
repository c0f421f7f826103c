// Trajectories as bytes. Layout, little-endian: magic, version, the fields of Trajectory in the order of mdp.h, a count
// of steps, the steps, the latent vectors of the observations where there are any, of each observation the length of
// its code and its sizes, the codes (observation_code.h). Bools are one byte, 0 or 1.
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/codec/coded.h"
#include "core/codec/signed_number.h"

namespace rlgo::mdp {
namespace {

constexpr uint32_t kMagic = 0x4A52544C;  // "LTRJ"
constexpr uint32_t kVersion = 6;

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
        const int64_t difference = get_signed(in, "a difference", 2 * kLargest);
        before_[i] = static_cast<double>(static_cast<int64_t>(before_[i]) + difference);
      }
    }
    const auto& n = before_;
    const auto last = static_cast<double>(WholeTimed::failed);
    if (!(n[9] >= 0 && n[9] <= last) || !whole(n[9])) fail("trajectory: {} as the outcome of a timing", n[9]);
    const auto timing = static_cast<WholeTimed>(n[9]);
    return {names_[rule], n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], timing, 0};
  }

 private:
  static constexpr int64_t kLargest = int64_t{1} << 53;  // up to here doubles hold all whole numbers
  static std::array<double, 10> numbers(const StepInfo& i) {
    return {i.cost_us, i.flops,       i.bytes,          i.peak_bytes,     i.launches,
            i.step_us, i.measured_us, i.measured_ratio, i.measured_error, static_cast<double>(i.timing)};
  }
  // Whether it survives as an integer (-0 does not).
  static bool whole(double value) {
    if (!(std::abs(value) <= static_cast<double>(kLargest))) return false;
    return std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(value))) == std::bit_cast<uint64_t>(value);
  }

  std::array<double, 10> before_{};
  std::map<std::string, uint64_t> rules_;
  std::vector<std::string> names_;
};

void put(ByteWriter& out, const Step& step) {
  out.put_signed_varint(step.action.rule);
  out.put_signed_varint(step.action.location);
  out.put_signed_varint(int64_t{step.info.location} - step.action.location);
  for (float value : {step.reward, step.log_prob_rule, step.log_prob_location, step.value_rule, step.value_location})
    out.put(value);
}

// `location`: StepInfo::location.
Step get_step(ByteReader& in, int32_t& location) {
  Step step;
  step.action.rule = static_cast<int32_t>(get_signed(in, "a rule"));
  step.action.location = static_cast<int32_t>(get_signed(in, "a location"));
  const int64_t place = step.action.location + get_signed(in, "a place");
  if (place < INT32_MIN || place > INT32_MAX) fail("trajectory: a rewrite at place {}", place);
  location = static_cast<int32_t>(place);
  for (float* value :
       {&step.reward, &step.log_prob_rule, &step.log_prob_location, &step.value_rule, &step.value_location}) {
    *value = in.get<float>();
  }
  return step;
}

bool get_bool(ByteReader& in) {
  const auto value = in.get<uint8_t>();
  if (value > 1) fail("trajectory: a flag is {}, not 0 or 1", value);
  return value == 1;
}

void put(ByteWriter& out, const Beginning& beginning) {
  RLGO_CHECK_EQ(beginning.rewrites.size(), beginning.cost_us.size());
  out.put_signed_varint(beginning.graph);
  out.put_varint(beginning.rewrites.size());
  for (size_t i = 0; i < beginning.rewrites.size(); ++i) {
    out.put_signed_varint(beginning.rewrites[i].rule);
    out.put_signed_varint(beginning.rewrites[i].location);
    out.put(beginning.cost_us[i]);
  }
}

Beginning get_beginning(ByteReader& in) {
  Beginning beginning;
  beginning.graph = static_cast<int32_t>(get_signed(in, "a graph"));
  const uint64_t count = in.get_varint();
  for (uint64_t i = 0; i < count; ++i) {  // a false count ends in "truncated data"
    const auto rule = static_cast<int32_t>(get_signed(in, "a rule"));
    beginning.rewrites.push_back({rule, static_cast<int32_t>(get_signed(in, "a location"))});
    beginning.cost_us.push_back(in.get<double>());
  }
  return beginning;
}

// Each against the one before.
void put_sizes(ByteWriter& out, const ObservationCodes& observations) {
  ObservationCodes::Size before;
  for (size_t i = 0; i < observations.size(); ++i) {
    const auto& size = observations.size(i);
    out.put_varint(observations.code(i).size());
    out.put_signed_varint(int64_t{size.nodes} - before.nodes);
    out.put_signed_varint(int64_t{size.edges} - before.edges);
    out.put_signed_varint(int64_t{size.locations} - before.locations);
    before = size;
  }
}

ObservationCodes get_observations(ByteReader& in, size_t count) {
  std::vector<uint64_t> lengths(count);
  std::vector<ObservationCodes::Size> sizes(count);
  ObservationCodes::Size before;
  const auto get_size = [&](int32_t last) {
    const int64_t difference = get_signed(in, "a change of size");
    if (last + difference < 0 || last + difference > INT32_MAX)
      fail("trajectory: an observation of {} and {} rows", last, difference);
    return static_cast<int32_t>(last + difference);
  };
  for (size_t i = 0; i < count; ++i) {
    lengths[i] = in.get_varint();
    before = sizes[i] = {get_size(before.nodes), get_size(before.edges), get_size(before.locations)};
  }
  ObservationCodes observations;
  for (size_t i = 0; i < count; ++i) observations.add(in.get_bytes(lengths[i]), sizes[i]);
  return observations;
}

// Steps and their latent vectors; other arrays of observations are not looked at.
void put_facts(ByteWriter& out, const Trajectory& t) {
  out.put(kMagic);
  out.put(kVersion);
  out.put(t.seed);
  out.put(t.rank);
  out.put(t.episode);
  out.put(t.weights_version);
  out.put(t.spec_hash);
  out.put<uint8_t>(t.terminal);
  out.put<uint8_t>(t.dream);
  put(out, t.beginning);
  out.put(t.initial_cost_us);
  out.put(t.best_cost_us);
  out.put(t.last_value_rule);
  out.put<uint64_t>(t.steps.size());
  InfoCode infos;
  bool latent = !t.last.latent.empty();
  for (const auto& step : t.steps) {
    put(out, step);
    infos.put(out, step.info);
    latent |= !step.observation.latent.empty();
  }
  out.put<uint8_t>(latent);
  if (!latent) return;
  const auto put_latent = [&](const Observation& observation) {
    out.put_varint(observation.latent.size());
    for (const float value : observation.latent) out.put(value);
  };
  for (const auto& step : t.steps) put_latent(step.observation);
  put_latent(t.last);
}

Trajectory get_facts(ByteReader& in) {
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
  t.beginning = get_beginning(in);
  t.initial_cost_us = in.get<double>();
  t.best_cost_us = in.get<double>();
  t.last_value_rule = in.get<float>();
  const auto steps = in.get<uint64_t>();
  InfoCode infos;
  for (uint64_t i = 0; i < steps; ++i) {  // a false count ends in "truncated data"
    int32_t location = 0;
    t.steps.push_back(get_step(in, location));
    t.steps.back().info = infos.get(in);
    t.steps.back().info.location = location;
  }
  if (!get_bool(in)) return t;
  for (auto& step : t.steps) step.observation.latent = in.get_floats(in.get_varint());
  t.last.latent = in.get_floats(in.get_varint());
  return t;
}

std::string encode(const Trajectory& facts, const ObservationCodes& observations) {
  RLGO_CHECK_EQ(observations.size(), facts.steps.size() + 1);
  ByteWriter out;
  put_facts(out, facts);
  put_sizes(out, observations);
  for (size_t i = 0; i < observations.size(); ++i) out.put_bytes(observations.code(i));
  return out.take();
}

}  // namespace

std::string encode(const Trajectory& trajectory) { return encode(trajectory, code_observations(trajectory)); }

std::string encode(const CodedTrajectory& trajectory) { return encode(trajectory.facts, trajectory.observations); }

CodedTrajectory decode_coded(std::string_view bytes) {
  ByteReader in(bytes);
  CodedTrajectory coded;
  coded.facts = get_facts(in);
  coded.observations = get_observations(in, coded.facts.steps.size() + 1);
  if (!in.done()) fail("trajectory: bytes left over after the last field");
  return coded;
}

Trajectory decode(std::string_view bytes) { return whole(decode_coded(bytes)); }

}  // namespace rlgo::mdp
