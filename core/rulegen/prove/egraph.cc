// Congruence closure: where two classes are joined, the terms that read them may now have equal signatures (operator,
// parameters, classes of the operands), which joins their classes in turn; close() does that until nothing changes.
// Terms of different shapes are never joined: an instance of an axiom that asks for it is refused and counted.
#include "core/rulegen/prove/egraph.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"

namespace rlgo::rulegen::sym {

std::string function_name(const Node& node) { return fmt::format("f{}_{}_{}", node.op, node.params, node.kids.size()); }

size_t EGraph::SignatureHash::operator()(const Signature& s) const {
  uint64_t h = hash_combine(static_cast<uint64_t>(s.op), static_cast<uint64_t>(s.params));
  for (TermId kid : s.kids) h = hash_combine(h, static_cast<uint64_t>(kid));
  return h;
}

// Keeps the memory: a proof goes through thousands of small graphs.
void EGraph::clear() {
  nodes_.clear();
  parent_.clear();
  members_.clear();
  readers_.clear();
  links_.clear();
  exact_.clear();
  canonical_.clear();
  for (auto& [op, terms] : of_op_) terms.clear();
  instances_.clear();
  pending_.clear();
  refused_ = 0;
  operators_ = 0;
}

TermId EGraph::find(TermId t) const {
  while (parent_[static_cast<size_t>(t)] != t) {
    TermId& up = parent_[static_cast<size_t>(t)];
    up = parent_[static_cast<size_t>(up)];
    t = up;
  }
  return t;
}

std::span<const TermId> EGraph::of_op(int op) const {
  const auto held = of_op_.find(op);
  return held == of_op_.end() ? std::span<const TermId>() : std::span<const TermId>(held->second);
}

EGraph::Signature EGraph::signature(TermId t) const {
  Signature s{node(t).op, node(t).params, node(t).kids};
  for (TermId& kid : s.kids) kid = find(kid);
  if (commutative(s.op)) std::sort(s.kids.begin(), s.kids.end());
  return s;
}

TermId EGraph::add(int op, int32_t params, const Kids& kids, const Kids& outs) {
  const auto [place, is_new] = exact_.try_emplace({op, params, kids}, static_cast<TermId>(nodes_.size()));
  if (!is_new) return place->second;
  const auto t = static_cast<TermId>(nodes_.size());
  nodes_.push_back({op, params, kids, outs, false});
  parent_.push_back(t);
  members_.push_back({t});
  readers_.emplace_back();
  links_.emplace_back();
  for (TermId kid : kids) readers_[static_cast<size_t>(find(kid))].push_back(t);
  const auto [canonical, fresh] = canonical_.try_emplace(signature(t), t);
  if (fresh) {
    operators_ |= uint64_t{1} << (op % 64);
    of_op_[op].push_back(t);
  } else {
    nodes_.back().duplicate = true;
    pending_.emplace_back(t, canonical->second);
    close();
  }
  return t;
}

TermId EGraph::lookup(int op, int32_t params, const Kids& kids) const {
  Signature s{op, params, kids};
  for (TermId& kid : s.kids) kid = find(kid);
  if (commutative(op)) std::sort(s.kids.begin(), s.kids.end());
  const auto held = canonical_.find(s);
  return held == canonical_.end() ? -1 : held->second;
}

bool EGraph::merge(int32_t axiom, TermId left, TermId right) {
  if (node(left).outs != node(right).outs) {
    ++refused_;
    return false;
  }
  if (same(left, right)) return true;
  instances_.push_back({axiom, left, right});
  join(left, right, static_cast<int32_t>(instances_.size()) - 1);
  close();
  return true;
}

void EGraph::close() {
  while (!pending_.empty()) {
    const auto [a, b] = pending_.back();
    pending_.pop_back();
    if (same(a, b)) continue;
    if (node(a).outs != node(b).outs) {
      ++refused_;
      continue;
    }
    join(a, b, -1);
  }
}

void EGraph::join(TermId a, TermId b, int32_t reason) {
  link(a, b, reason);
  TermId big = find(a), small = find(b);
  if (members_[static_cast<size_t>(big)].size() < members_[static_cast<size_t>(small)].size()) std::swap(big, small);
  parent_[static_cast<size_t>(small)] = big;
  auto& kept = members_[static_cast<size_t>(big)];
  auto& moved = members_[static_cast<size_t>(small)];
  kept.insert(kept.end(), moved.begin(), moved.end());
  std::vector<TermId> readers = std::exchange(readers_[static_cast<size_t>(small)], {});
  for (TermId reader : readers) {
    const auto [place, fresh] = canonical_.try_emplace(signature(reader), reader);
    if (!fresh && place->second != reader) {
      if (!nodes_[static_cast<size_t>(place->second)].duplicate) nodes_[static_cast<size_t>(reader)].duplicate = true;
      pending_.emplace_back(reader, place->second);
    }
  }
  // Readers of the kept root whose other operand moved are among `readers`; their signatures are entered again.
  auto& all = readers_[static_cast<size_t>(big)];
  all.insert(all.end(), readers.begin(), readers.end());
}

// Hangs the tree of `a` below `b`.
void EGraph::link(TermId a, TermId b, int32_t reason) {
  TermId at = a;
  Link back{b, reason};
  while (at >= 0) {
    const Link next = links_[static_cast<size_t>(at)];
    links_[static_cast<size_t>(at)] = back;
    back = {at, next.reason};
    at = next.to;
  }
}

std::vector<TermId> EGraph::path_to_root(TermId t) const {
  std::vector<TermId> path{t};
  while (links_[static_cast<size_t>(path.back())].to >= 0) path.push_back(links_[static_cast<size_t>(path.back())].to);
  return path;
}

void EGraph::explain(TermId a, TermId b, std::set<int32_t>& instances) const {
  RLGO_CHECK(same(a, b));
  std::vector<std::pair<TermId, TermId>> open{{a, b}};
  std::set<TermId> seen;  // links already followed, by their lower end
  while (!open.empty()) {
    const auto [x, y] = open.back();
    open.pop_back();
    if (x == y) continue;
    auto up = path_to_root(x), down = path_to_root(y);
    while (up.size() > 1 && down.size() > 1 && up[up.size() - 2] == down[down.size() - 2]) {
      up.pop_back();
      down.pop_back();
    }
    for (auto* path : {&up, &down}) {
      for (size_t k = 0; k + 1 < path->size(); ++k) {
        const TermId t = (*path)[k];
        if (!seen.insert(t).second) continue;
        const Link& step = links_[static_cast<size_t>(t)];
        if (step.reason >= 0) {
          instances.insert(step.reason);
          continue;
        }
        const Kids &mine = node(t).kids, &theirs = node(step.to).kids;
        RLGO_CHECK_EQ(mine.size(), theirs.size());
        const bool crossed = mine.size() == 2 && !(same(mine[0], theirs[0]) && same(mine[1], theirs[1]));
        for (size_t i = 0; i < mine.size(); ++i) open.emplace_back(mine[i], theirs[crossed ? 1 - i : i]);
      }
    }
  }
}

}  // namespace rlgo::rulegen::sym
