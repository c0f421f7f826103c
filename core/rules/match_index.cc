// All matches of all rules, kept up to date: after an edit only matches that touch changed nodes are dropped, and only
// changed nodes are anchors of the search for new ones. Conditions look at matched nodes and the types, contents and
// constancy of their operands only, so nothing else can change; but for cycles, which are asked again each time.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/rules/rule_set.h"

namespace rlgo::rules {
namespace {

using graph::Graph;
using graph::NodeId;

// The matches of one rule; shared between copies of an index until one of them changes it.
struct RuleMatches {
  std::vector<Placed> all;        // blocked ones and both orders of `before` rules included; sorted
  std::vector<uint32_t> offered;  // index in `all` of each published match
  std::vector<const Match*> published;
  std::vector<bool> in_order;  // of `before` rules: whether all[k] stands in the wanted order
  bool any_sensitive = false;
};

// What matching sees of a node itself: inputs, its own and their constancy, and whether these may be infinite.
uint64_t fingerprint(const Graph& graph, const graph::Node& node) {
  uint64_t h = node.constant ? 1 : 2;
  for (const auto& v : node.inputs) {
    const auto& input = graph.node(v.node);
    const uint64_t seen = (input.constant ? 1 : 0) | static_cast<uint64_t>(input.infinities) << 1;
    h = hash_combine(h, (static_cast<uint64_t>(v.node) << 20) ^ (static_cast<uint64_t>(v.port) << 4) ^ seen);
  }
  return h;
}

enum Change : uint8_t { kSame = 0, kUses = 1, kNode = 2 };  // as Matcher::leave_out wants them

// Positions in a graph's order, both ends included.
struct Span {
  int32_t first = INT32_MAX, last = -1;

  void add(int32_t position) {
    first = std::min(first, position);
    last = std::max(last, position);
  }
  bool meets(const Span& other) const { return first <= other.last && other.first <= last; }
};

struct Changes {
  std::vector<uint8_t> how;                     // Change of each node, by id; of removed ones too
  std::vector<std::pair<NodeId, Change>> live;  // those to look around
  uint64_t mask = 0;                            // bit id % 64 of each
  uint64_t rules = 0;                           // bit rule % 64 of those that may have matches with one of them
  bool keeps_order = true;                      // nodes that live on stand in the order in which they stood
  std::vector<int32_t> old_positions;           // by id
  Span before, after;                           // of the nodes whose inputs changed, in the old graph and in the new
};

constexpr size_t kNodesAtOnce = 64;  // between two questions whether to stop

uint64_t mask_of(NodeId id) { return uint64_t{1} << (static_cast<uint64_t>(id) % 64); }

}  // namespace

struct MatchIndex::Impl {
  std::shared_ptr<const RuleSet> set;
  std::vector<std::shared_ptr<RuleMatches>> rules;
  std::vector<uint64_t> fingerprints;  // by node id
  std::vector<int32_t> positions;      // by node id, -1 where dead
  std::vector<uint64_t> rules_at;      // by node id: bit rule % 64 of those that had a match with it
  int64_t total = 0;
  bool complete = true;
  // Room that one update leaves to the next: arrays by node id are as long as the graph, edits are short.
  std::vector<uint8_t> seen_room, how_room;  // all 0
  std::vector<int32_t> positions_room;

  const CompiledRule& rule(size_t r) const { return *set->impl().rules[r]; }

  std::vector<bool> order_flags(const CompiledRule& rule, const Graph& graph, const std::vector<Placed>& all) const {
    std::vector<bool> flags;
    if (rule.before_first < 0) return flags;
    for (const Placed& one : all) {
      const auto& nodes = one.found->match.nodes;
      flags.push_back(graph.position(nodes[static_cast<size_t>(rule.before_first)]) <
                      graph.position(nodes[static_cast<size_t>(rule.before_second)]));
    }
    return flags;
  }

  // The first `sorted` are in order.
  void set_rule(size_t r, const Graph& graph, std::vector<Placed> all, size_t sorted) {
    auto matches = std::make_shared<RuleMatches>();
    sort_found(graph, all, sorted);
    matches->offered = publish(rule(r), graph, all);
    matches->published.reserve(matches->offered.size());
    for (const uint32_t k : matches->offered) matches->published.push_back(&all[k].found->match);
    matches->in_order = order_flags(rule(r), graph, all);
    matches->any_sensitive = std::ranges::any_of(all, &Placed::sensitive);
    matches->all = std::move(all);
    total += static_cast<int64_t>(matches->published.size()) -
             (rules[r] ? static_cast<int64_t>(rules[r]->published.size()) : 0);
    rules[r] = std::move(matches);
  }

  // Matches around the given nodes, by rule. Ends early where `stop` reports so.
  std::vector<Placed> search(const Graph& graph, std::span<const std::pair<NodeId, Change>> nodes,
                             bool first_roots_only, const Stop& stop) {
    const auto& inside = set->impl();
    std::vector<Placed> found;
    Binding scratch;
    std::vector<uint8_t> seen = std::move(seen_room);
    seen.resize(static_cast<size_t>(graph.id_bound()), kSame);
    const Matcher::Sink sink = [&](Found f, const Plan& plan) {
      f.recipe = make_recipe(plan, graph);
      for (const NodeId id : f.match.nodes) rules_at[static_cast<size_t>(id)] |= mask_of(f.match.rule);
      found.push_back(place(graph, std::move(f)));
    };
    rules_at.resize(static_cast<size_t>(graph.id_bound()), 0);
    for (size_t k = 0; k < nodes.size(); ++k) {
      const auto [id, change] = nodes[k];
      if (k % kNodesAtOnce == kNodesAtOnce - 1 && stop && stop()) {
        complete = false;
        break;
      }
      const auto op = static_cast<size_t>(graph.node(id).op());
      for (const Anchor& anchor : change == kUses ? inside.use_anchors[op] : inside.anchors[op]) {
        if (first_roots_only && anchor.pattern != 0) continue;
        const auto r = static_cast<size_t>(anchor.rule);
        Matcher matcher(rule(r), anchor.rule, graph, scratch);
        if (!first_roots_only) matcher.leave_out(seen, inside.asks_uses[r]);
        matcher.at(anchor.pattern, id, sink);
      }
      seen[static_cast<size_t>(id)] = change;
    }
    for (const auto& [id, change] : nodes) seen[static_cast<size_t>(id)] = kSame;
    seen_room = std::move(seen);
    const auto rule_of = [](const Placed& p) { return p.found->match.rule; };
    std::ranges::stable_sort(found, {}, rule_of);
    return found;
  }

  // Nodes whose neighbourhood changed, and how.
  Changes changes(const Graph& graph, const graph::Delta& delta) {
    Changes changes;
    changes.how = std::move(how_room);
    changes.how.resize(static_cast<size_t>(graph.id_bound()), kSame);
    fingerprints.resize(static_cast<size_t>(graph.id_bound()), 0);
    rules_at.resize(static_cast<size_t>(graph.id_bound()), 0);
    changes.keeps_order = take_positions(graph, changes.old_positions);
    const auto note = [&](NodeId id, Change how) {
      changes.how[static_cast<size_t>(id)] = how;
      changes.mask |= mask_of(id);
      changes.rules |= rules_at[static_cast<size_t>(id)];
      if (how == kUses) return;
      const auto at = static_cast<size_t>(id);
      if (at < changes.old_positions.size() && changes.old_positions[at] >= 0)
        changes.before.add(changes.old_positions[at]);
      if (graph.contains(id)) changes.after.add(graph.position(id));
    };
    for (NodeId id : delta.removed) note(id, kNode);
    for (const auto* list : {&delta.touched, &delta.added}) {
      for (NodeId id : *list) {
        const uint64_t now = fingerprint(graph, graph.node(id));
        auto& known = fingerprints[static_cast<size_t>(id)];
        const Change how = known == now ? kUses : kNode;
        known = now;
        note(id, how);
        changes.live.emplace_back(id, how);
      }
    }
    return changes;
  }

  void take_back(Changes& changes, const graph::Delta& delta) {
    for (const auto* list : {&delta.removed, &delta.touched, &delta.added}) {
      for (const NodeId id : *list) changes.how[static_cast<size_t>(id)] = kSame;
    }
    how_room = std::move(changes.how);
    positions_room = std::move(changes.old_positions);
  }

  // False where nodes that were in the last graph stand in another order.
  bool take_positions(const Graph& graph, std::vector<int32_t>& old) {
    old = std::exchange(positions, std::move(positions_room));
    positions.assign(static_cast<size_t>(graph.id_bound()), -1);
    bool kept = true;
    int32_t last = -1, next = 0;
    for (NodeId id : graph.order()) {
      const auto at = static_cast<size_t>(id);
      positions[at] = next++;
      if (at >= old.size() || old[at] < 0) continue;
      kept &= old[at] > last;
      last = old[at];
    }
    return kept;
  }

  // Whether a path between the match's nodes may have changed: all of it stands between them.
  bool may_cycle_otherwise(const Placed& one, const Changes& changes) const {
    const auto reach = [&](const std::vector<int32_t>& at) {
      Span span;
      if (changes.keeps_order) {
        span = {at[static_cast<size_t>(one.first)], at[static_cast<size_t>(one.last)]};
      } else {
        for (const NodeId id : one.found->match.nodes) span.add(at[static_cast<size_t>(id)]);
      }
      return span;
    };
    return reach(changes.old_positions).meets(changes.before) || reach(positions).meets(changes.after);
  }

  // Asks again whether sensitive matches would make a cycle.
  void ask_cycles(size_t r, const Graph& graph, const Changes& changes, std::vector<Placed>& all) const {
    Binding scratch;
    for (Placed& one : all) {
      if (!one.sensitive || !may_cycle_otherwise(one, changes)) continue;
      Matcher(rule(r), static_cast<int>(r), graph, scratch)
          .pinned(one.found->match.nodes, [&](const Found& now, const Plan&) {
            if (now.match == one.found->match) one.blocked = now.blocked;
          });
    }
  }

  // Whether the order of these matches, which were in order, still stands.
  bool in_order(const Graph& graph, const std::vector<Placed>& all) const {
    const auto less = [&](const Placed& a, const Placed& b) {
      return stands_before(graph, a.found->match, b.found->match);
    };
    return std::is_sorted(all.begin(), all.end(), less);
  }

  void update_rule(size_t r, const Graph& graph, const Changes& changes, std::span<Placed> found) {
    const RuleMatches& old = *rules[r];
    if (old.all.empty() && found.empty()) return;
    const uint32_t asks = set->impl().asks_uses[r];
    const auto stale = [&](const Placed& one) {
      if ((one.nodes & changes.mask) == 0) return false;
      const auto& nodes = one.found->match.nodes;
      for (size_t k = 0; k < nodes.size(); ++k) {
        const uint8_t how = changes.how[static_cast<size_t>(nodes[k])];
        if (how == kNode || (how == kUses && (asks >> k & 1u))) return true;
      }
      return false;
    };
    const bool drop = (changes.rules & mask_of(static_cast<NodeId>(r))) != 0 && std::ranges::any_of(old.all, stale);
    const bool same = !drop && found.empty();
    const auto stands = [&] {
      return changes.keeps_order || (in_order(graph, old.all) && order_flags(rule(r), graph, old.all) == old.in_order);
    };
    const bool asks_cycles = old.any_sensitive && std::ranges::any_of(old.all, [&](const Placed& one) {
                               return one.sensitive && may_cycle_otherwise(one, changes);
                             });
    const bool moved = old.any_sensitive && !changes.keeps_order;
    if (same && !asks_cycles && !moved && stands()) return;
    std::vector<Placed> all;
    if (rules[r].use_count() == 1) {
      all = std::move(rules[r]->all);
      if (drop) std::erase_if(all, stale);
    } else {
      all.reserve(old.all.size() + found.size());
      for (const Placed& one : old.all) {
        if (!drop || !stale(one)) all.push_back(one);
      }
    }
    if (moved) std::ranges::for_each(all, [&](Placed& one) { one.find_ends(graph); });
    if (asks_cycles) ask_cycles(r, graph, changes, all);
    const size_t sorted = changes.keeps_order || in_order(graph, all) ? all.size() : 0;
    for (Placed& one : found) all.push_back(std::move(one));
    set_rule(r, graph, std::move(all), sorted);
  }

  // Calls act(rule, its matches) for each rule.
  template <typename Act>
  void each_rule(std::span<Placed> found, const Act& act) const {
    size_t next = 0;
    for (size_t r = 0; r < rules.size(); ++r) {
      const size_t first = next;
      while (next < found.size() && static_cast<size_t>(found[next].found->match.rule) == r) ++next;
      act(r, found.subspan(first, next - first));
    }
  }
};

MatchIndex::MatchIndex(std::shared_ptr<const RuleSet> rules, const Graph& graph, const Stop& stop)
    : impl_(std::make_unique<Impl>()) {
  impl_->set = std::move(rules);
  impl_->rules.resize(impl_->set->impl().rules.size());
  impl_->fingerprints.assign(static_cast<size_t>(graph.id_bound()), 0);
  std::vector<int32_t> none;
  impl_->take_positions(graph, none);
  std::vector<std::pair<NodeId, Change>> nodes;
  for (NodeId id : graph.order()) {
    impl_->fingerprints[static_cast<size_t>(id)] = fingerprint(graph, graph.node(id));
    nodes.emplace_back(id, kNode);
  }
  auto found = impl_->search(graph, nodes, true, stop);
  impl_->each_rule(found, [&](size_t r, std::span<Placed> of_rule) {
    impl_->set_rule(r, graph, {std::make_move_iterator(of_rule.begin()), std::make_move_iterator(of_rule.end())}, 0);
  });
}

bool MatchIndex::complete() const { return impl_->complete; }

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
  Changes changes = impl_->changes(graph, delta);
  auto found = impl_->search(graph, changes.live, false, {});
  impl_->each_rule(found, [&](size_t r, std::span<Placed> of_rule) { impl_->update_rule(r, graph, changes, of_rule); });
  impl_->take_back(changes, delta);
}

MatchView MatchIndex::matches(int rule) const {
  RLGO_CHECK(rule >= 0 && rule < static_cast<int>(impl_->rules.size()));
  return MatchView(impl_->rules[static_cast<size_t>(rule)]->published);
}

std::shared_ptr<const Match> MatchIndex::share(int rule, int location) const {
  RLGO_CHECK(location >= 0 && static_cast<size_t>(location) < matches(rule).size());
  const RuleMatches& of_rule = *impl_->rules[static_cast<size_t>(rule)];
  const auto& found = of_rule.all[of_rule.offered[static_cast<size_t>(location)]].found;
  return {found, &found->match};
}

void MatchIndex::edit(int rule, int location, graph::Editor& editor,
                      std::vector<std::pair<graph::Value, graph::Value>>* replaced) const {
  RLGO_CHECK(location >= 0 && static_cast<size_t>(location) < matches(rule).size());
  const RuleMatches& of_rule = *impl_->rules[static_cast<size_t>(rule)];
  draw(*of_rule.all[of_rule.offered[static_cast<size_t>(location)]].found->recipe, editor, replaced);
}

int64_t MatchIndex::total() const { return impl_->total; }

}  // namespace rlgo::rules
