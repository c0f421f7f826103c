#include "core/search/backtracking.h"

namespace rlgo::search {
namespace {

Result backtrack(const Problem& problem, const Options& options, PolicyPrior* prior) {
  Context context(problem, options);
  Backtracking search(context, prior);
  const bool finished = search.run(context.start(), options.expansions);
  // run() ended by its expansions: the context has noted any other reason.
  if (!finished && context.may_continue()) context.end(StopReason::budget);
  return context.finish();
}

}  // namespace

Result taso(const Problem& problem, const Options& options) { return backtrack(problem, options, nullptr); }

Result policy_taso(const Problem& problem, const Options& options) {
  return backtrack(problem, options, options.prior);
}

}  // namespace rlgo::search
