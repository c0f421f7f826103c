// A trained agent as the judge of a search.
#pragma once

#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/agent_file.h"
#include "core/agent/judge.h"
#include "core/agent/row_values.h"
#include "core/prior/graph_rows.h"
#include "core/rules/rules.h"
#include "core/search/search.h"
#include "core/search/walk.h"

namespace rlgo::prior {

// Needs no LibTorch. Of a walk's graph only what its last rewrites changed is looked at; states that a walk comes back
// to are remembered.
class AgentPrior : public search::PolicyPrior {
 public:
  // What the agent's values are of, in percent of the unmodified graph's cost: nothing that it was trained to tell,
  // what is saved from a graph on (reward R1), what the best graph from there on is below the best before it (R5).
  enum class Values : uint8_t { none, saved, best };
  // Searches rewrite by `rules`; those that the agent does not know, by name, are as good as it thinks the others are
  // on average.
  AgentPrior(const std::shared_ptr<const agent::Network>& network, const rules::RuleSet& rules,
             Values values = Values::none);

  const Scores& rank(const search::Walk& walk, const search::Position& at) override;
  bool has_values() const override { return values_ != Values::none; }
  std::unique_ptr<PolicyPrior> fork() const override;

  // The logits behind the last rank(), for tests: of the places whose rules the agent knows, in its order.
  const agent::Judgement& judged() const { return *judged_; }
  // How many rules of the search the agent knows.
  int known_rules() const;

 private:
  struct State {
    uint64_t stamp = 0;
    search::Position at;
    GraphRows rows;
    Scores scores;
    bool is_ranked = false;
  };
  AgentPrior(std::shared_ptr<const agent::Network> network, std::vector<int32_t> agent_rule, Values values);
  State& find(const search::Walk& walk, double initial_us);
  void gather(const search::Walk& walk, const search::Position& at, const GraphRows& rows);
  void fill(const search::Walk& walk, const search::Position& at, Scores& scores) const;

  std::shared_ptr<const agent::Network> network_;
  const Values values_;
  std::vector<int32_t> agent_rule_;  // of each rule of the search; -1: unknown to the agent
  agent::RowValues rows_;
  agent::Judge judge_;
  std::list<State> states_;  // the latest first
  double initial_us_ = 0;
  agent::Summary summary_;
  agent::Locations locations_;
  std::vector<size_t> place_of_;  // of each of locations_
  const agent::Judgement* judged_ = nullptr;
};

// The agent of a file as the judge of searches by `rules` that try `max_locations` of each. It has values where the
// file says that it was trained with reward R1 or R5. `name`: of the file, in errors. Throws Error where the agent
// knows none of the rules, or fewer locations.
std::unique_ptr<search::PolicyPrior> make_prior(const agent::AgentFile& agent, const std::string& name,
                                                const rules::RuleSet& rules, int max_locations);

// The file that comes with rlgo (configs/agents); nothing where there is none.
std::optional<std::filesystem::path> shipped_agent();

}  // namespace rlgo::prior
