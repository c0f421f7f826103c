// Trajectories as bytes. Layout, little-endian: magic, version, the fields of Trajectory in the order of mdp.h, a count
// of steps, the steps, the last observation. Vectors are a 64-bit count and their raw items; bools are one byte, 0
// or 1.
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/mdp/mdp.h"

namespace rlgo::mdp {
namespace {

constexpr uint32_t kMagic = 0x4A52544C;  // "LTRJ"
constexpr uint32_t kVersion = 2;

void put(ByteWriter& out, const Observation& o) {
  out.put_vector(o.node_op);
  out.put_vector(o.node_feat);
  out.put_vector(o.edge_src);
  out.put_vector(o.edge_dst);
  out.put_vector(o.edge_feat);
  out.put_vector(o.globals);
  out.put_vector(o.counts);
  out.put_vector(o.loc_node);
  out.put_vector(o.latent);
}

Observation get_observation(ByteReader& in) {
  Observation o;
  o.node_op = in.get_vector<int32_t>();
  o.node_feat = in.get_vector<float>();
  o.edge_src = in.get_vector<int32_t>();
  o.edge_dst = in.get_vector<int32_t>();
  o.edge_feat = in.get_vector<float>();
  o.globals = in.get_vector<float>();
  o.counts = in.get_vector<int32_t>();
  o.loc_node = in.get_vector<int32_t>();
  o.latent = in.get_vector<float>();
  return o;
}

void put(ByteWriter& out, const StepInfo& info) {
  out.put_string(info.rule);
  for (double value :
       {info.cost_us, info.flops, info.bytes, info.peak_bytes, info.launches, info.step_us, info.measured_us}) {
    out.put(value);
  }
}

StepInfo get_info(ByteReader& in) {
  StepInfo info;
  info.rule = in.get_string();
  for (double* value :
       {&info.cost_us, &info.flops, &info.bytes, &info.peak_bytes, &info.launches, &info.step_us, &info.measured_us}) {
    *value = in.get<double>();
  }
  return info;
}

void put(ByteWriter& out, const Step& step) {
  put(out, step.observation);
  out.put(step.action.xfer);
  out.put(step.action.location);
  for (float value : {step.reward, step.log_prob_xfer, step.log_prob_location, step.value_xfer, step.value_location})
    out.put(value);
  put(out, step.info);
}

Step get_step(ByteReader& in) {
  Step step;
  step.observation = get_observation(in);
  step.action.xfer = in.get<int32_t>();
  step.action.location = in.get<int32_t>();
  for (float* value :
       {&step.reward, &step.log_prob_xfer, &step.log_prob_location, &step.value_xfer, &step.value_location}) {
    *value = in.get<float>();
  }
  step.info = get_info(in);
  return step;
}

bool get_bool(ByteReader& in) {
  const auto value = in.get<uint8_t>();
  if (value > 1) fail("trajectory: a flag is {}, not 0 or 1", value);
  return value == 1;
}

}  // namespace

std::string encode(const Trajectory& trajectory) {
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
  for (const auto& step : t.steps) put(out, step);
  put(out, t.last);
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
  for (uint64_t i = 0; i < steps; ++i) t.steps.push_back(get_step(in));  // a false count ends in "truncated data"
  t.last = get_observation(in);
  t.last_value_xfer = in.get<float>();
  if (!in.done()) fail("trajectory: bytes left over after the last field");
  return t;
}

}  // namespace rlgo::mdp
