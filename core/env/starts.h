// Where episodes start besides the unmodified graph: on the way that searches took, and at the best graphs that
// episodes reached (frontier starts and archive; Ecoffet et al. 2021, "First return, then explore"). Each search is an
// island: what episodes reach from its way stays apart from the rest, since the cheapest graph of today may be a dead
// end (Tanese 1989, "Distributed genetic algorithms", without migration).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"

namespace rlgo::env {

// Rewrites from the unmodified graph, and the cost after each.
struct Way {
  rules::Trace rewrites;
  std::vector<double> cost_us;
  bool operator==(const Way&) const = default;
};
// A trace with its costs, as far as it can be made.
Way priced_way(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost,
               int max_locations, const rules::Trace& trace);

// The cheapest graphs that episodes reached, by the ways there. Bounded: of graphs of equal cost it keeps the one with
// the fewest rewrites, and of all the cheapest; whatever the order in which they come.
class Archive {
 public:
  explicit Archive(size_t most = 32) : most_(most) {}
  // Whether the way's last graph is kept. Costs that differ by less than a billionth are equal.
  bool offer(Way way);
  // The cheapest first.
  const std::vector<Way>& ways() const { return ways_; }
  // One of them, the cheaper the likelier: the k-th of n with probability (2 (n - k) - 1) / n^2. There must be one.
  const Way& draw(Rng& rng) const;
  // For other ranks. decode throws Error on malformed bytes.
  std::string encode() const;
  void decode(std::string_view bytes);

 private:
  size_t most_;
  std::vector<Way> ways_;
};

// The first `length` rewrites of a way.
struct Start {
  const rules::Trace* way = nullptr;
  const std::vector<double>* cost_us = nullptr;  // of the graph after each rewrite of the way
  size_t length = 0;
};

class Starts {  // the frontier that episodes may begin on
 public:
  // Ways of these searches, each at most `budget` priced graphs; a method that comes again draws again (its seeds are
  // 0, 1, ...). They depend on the arguments alone. `share` of all episodes begin on one of them, or at a graph of the
  // archive.
  Starts(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost,
         int max_locations, double fraction, int64_t budget = 20'000,
         const std::vector<std::string>& searches = {"greedy", "anneal", "window"});
  // These ways in place of searches of its own.
  Starts(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost,
         int max_locations, double fraction, const std::vector<rules::Trace>& traces);
  // Where the episode with this key begins; nothing: at the unmodified graph. Of those that do not, half begin at
  // graphs of their island's archive, once it has one, the others on its way.
  std::optional<Start> of(uint64_t key) const;
  size_t ways() const { return ways_.size(); }
  // To the cheapest graph that the searches found; empty where none got below the unmodified graph.
  const Way& best() const { return best_; }
  // At least one.
  size_t islands() const { return archives_.size(); }
  // Of the episode with this key, below islands().
  size_t island_of(uint64_t key) const;
  // What an episode of this island reached; the first rank that hears of it informs the others.
  bool offer(Way way, size_t island) { return archives_[island].offer(std::move(way)); }
  const Archive& archive(size_t island) const { return archives_[island]; }
  // Puts the way of each search into its island's archive, for processes that made no searches of their own.
  void archive_ways();
  // The archives of all islands, for other ranks. decode_archives throws Error on malformed bytes.
  std::string encode_archives() const;
  void decode_archives(std::string_view bytes);

 private:
  void keep_best(const Way& way, double before_us);

  double fraction_;
  std::vector<Way> ways_;
  Way best_;
  std::vector<Archive> archives_{1};  // of each island
};

}  // namespace rlgo::env
