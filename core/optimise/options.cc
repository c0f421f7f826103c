#include "core/optimise/optimise.h"
#include "core/search/search.h"

namespace rlgo::optimise {

std::vector<std::string> methods() {
  std::vector<std::string> usable = {"search", "train"};
  for (const auto& name : search::names()) {
    if (search::gives_trace(name)) usable.push_back(name);
  }
  return usable;
}

void declare(OptionSink& o, OptimiseOptions& options) {
  o.text("out", options.out, "the model to write (-o is the same); none: only report");
  o.number("seconds", options.seconds, 1, 1e6, "time for all of it, about, s");
  o.choice(
      "method", options.method, methods(),
      "search that continues where greedy rewriting ends; search: portfolio; train: half of the time portfolio, then "
      "an agent that learns on this model, for a minute or more (docs/optimise.md)");
  o.flag("force", options.force, "write the best model found even where it is not faster");
  o.text(
      "allow", options.allow,
      "rounding, rounding=N: outputs of a quantised model may differ by 2, N quantisation steps (docs/quantised.md); "
      "none: by nothing");
  declare(o, options.model);
  o.texts("input", options.inputs,
          "NAME=VALUE[,VALUE...]: numbers or texts for an input whose values matter (sampling rate, length); none: "
          "what the "
          "model runs with");
}

void declare_details(OptionSink& o, OptimiseOptions& options) {
  o.text("cost.folder", options.costs, "folder of measured costs, kept from call to call; none: they are not kept");
  o.integer("budget", options.budget, 1, kNoLimit, "rewrites that a search may try");
  o.flag("switches", options.switches,
         "measure the runtime's own switches at the end, in about 1.5 s: levels of graph optimisation, threads");
  declare(o, options.check);
}

}  // namespace rlgo::optimise
