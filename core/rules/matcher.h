// Finds the places where one rule applies.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/rules/recipe.h"
#include "core/rules/rules.h"

namespace rlgo::rules {

// A place where a rule fits, but for conditions that depend on far-away parts of the graph.
struct Found {
  Match match;
  uint64_t signature = 0;                // Plan::signature
  bool sensitive = false;                // a cycle could arise: depends on paths outside the match
  bool blocked = false;                  // sensitive, and in this graph it would arise
  std::shared_ptr<const Recipe> recipe;  // where the finder wanted it
};

// Of a node with more readers than kManyReaders, only pairs of readers that stand near one another are found, and of a
// longer list only its first places: kFewMatches each way, without blocked ones. All pairs would take time and memory
// by the square; merged, near readers make one, which stands near others.
constexpr int64_t kManyReaders = 64;
constexpr int64_t kFewMatches = 4;
// Where readers of a node stand in a row, one behind the other, no two may be merged, and to see that takes as long as
// the row. No more readers are tried once so many nodes were looked at.
constexpr int64_t kMostVisited = 10'000;

class Matcher {  // finds one rule in one graph
 public:
  // `sink` gets every match (also blocked ones), some perhaps twice; plan and binding live during the call only.
  using Sink = std::function<void(Found found, const Plan& plan)>;
  // `scratch` is room to work in: it may serve one matcher after another, its contents do not matter.
  Matcher(const CompiledRule& rule, int rule_index, const graph::Graph& graph, Binding& scratch)
      : rule_(rule), rule_index_(rule_index), graph_(graph), binding_(scratch) {}

  // Matches with these nodes were found elsewhere and are left out: seen[id] is 2 for all of a node's, 1 for those in
  // which it is a pattern node whose bit is set in `asked`.
  void leave_out(std::span<const uint8_t> seen, uint32_t asked) {
    seen_ = seen;
    asked_ = asked;
  }
  // All matches in which pattern node `anchor` is graph node `id`.
  void at(int anchor, graph::NodeId id, const Sink& sink);
  // Bindings on which all conditions held, but the right side did not fit or differed in type.
  int64_t misfits() const { return misfits_; }
  // The matches with exactly these nodes, in the pattern's order.
  void pinned(std::span<const graph::NodeId> nodes, const Sink& sink);

 private:
  void step(size_t index);
  std::optional<size_t> next_to_matched(std::span<const graph::Use> uses) const;
  void try_readers(size_t index, graph::Value read, std::span<const graph::Use> uses, bool backwards, bool bounded);
  void visit(size_t index, int pattern);
  void match_list(size_t index, const LeftNode& pattern, std::span<const graph::Value> inputs, size_t operand,
                  size_t input);
  void bind_sequence(size_t index, const LeftNode& pattern, std::span<const graph::Value> inputs, size_t operand,
                     size_t input);
  bool may_follow(std::span<const Operand> operands, std::span<const graph::Value> inputs) const;
  bool bind_operand(const Operand& operand, graph::Value value);
  bool assign(int pattern, graph::NodeId id);
  bool is_bound(const Operand& operand, graph::Value* value) const;
  void finish();
  void report(const Plan& plan);

  const CompiledRule& rule_;
  int rule_index_;
  const graph::Graph& graph_;
  Binding& binding_;
  const std::vector<MatchStep>* program_ = nullptr;
  std::span<const graph::NodeId> pins_;
  std::span<const uint8_t> seen_;
  uint32_t asked_ = 0;
  const Sink* sink_ = nullptr;
  int64_t misfits_ = 0, reported_ = 0, bound_ = 0, visited_ = 0;
  bool bounded_ = false;  // within bounded readers
};

// Whether replacing would make a cycle in this graph. Only rules with may_cycle can. Adds the nodes that it looks at to
// `visited`.
bool would_cycle(const CompiledRule& rule, const graph::Graph& graph, Binding& binding, bool* sensitive,
                 int64_t* visited);

}  // namespace rlgo::rules
