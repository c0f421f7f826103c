// Values of what depends on weights alone, for exporters.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::exec {

// Constant nodes with which the arithmetic of the constants before them, in topological order, would pass
// ops::kMostFoldedFlops, and all that is computed from them: they are not computed.
std::unordered_set<graph::NodeId> left_unfolded(const graph::Graph& graph);

// The same, and those whose results are too_large.
std::unordered_set<graph::NodeId> unfoldable(const graph::Graph& graph);

// Values of constant nodes by what they are computed from, so that graphs which are made from one another compute each
// once. Those that were kept first are let go where they take more than so many bytes. Not thread-safe.
class FoldedBlobs {
 public:
  using Blobs = std::vector<std::shared_ptr<const graph::Blob>>;
  explicit FoldedBlobs(int64_t most_bytes = int64_t{1} << 30) : most_bytes_(most_bytes) {}
  // Null: not kept (any more).
  const Blobs* find(uint64_t key) const;
  void keep(uint64_t key, Blobs blobs);
  int64_t bytes() const { return bytes_; }
  int64_t found() const { return found_; }  // so many times something was

 private:
  int64_t most_bytes_, bytes_ = 0;
  mutable int64_t found_ = 0;
  std::unordered_map<uint64_t, Blobs> blobs_;
  std::deque<uint64_t> order_;
};

// One blob per output of each constant node that another node or a graph output reads, unless it is unfoldable or
// left_for_size(). A weight is its own blob; everything else is computed on the CPU, f32 arithmetic in double
// precision, rounded once at the end. `first_new`: ids from there on are those of nodes that rewrites made. Throws
// Error where contents are absent, where a result is outside the range of its type, and where a number of a factor or
// divisor becomes denormal or 0 though all weights are normal. `known`: values of other graphs, to which these are
// added; null: none. `without`: nodes whose values nobody needs.
std::unordered_map<graph::NodeId, FoldedBlobs::Blobs> fold(const graph::Graph& graph, graph::NodeId first_new = 0,
                                                           FoldedBlobs* known = nullptr,
                                                           const std::unordered_set<graph::NodeId>& without = {});

}  // namespace rlgo::exec
