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
// Number of observations of an episode after which one is coded against the episode's first, not against the one
// before: so reading one never takes more than some this many others.
inline constexpr size_t kAnchorSteps = 32;
// Which one observation i > 0 of an episode is coded against.
inline size_t base_of(size_t i) { return i % kAnchorSteps == 0 ? 0 : i - 1; }

// Codes the observations of episodes one after the other, each against base_of() it, like encode_observation, but does
// not look up again what it has learned: twice as fast, and the start of an episode is coded once.
class ObservationEncoder {
 public:
  ObservationEncoder();
  ~ObservationEncoder();
  ObservationEncoder(ObservationEncoder&&) noexcept;
  // Appends the code of the next observation. `before`: the one that was put last, null where an episode starts.
  // `reported`, if any: what has changed between the two. It is believed, and so is that `now` keeps its spec
  // (mdp::check) and has its edges in the order of the nodes that read them.
  void put(const Observation* before, const Observation& now, ByteWriter& out, const Changes* reported = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The observation again; `base` as it was for encoding. Reads exactly the bytes of one code. Throws Error on malformed
// input; what it returns may still break its spec where the bytes were altered (mdp::check).
Observation decode_observation(const Observation* base, ByteReader& in);

}  // namespace rlgo::mdp
