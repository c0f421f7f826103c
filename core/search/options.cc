#include "core/search/search.h"

namespace rlgo::search {

void declare(OptionSink& o, Options& search) {
  o.integer("search.budget", search.budget, 1, kNoLimit,
            "rewrites that a method may try (graphs that it generates and prices)");
  o.number("search.alpha", search.alpha, 1, 1e6, "taso: continues from graphs that cost less than this times the best");
  o.integer("search.expansions", search.expansions, 0, kNoLimit,
            "taso: graphs taken from the queue, TASO's own unit; 0: no limit");
  o.integer("search.beam-width", search.beam_width, 1, 1'000'000, "beam: graphs that continue");
  o.integer("search.walk-length", search.walk_length, 1, 1'000'000, "random: rewrites in one walk");
  o.integer("search.threads", search.threads, 1, 1024,
            "taso, beam: graphs whose rewrites are costed together; anneal: chains");
  o.number("search.memory", search.memory_mib, 0, 1e9,
           "taso: MiB for the queue, the worst graphs are dropped beyond it; 0: half of the free memory");
  o.integer("search.nodes", search.egraph_nodes, 1, 10'000'000, "egraph: e-nodes at which saturation ends, about");
  o.integer("search.multi-rounds", search.egraph_rounds, 0, 1000,
            "egraph: rounds of saturation in which rules that replace several values are applied");
  o.flag("search.cpu-time", search.cpu_time,
         "limits and tables count seconds of the processor in the searching thread, which other jobs of the machine "
         "hardly change, in place of seconds on the wall");
  o.integer("search.max-locations", search.max_locations, 1, 100000, "matches of one rule that are tried");
}

}  // namespace rlgo::search
