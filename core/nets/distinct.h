// The distinct rows of a batch as tensors. Internal to core/nets.
#pragma once

#include <span>

#include "core/nets/arena.h"
#include "core/nets/batch.h"

namespace rlgo::nets {

// rows[i]: of graph i, numbered by `table`. Adds the parts of `to`, which stays where it is, to the arenas.
// `may_chain`: sums may build on one another, which only the CPU can do. Returns for all nodes of all graphs, one graph
// after the other, the row of the last round.
Ints add_distinct(const RowTable& table, std::span<const RowIds* const> rows, bool may_chain, DistinctRows& to,
                  IntArena& ints, FloatArena& floats);
// What follows from the parts once they are where they belong: last_node and last_edge.
void trace_last(DistinctRows& rows);

}  // namespace rlgo::nets
