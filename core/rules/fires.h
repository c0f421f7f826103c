// Which rules match on graphs, as they are and while they are rewritten at random.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/rules/rules.h"

namespace rlgo::rules {

class FireCounts {
 public:
  explicit FireCounts(std::shared_ptr<const RuleSet> rules) : rules_(std::move(rules)), counts_(rules_->size()) {}
  // Counts one more graph; `walks` random walks of `steps` rewrites begin at it. Returns a line: matches, rules on
  // walks.
  std::string add(const graph::Graph& graph, int walks, int steps, const std::function<bool()>& stop);
  // A row for each rule: matches at the start of all graphs, graphs with one, graphs with one there or on a walk; below
  // it how many rules matched at all.
  std::string to_text() const;
  // Names of the rules that matched somewhere.
  std::set<std::string> seen() const;

 private:
  struct Counts {
    int64_t at_start = 0;     // matches, all graphs
    int graphs_at_start = 0;  // graphs with a match
    int graphs_reached = 0;   // graphs with a match at the start or on a walk
  };
  std::shared_ptr<const RuleSet> rules_;
  std::vector<Counts> counts_;
};

// The paragraphs of a rule file whose rule is wanted, and its first lines of comment.
std::string only_rules(const std::string& text, const std::set<std::string>& wanted);

}  // namespace rlgo::rules
