#include "actors/inference_options.h"

#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/comm/nodes.h"

namespace rlgo::actors {
namespace {

constexpr int kFewestActors = 2;  // of a node: one that decides, and one to play

}  // namespace

void declare(OptionSink& o, InferenceOptions& inference) {
  o.choice("inference", inference.place, kInferences,
           "where model-free actors' decisions are made: each on its own processor; or by one actor rank of each node, "
           "which plays no episodes, in batches on --device (made for nodes with a GPU; on processors alone `actor` "
           "costs less)");
  o.integer("inference.batch", inference.batch, 1, 100000, "observations that an inference rank decides on at once");
  o.number("inference.wait-us", inference.wait_us, 0, 1e6, "us that a question waits for those of other actors");
  o.number("inference.timeout", inference.timeout_s, 0.001, 1e6,
           "s without an answer after which an actor decides itself, until there is one");
}

std::vector<int> choose_inference_ranks(std::span<const int> nodes, int learners) {
  return comm::one_of_each_node(nodes, learners, kFewestActors, comm::Pick::highest);
}

bool infers(std::span<const int> ranks, int rank) {
  return rank != 0 && !ranks.empty() && ranks[static_cast<size_t>(rank)] == rank;
}

std::string describe_inference(std::span<const int> ranks, int learners) {
  std::map<int, std::vector<std::string>> behind;  // 0: alone on their nodes
  if (ranks.empty()) return "inference: each actor decides for itself: none has another one on its node";
  for (size_t rank = static_cast<size_t>(learners); rank < ranks.size(); ++rank) {
    if (ranks[rank] != static_cast<int>(rank)) behind[ranks[rank]].push_back(std::to_string(rank));
  }
  std::vector<std::string> parts;
  for (const auto& [rank, actors] : behind) {
    parts.push_back(rank == 0 ? fmt::format("alone on its node decides for itself: {}", join(actors, ", "))
                              : fmt::format("rank {} decides for {}", rank, join(actors, ", ")));
  }
  return "inference: " + join(parts, "; ");
}

}  // namespace rlgo::actors
