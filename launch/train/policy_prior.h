// A trained agent as the judge of a search.
#pragma once

#include <filesystem>
#include <memory>

#include "core/search/search.h"
#include "launch/config.h"

namespace rlgo::launch {

// The agent of a run folder's best checkpoint (the newest where none has a score). Throws Error where the folder has no
// valid one, its agent does not learn, or it was trained with other rules than `rules` or fewer locations than
// `max_locations`. `graph` is one of those to be searched.
std::unique_ptr<search::PolicyPrior> load_policy_prior(const std::filesystem::path& run_folder,
                                                       const graph::Graph& graph,
                                                       std::shared_ptr<const rules::RuleSet> rules,
                                                       std::shared_ptr<cost::CostModel> cost, int max_locations);

}  // namespace rlgo::launch
