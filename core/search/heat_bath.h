// Random moves in a window of a graph: what annealing (chain.h) and rewrite_again.h are made of.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "core/base/rng.h"
#include "core/search/region.h"
#include "core/search/walk.h"

namespace rlgo::search {

class HeatBath {
 public:
  // A window of the `size` nodes around a match of the walk's graph.
  void open(const Walk& walk, const rules::Match& match, size_t size);
  // Begins at the walk's graph: it and each graph after it is entered once.
  void begin(const Walk& walk);
  // The next rewrite, of the window's drawn exp(-delta / temperature) times as often. Nothing where none leads to
  // another graph. `most`: what pays is drawn at most so many times as often as what changes nothing.
  std::optional<size_t> draw(const Walk& walk, double temperature_us, double most, Rng& rng);
  // The rewrite of the window that saves most, as steepest() (region.h).
  std::optional<size_t> steepest(const Walk& walk, double tolerance_us) const;
  // The walk has made a rewrite of the window.
  void moved(const Walk& walk) { window_.add(walk.graph(), walk.added()); }
  bool contains(const Walk& walk, size_t place) const;

 private:
  Region window_;
  std::unordered_set<uint64_t> seen_;  // graphs
  std::vector<size_t> candidates_;
  std::vector<double> weights_;
};

// Between two numbers above 0, uniformly in the logarithm.
double log_uniform(Rng& rng, double low, double high);

}  // namespace rlgo::search
