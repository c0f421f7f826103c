#include "core/codec/coded.h"

#include "core/base/error.h"

namespace rlgo::mdp {

void ObservationCodes::add(ObservationEncoder& encoder, const Observation* before, const Observation& now,
                           const Changes* reported) {
  ByteWriter out(std::move(bytes_));
  encoder.put(before, now, out, reported);
  bytes_ = out.take();
  items_.push_back({bytes_.size(),
                    {static_cast<int32_t>(now.node_op.size()), static_cast<int32_t>(now.edge_src.size()),
                     static_cast<int32_t>(now.loc_node.size())}});
}

void ObservationCodes::add(std::string_view code, const Size& size) {
  bytes_.append(code);
  items_.push_back({bytes_.size(), size});
}

std::string_view ObservationCodes::code(size_t i) const {
  const size_t begin = i == 0 ? 0 : items_.at(i - 1).end;
  return std::string_view(bytes_).substr(begin, items_.at(i).end - begin);
}

std::vector<Observation> ObservationCodes::decode() const {
  std::vector<Observation> observations;
  observations.reserve(size());  // they refer to each other
  for (size_t i = 0; i < size(); ++i) {
    ByteReader in(code(i));
    observations.push_back(decode_observation(i == 0 ? nullptr : &observations[base_of(i)], in));
    if (!in.done()) fail("trajectory: bytes left over after observation {}", i);
  }
  return observations;
}

ObservationCodes code_observations(const Trajectory& trajectory) {
  ObservationEncoder encoder;
  ObservationCodes codes;
  const Observation* before = nullptr;
  const auto add = [&](const Observation& now) { codes.add(encoder, std::exchange(before, &now), now); };
  for (const auto& step : trajectory.steps) add(step.observation);
  add(trajectory.last);
  return codes;
}

Trajectory whole(CodedTrajectory trajectory) {
  Trajectory t = std::move(trajectory.facts);
  auto observations = trajectory.observations.decode();
  RLGO_CHECK_EQ(observations.size(), t.steps.size() + 1);
  const auto give = [&](Observation& to, Observation& from) {
    from.latent = std::move(to.latent);
    to = std::move(from);
  };
  for (size_t i = 0; i < t.steps.size(); ++i) give(t.steps[i].observation, observations[i]);
  give(t.last, observations.back());
  return t;
}

}  // namespace rlgo::mdp
