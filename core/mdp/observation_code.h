// One observation as bytes, coded against another one (its base) from which it differs in a few nodes: rows that come
// again are copied, even where a rewrite has moved them; only what is new is spelled out. Bit for bit: every float
// keeps its bits. Used for messages (codec.cc) and by the rollout store; docs/store.md describes the bytes.
#pragma once

#include <memory>
#include <string>

#include "core/base/bytes.h"
#include "core/mdp/mdp.h"

namespace rlgo::mdp {

// Appends the code of `observation`. `base` is any observation, or null for none; the closer it is, the fewer the
// bytes. Any observation can be coded: one that is not a graph in order (see observation_parts.h) is spelled out whole.
void encode_observation(const Observation* base, const Observation& observation, ByteWriter& out);
// Codes observations one after the other, each against the one before, like encode_observation, but does not look up
// again what it has learned: twice as fast, and the start of an episode is coded once.
class ObservationEncoder {
 public:
  ObservationEncoder();
  ~ObservationEncoder();
  // The next observation has no base.
  void restart();
  // Appends its code. The observation must stay as and where it is until the next put() or restart().
  void put(const Observation& observation, ByteWriter& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// mdp::encode with an encoder that is kept from one trajectory to the next.
std::string encode(const Trajectory& trajectory, ObservationEncoder& encoder);

// The observation again; `base` as it was for encoding. Reads exactly the bytes of one code. Throws Error on malformed
// input; what it returns may still break its spec where the bytes were altered (mdp::check).
Observation decode_observation(const Observation* base, ByteReader& in);

}  // namespace rlgo::mdp
