// A trajectory whose observations are coded (observation_code.h): how it travels, and how the store takes it. Some 100
// times smaller than whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/observation_code.h"
#include "core/mdp/mdp.h"

namespace rlgo::mdp {

// The observations of an episode, from its first to the one after its last step.
class ObservationCodes {
 public:
  struct Size {  // of one observation, in rows
    int32_t nodes = 0, edges = 0, locations = 0;
    bool operator==(const Size&) const = default;
  };
  // Adds the next one; see ObservationEncoder::put. Its latent vector is not kept.
  void add(ObservationEncoder& encoder, const Observation* before, const Observation& now,
           const Changes* reported = nullptr);
  // Adds one that is coded.
  void add(std::string_view code, const Size& size);
  size_t size() const { return items_.size(); }
  const Size& size(size_t i) const { return items_.at(i).size; }
  std::string_view code(size_t i) const;
  // Decoded. Throws Error on malformed codes.
  std::vector<Observation> decode() const;

 private:
  struct Item {
    size_t end = 0;
    Size size;
  };
  std::string bytes_;
  std::vector<Item> items_;
};
// Those of a whole trajectory.
ObservationCodes code_observations(const Trajectory& trajectory);

struct CodedTrajectory {
  Trajectory facts;               // all but the observations, of which it has the latent vectors alone
  ObservationCodes observations;  // [steps + 1]
};

// The same bytes as those of the whole trajectory.
std::string encode(const CodedTrajectory& trajectory);
// Throws Error on malformed input; the codes of the observations are not looked at.
CodedTrajectory decode_coded(std::string_view bytes);
// Throws Error on malformed codes.
Trajectory whole(CodedTrajectory trajectory);

}  // namespace rlgo::mdp
