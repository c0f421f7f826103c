// All matches of all rules, kept up to date: after an edit only matches that touch changed nodes are dropped, and only
// changed nodes are anchors of the search for new ones. Conditions look at matched nodes and the types, contents and
// constancy of their operands only, so nothing else can change; but for cycles, which are asked again each time.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/rules/rule_set.h"

namespace rlgo::rules {
namespace {

using graph::Graph;
using graph::NodeId;

// The matches of one rule; shared between copies of an index until one of them changes it.
struct RuleMatches {
  std::vector<Found> all;         // blocked ones and both orders of `before` rules included; sorted
  std::vector<uint32_t> offered;  // index in `all` of each published match
  std::vector<Match> published;
  std::vector<bool> in_order;  // of `before` rules: whether all[k] stands in the wanted order
  bool any_sensitive = false;
};

// What matching sees of a node itself: inputs, its own and their constancy.
uint64_t fingerprint(const Graph& graph, const graph::Node& node) {
  uint64_t h = node.constant ? 1 : 2;
  for (const auto& v : node.inputs) {
    const uint64_t constant = graph.node(v.node).constant ? 1 : 0;
    h = hash_combine(h, (static_cast<uint64_t>(v.node) << 17) ^ (static_cast<uint64_t>(v.port) << 1) ^ constant);
  }
  return h;
}

enum Change : uint8_t { kSame = 0, kUses = 1, kNode = 2 };

}  // namespace

struct MatchIndex::Impl {
  std::shared_ptr<const RuleSet> set;
  std::vector<std::shared_ptr<const RuleMatches>> rules;
  std::vector<uint64_t> fingerprints;  // by node id
  int64_t total = 0;

  const CompiledRule& rule(size_t r) const { return *set->impl().rules[r]; }

  std::vector<bool> order_flags(const CompiledRule& rule, const Graph& graph, const std::vector<Found>& all) const {
    std::vector<bool> flags;
    if (rule.before_first < 0) return flags;
    for (const auto& found : all) {
      flags.push_back(graph.position(found.match.nodes[rule.before_first]) <
                      graph.position(found.match.nodes[rule.before_second]));
    }
    return flags;
  }

  void set_rule(size_t r, const Graph& graph, std::vector<Found> all) {
    auto matches = std::make_shared<RuleMatches>();
    sort_found(graph, all);
    matches->offered = publish(rule(r), graph, all);
    for (const uint32_t k : matches->offered) matches->published.push_back(all[k].match);
    matches->in_order = order_flags(rule(r), graph, all);
    matches->any_sensitive = std::ranges::any_of(all, [](const Found& f) { return f.sensitive; });
    matches->all = std::move(all);
    total += static_cast<int64_t>(matches->published.size()) -
             (rules[r] ? static_cast<int64_t>(rules[r]->published.size()) : 0);
    rules[r] = std::move(matches);
  }

  // Matches around the given nodes, for each rule.
  std::vector<std::vector<Found>> search(const Graph& graph, std::span<const std::pair<NodeId, Change>> nodes,
                                         bool first_roots_only) const {
    const auto& inside = set->impl();
    std::vector<std::vector<Found>> found(inside.rules.size());
    Binding scratch;
    for (const auto& [id, change] : nodes) {
      for (const Anchor& anchor : inside.anchors[static_cast<size_t>(graph.node(id).op())]) {
        if (first_roots_only ? anchor.pattern != 0 : change == kUses && !anchor.asks_uses) continue;
        const auto r = static_cast<size_t>(anchor.rule);
        auto& out = found[r];
        Matcher(rule(r), anchor.rule, graph, scratch).at(anchor.pattern, id, [&](Found f, const Plan& plan) {
          f.recipe = make_recipe(plan, graph);
          out.push_back(std::move(f));
        });
      }
    }
    return found;
  }

  // Nodes whose neighbourhood changed, and how; live ones are listed, `change` also has the removed.
  std::vector<std::pair<NodeId, Change>> changed_nodes(const Graph& graph, const graph::Delta& delta,
                                                       std::vector<uint8_t>& change) {
    change.assign(static_cast<size_t>(graph.id_bound()), kSame);
    fingerprints.resize(static_cast<size_t>(graph.id_bound()), 0);
    std::vector<std::pair<NodeId, Change>> nodes;
    for (NodeId id : delta.removed) change[static_cast<size_t>(id)] = kNode;
    for (const auto* list : {&delta.touched, &delta.added}) {
      for (NodeId id : *list) {
        const uint64_t now = fingerprint(graph, graph.node(id));
        auto& known = fingerprints[static_cast<size_t>(id)];
        const Change how = known == now ? kUses : kNode;
        known = now;
        change[static_cast<size_t>(id)] = how;
        nodes.emplace_back(id, how);
      }
    }
    return nodes;
  }

  // Asks again whether sensitive matches would make a cycle. True where an answer changed.
  bool ask_cycles(size_t r, const Graph& graph, std::vector<Found>& all) const {
    bool changed = false;
    Binding scratch;
    for (Found& found : all) {
      if (!found.sensitive) continue;
      const bool before = found.blocked;
      Matcher(rule(r), static_cast<int>(r), graph, scratch)
          .pinned(found.match.nodes, [&](const Found& now, const Plan&) {
            if (now.match == found.match) found.blocked = now.blocked;
          });
      changed |= before != found.blocked;
    }
    return changed;
  }

  // Whether the order of the old matches still stands.
  bool in_order(size_t r, const Graph& graph, const RuleMatches& old) const {
    const auto less = [&](const Found& a, const Found& b) { return stands_before(graph, a.match, b.match); };
    return std::is_sorted(old.all.begin(), old.all.end(), less) && order_flags(rule(r), graph, old.all) == old.in_order;
  }

  void update_rule(size_t r, const Graph& graph, const std::vector<uint8_t>& change, std::vector<Found> found) {
    const RuleMatches& old = *rules[r];
    const uint32_t asks = set->impl().asks_uses[r];
    const auto stale = [&](const Found& f) {
      for (size_t k = 0; k < f.match.nodes.size(); ++k) {
        const uint8_t how = change[static_cast<size_t>(f.match.nodes[k])];
        if (how == kNode || (how == kUses && (asks >> k & 1u))) return true;
      }
      return false;
    };
    const bool drop = std::ranges::any_of(old.all, stale);
    const bool same = !drop && found.empty();
    if (same && !old.any_sensitive && in_order(r, graph, old)) return;
    std::vector<Found> all;
    all.reserve(old.all.size() + found.size());
    for (const Found& f : old.all) {
      if (!drop || !stale(f)) all.push_back(f);
    }
    const bool freed = old.any_sensitive && ask_cycles(r, graph, all);
    if (same && !freed && in_order(r, graph, old)) return;
    for (Found& f : found) all.push_back(std::move(f));
    set_rule(r, graph, std::move(all));
  }
};

MatchIndex::MatchIndex(std::shared_ptr<const RuleSet> rules, const Graph& graph) : impl_(std::make_unique<Impl>()) {
  impl_->set = std::move(rules);
  impl_->rules.resize(impl_->set->impl().rules.size());
  impl_->fingerprints.assign(static_cast<size_t>(graph.id_bound()), 0);
  std::vector<std::pair<NodeId, Change>> nodes;
  for (NodeId id : graph.order()) {
    impl_->fingerprints[static_cast<size_t>(id)] = fingerprint(graph, graph.node(id));
    nodes.emplace_back(id, kNode);
  }
  auto found = impl_->search(graph, nodes, true);
  for (size_t r = 0; r < found.size(); ++r) impl_->set_rule(r, graph, std::move(found[r]));
}

MatchIndex::~MatchIndex() = default;
MatchIndex::MatchIndex(const MatchIndex& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
MatchIndex::MatchIndex(MatchIndex&&) noexcept = default;
MatchIndex& MatchIndex::operator=(const MatchIndex& other) {
  if (this != &other) *impl_ = *other.impl_;
  return *this;
}
MatchIndex& MatchIndex::operator=(MatchIndex&&) noexcept = default;

const RuleSet& MatchIndex::rules() const { return *impl_->set; }

void MatchIndex::update(const Graph& graph, const graph::Delta& delta) {
  std::vector<uint8_t> change;
  const auto nodes = impl_->changed_nodes(graph, delta, change);
  auto found = impl_->search(graph, nodes, false);
  for (size_t r = 0; r < found.size(); ++r) impl_->update_rule(r, graph, change, std::move(found[r]));
}

std::span<const Match> MatchIndex::matches(int rule) const {
  RLGO_CHECK(rule >= 0 && rule < static_cast<int>(impl_->rules.size()));
  return impl_->rules[static_cast<size_t>(rule)]->published;
}

void MatchIndex::edit(int rule, int location, graph::Editor& editor,
                      std::vector<std::pair<graph::Value, graph::Value>>* replaced) const {
  RLGO_CHECK(location >= 0 && static_cast<size_t>(location) < matches(rule).size());
  const RuleMatches& of_rule = *impl_->rules[static_cast<size_t>(rule)];
  draw(*of_rule.all[of_rule.offered[static_cast<size_t>(location)]].recipe, editor, replaced);
}

int64_t MatchIndex::total() const { return impl_->total; }

}  // namespace rlgo::rules
