#include "core/search/search.h"

namespace rlgo::search {

void declare(OptionSink& o, Options& search) {
  o.integer("search.budget", search.budget, 1, kNoLimit,
            "rewrites that a method may try (graphs that it generates and prices)");
  o.number("search.alpha", search.alpha, 1, 1e6, "taso: goes on from graphs that cost less than this times the best");
  o.integer("search.expansions", search.expansions, 0, kNoLimit,
            "taso: graphs taken from the queue, TASO's own unit; 0: no limit");
  o.integer("search.beam-width", search.beam_width, 1, 1'000'000, "beam: graphs that go on");
  o.integer("search.walks", search.walks, 1, 1'000'000'000,
            "policy: walks, the first takes the likeliest rewrites, the others draw");
  o.integer("search.walk-length", search.walk_length, 1, 1'000'000, "random, policy: rewrites in one walk");
  o.integer("search.children", search.children, 1, 1'000'000,
            "policy-taso: likeliest rewrites of a graph that are tried");
  o.integer("search.ranked-moves", search.ranked_moves, 0, 1'000'000,
            "policy-anneal: moves of a round after which the agent is asked anew; 0: at its beginning only");
  o.integer("search.simulations", search.simulations, 1, 1'000'000,
            "policy-plan: simulations before each move, each of which looks at one graph more");
  o.integer("search.considered", search.considered, 2, 1'000'000,
            "policy-plan: actions drawn at a move, among which simulations are dealt out by halving");
  o.integer("search.threads", search.threads, 1, 1024,
            "taso, beam: graphs whose rewrites are costed side by side; anneal, policy-anneal, policy-plan: chains");
  o.number("search.memory", search.memory_mib, 0, 1e9,
           "taso, policy-taso: MiB for the queue, the worst graphs are dropped beyond it; 0: half of the free memory");
  o.integer("search.nodes", search.egraph_nodes, 1, 10'000'000, "egraph: e-nodes at which saturation ends, about");
  o.integer("search.multi-rounds", search.egraph_rounds, 0, 1000,
            "egraph: rounds of saturation in which rules that replace several values are applied");
  o.flag("search.cpu-time", search.cpu_time,
         "limits and tables count seconds of the processor in the searching thread, which other jobs of the machine "
         "hardly change, in place of seconds on the wall");
  o.integer("search.max-locations", search.max_locations, 1, 100000, "matches of one rule that are tried");
}

}  // namespace rlgo::search
