// A part of a graph, and which of a walk's rewrites lie in it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/search/walk.h"

namespace rlgo::search {

class Region {
 public:
  // The `size` nodes that are nearest to those of a match, by inputs and readers. Constants belong to every region,
  // inputs of the graph to none.
  void open(const graph::Graph& graph, const rules::Match& match, size_t size);
  // Nodes that a rewrite of the region made belong to it too.
  void add(const graph::Graph& graph, std::span<const graph::NodeId> made);
  // Whether all of a match lies inside.
  bool contains(const graph::Graph& graph, const rules::Match& match) const;

 private:
  std::vector<uint8_t> inside_;  // by id
  std::vector<graph::NodeId> queue_;
};

// A random one of `places`, of which there is one: each kind (rule and change of cost) is as likely as any other, so
// equal parts of a graph count once. Changes within `tolerance_us` are equal.
size_t draw_kind(std::span<const Place> places, double tolerance_us, Rng& rng);

// The place that saves most, the first of equals, among those that `allows` (an index) is true for. Nothing where none
// saves more than `tolerance_us`.
std::optional<size_t> steepest(std::span<const Place> places, double tolerance_us,
                               const std::function<bool(size_t)>& allows = nullptr);

}  // namespace rlgo::search
