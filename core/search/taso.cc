#include "core/search/backtracking.h"

namespace rlgo::search {

Result taso(const Problem& problem, const Options& options) {
  Context context(problem, options);
  Backtracking search(context);
  const bool finished = search.run(context.start(), options.expansions);
  // run() ended by its expansions: the context has noted any other reason.
  if (!finished && context.may_continue()) context.end(StopReason::budget);
  return context.finish();
}

}  // namespace rlgo::search
