#include "core/comm/nodes.h"

#include <map>

namespace rlgo::comm {

std::vector<int> one_of_each_node(std::span<const int> nodes, int first, int fewest, Pick pick) {
  std::map<int, std::vector<int>> of_node;
  for (size_t rank = static_cast<size_t>(first); rank < nodes.size(); ++rank)
    of_node[nodes[rank]].push_back(static_cast<int>(rank));
  std::vector<int> chosen(nodes.size());
  for (const auto& [node, ranks] : of_node) {
    if (static_cast<int>(ranks.size()) < fewest) continue;
    for (int rank : ranks) chosen[static_cast<size_t>(rank)] = pick == Pick::lowest ? ranks.front() : ranks.back();
  }
  return chosen;
}

}  // namespace rlgo::comm
