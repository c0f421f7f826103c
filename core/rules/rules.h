// Rewrite rules: text -> compiled patterns -> matches -> new graphs.
#pragma once

#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/small_vector.h"
#include "core/graph/editor.h"
#include "core/graph/graph.h"

namespace rlgo::rules {

enum class Proof : uint8_t { unproved, tested, proved };

class CompiledRule;  // core/rules/compiled.h

// Files below configs/rules/ that make up the default set, in this order.
inline constexpr const char* kShippedFiles[] = {"base.rules", "runtime.rules", "motion.rules"};

// One place where a rule applies. Ids are valid for the graph it was found in, and in edited ones while the nodes live.
struct Match {
  int32_t rule = 0;                     // index in the RuleSet
  SmallVector<graph::NodeId, 6> nodes;  // matched operator nodes, in the pattern's order; nodes[0] is the (first) root
  SmallVector<graph::Value, 6> variables;  // bound tensor variables, in the rule's order
  bool operator==(const Match&) const = default;
};

// Matches of one rule, in order, as a MatchIndex keeps them: valid until it changes.
class MatchView {
 public:
  class Iterator {  // forward, over the matches of one rule
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Match;
    using difference_type = std::ptrdiff_t;
    using pointer = const Match*;
    using reference = const Match&;
    Iterator() = default;
    explicit Iterator(const Match* const* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const Match* const* at_ = nullptr;
  };
  explicit MatchView(std::span<const Match* const> matches) : matches_(matches) {}
  size_t size() const { return matches_.size(); }
  bool empty() const { return matches_.empty(); }
  const Match& operator[](size_t k) const { return *matches_[k]; }
  Iterator begin() const { return Iterator(matches_.data()); }
  Iterator end() const { return Iterator(matches_.data() + matches_.size()); }

 private:
  std::span<const Match* const> matches_;
};

// An ordered, named, immutable set of rules. Cheap to share.
class RuleSet {
 public:
  // Throws Error "FILE:LINE: reason" where the text does not parse, a name is used twice, a side uses an unbound
  // variable, or the two sides cannot have equal types.
  static std::shared_ptr<const RuleSet> parse(std::string_view text, const std::string& file_name);
  static std::shared_ptr<const RuleSet> load(std::span<const std::filesystem::path> files);
  ~RuleSet();

  int size() const;
  const CompiledRule& rule(int index) const;  // 0 <= index < size()
  const std::string& name(int index) const;
  // What rlgo itself found out: of shipped rules, as they were when it was built, what their file states; of all others
  // nothing, whatever their file states.
  Proof proof(int index) const;
  std::vector<std::string> names() const;  // by index
  // Depends on names, order and meaning of the rules, not on comments or spacing.
  uint64_t hash() const;
  // The named subset, in this set's order. Throws Error (with the nearest name) on an unknown one.
  std::shared_ptr<const RuleSet> subset(std::span<const std::string> names) const;
  std::string to_text() const;
  // For people: of which loaded rules a file claims a proof that rlgo did not make. Empty where there are none.
  const std::string& remark() const;

  struct Impl;  // core/rules/rule_set.h
  const Impl& impl() const;

 private:
  RuleSet();
  std::unique_ptr<Impl> impl_;
};

// All matches of one rule, from scratch, in the stable order: by position of nodes[0] in graph.order(), then of the
// other nodes, then variables. Every one can be applied: conditions hold, the new side's types fit and equal the old
// ones, no outside reader of an inner node is cut off, no cycle arises, and the rewrite changes the graph.
std::vector<Match> find_matches(const RuleSet& rules, int rule, const graph::Graph& graph);

// A graph that a rewrite made, and how it differs from the one before.
struct Rewritten {
  graph::Graph graph;
  graph::Delta delta;
};
// Nothing where the match does not (any longer) apply to this graph.
std::optional<Rewritten> apply(const RuleSet& rules, const Match& match, const graph::Graph& graph);

// All matches of all rules for one graph at a time, kept up to date across edits at a cost that depends on the size of
// the edit, not of the graph (ordering apart).
class MatchIndex {
 public:
  using Stop = std::function<bool()>;
  // `stop` is asked after every few nodes; true: the matches found so far are all there are (complete()).
  MatchIndex(std::shared_ptr<const RuleSet> rules, const graph::Graph& graph, const Stop& stop = {});
  ~MatchIndex();
  MatchIndex(const MatchIndex&);
  MatchIndex(MatchIndex&&) noexcept;
  MatchIndex& operator=(const MatchIndex&);
  MatchIndex& operator=(MatchIndex&&) noexcept;

  const RuleSet& rules() const;  // that are matched
  // `graph` came from the indexed graph by an edit with this delta (from apply()).
  void update(const graph::Graph& graph, const graph::Delta& delta);
  // False where the constructor was stopped.
  bool complete() const;
  // Equal to find_matches(rules, rule, graph), in the same order. After updates of a graph with long lists, or with
  // values that many nodes read, there may be others of the same kind (kManyReaders in matcher.h).
  MatchView matches(int rule) const;
  int64_t total() const;
  // matches(rule)[location], kept alive: while it is held, no other match stands at its address.
  std::shared_ptr<const Match> share(int rule, int location) const;
  // Makes the edit of matches(rule)[location] on an editor of the indexed graph, without looking at the match again.
  // Appends (old value, value in its place) to `replaced` where that is not null.
  void edit(int rule, int location, graph::Editor& editor,
            std::vector<std::pair<graph::Value, graph::Value>>* replaced = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlgo::rules
