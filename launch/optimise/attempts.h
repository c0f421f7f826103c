// Ways of rewriting a model, and the one that runs fastest.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "launch/model.h"
#include "launch/optimise/clock.h"
#include "launch/optimise/optimise.h"
#include "launch/optimise/race.h"

namespace rlgo::launch {

class Attempts {
 public:
  // Adds to story.searches and story.attempts. Model files go to `folder`.
  Attempts(const OptimiseRequest& request, const LoadedModel& model, cost::CostModel& cost,
           std::filesystem::path folder, OptimiseClock& clock, const Log& log, Story& story)
      : request_(request),
        model_(model),
        cost_(cost),
        folder_(std::move(folder)),
        clock_(clock),
        log_(log),
        story_(story) {}

  // Greedy rewriting, then the method that was asked for from there, until `share` of the time is over.
  void search(double share);
  // Races all attempts that have not been in a race; then leaves out one rule at a time of the best one's, as long as
  // that makes it faster and `share` of the time is not over: a rule that lowers the sum over operators may still spoil
  // what the runtime does with the whole graph. Sets story.chosen.
  void choose(const Racetrack& track, const std::filesystem::path& original, double original_us, double share);

 private:
  search::Result run(const std::string& method, const graph::Graph& from, std::shared_ptr<const rules::RuleSet> rules,
                     double share, std::string from_name);
  void add(std::string name, graph::Graph graph, search::Trace trace);
  search::Trace in_story_rules(const search::Trace& trace, const rules::RuleSet& rules) const;
  bool race(const Racetrack& track, const std::filesystem::path& original, double original_us, size_t first,
            double share);
  // Greedy without one rule of the chosen attempt after the other; true where one of them is faster.
  bool leave_out_rules(const Racetrack& track, const std::filesystem::path& original, double original_us, double share);

  const OptimiseRequest& request_;
  const LoadedModel& model_;
  cost::CostModel& cost_;
  std::filesystem::path folder_;
  OptimiseClock& clock_;
  const Log& log_;
  Story& story_;
  std::set<std::string> left_out_;  // rules
};

}  // namespace rlgo::launch
