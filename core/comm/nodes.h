// Ranks that do something for the others of their node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rlgo::comm {

enum class Pick : uint8_t { lowest, highest };  // which rank of a node

// Of the ranks from `first` on, the one that serves each: the lowest or highest of its node (perhaps itself), where the
// node has at least `fewest` such ranks; 0 (nobody) else, and for ranks below `first`. `nodes`: Comm::nodes().
std::vector<int> one_of_each_node(std::span<const int> nodes, int first, int fewest, Pick pick);

}  // namespace rlgo::comm
