// Who decides for the actors: each itself, or on each node one rank for all (inference_server.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace rlgo::actors {

enum class Inference : uint8_t { actor, node };  // where the policy runs
inline constexpr Named<Inference> kInferences[] = {{"actor", Inference::actor}, {"node", Inference::node}};

struct InferenceOptions {
  Inference place = Inference::actor;
  int batch = 64;        // observations that are decided on at once, >= 1; one question alone may have more
  double wait_us = 0;    // that a question waits for those of other actors, >= 0
  double timeout_s = 2;  // for an answer, > 0; then the actor decides by itself
};
// Options inference, inference.*.
void declare(OptionSink& sink, InferenceOptions& options);

// [ranks] The inference rank of each actor: the highest actor rank of its node, perhaps itself, where the node has at
// least two; 0 (none) else, and for ranks below `learners`. `nodes`: comm::Comm::nodes().
std::vector<int> choose_inference_ranks(std::span<const int> nodes, int learners);

// Whether a rank decides for others, and plays nothing. `ranks`: as below.
bool infers(std::span<const int> ranks, int rank);

// A line for the log. `ranks`: choose_inference_ranks(), or empty where all actors decide for themselves.
std::string describe_inference(std::span<const int> ranks, int learners);

}  // namespace rlgo::actors
