#include "core/search/windows.h"

#include <algorithm>
#include <utility>

#include "core/base/hash.h"

namespace rlgo::search {
namespace {

using graph::NodeId;

constexpr int kDeepest = 12;
constexpr int kLabelRounds = 4;  // windows look the same if they do up to this distance

}  // namespace

Windows::Windows(Context& context)
    : context_(context),
      walk_(*context.start(), context.thread_cost(0), context.problem().cost, context.options().max_locations,
            [this] { return may_try(); }),
      best_(walk_.mark()) {}

void Windows::run(int64_t tries) {
  const int64_t now = context_.counters().candidates;
  pause_at_ = tries > std::numeric_limits<int64_t>::max() - now ? std::numeric_limits<int64_t>::max() : now + tries;
  if (!begun_) {
    begun_ = true;
    descend();
    keep_best();
  }
  finished_ = finished_ || best_.places.empty();
  while (!finished_ && may_continue()) {
    cut_ = false;
    while (may_continue() && search_windows()) {
    }
    if (context_.options().progress) context_.options().progress(context_.counters(), context_.best_us());
    if (!may_continue()) return;
    finished_ = !cut_ || depth_ == kDeepest;  // a deeper search would see no more
    ++depth_;
  }
}

void Windows::adopt(const Walk::Mark& best) {
  if (best.cost_us >= best_.cost_us - context_.tolerance_us()) return;
  best_ = best;
  walk_.restore(best_);
  depth_ = 2;
  finished_ = false;
}

void Windows::adopt(const State& best) {
  if (best.cost_us >= best_.cost_us - context_.tolerance_us()) return;
  const Walk walk(best, context_.thread_cost(0), context_.problem().cost, context_.options().max_locations,
                  [this] { return may_try(); });
  adopt(walk.mark());
}

bool Windows::may_try() {
  ended_ = ended_ || !context_.may_continue();
  if (!ended_) ++context_.counters().candidates;
  return !ended_;
}

bool Windows::may_continue() { return !ended_ && context_.counters().candidates < pause_at_; }

void Windows::keep_best() {
  best_ = walk_.mark();
  context_.counters().steps += walk_.moves() - std::exchange(moves_, walk_.moves());
  context_.offer({best_.graph, best_.index, best_.hash, best_.cost_us, best_.depth, best_.trail});
}

void Windows::descend() {
  const auto delta_us = [](const Place& place) { return place.move ? place.move->delta_us : 0; };
  while (!ended_) {
    const auto best = std::ranges::min_element(walk_.places(), {}, delta_us);
    if (best == walk_.places().end() || delta_us(*best) >= -context_.tolerance_us()) return;
    if (!may_try() || !walk_.take(static_cast<size_t>(best - walk_.places().begin()))) return;
  }
}

// Of each node, what can be seen from it (Weisfeiler and Leman 1968).
std::vector<uint64_t> Windows::labels() const {
  const graph::Graph& graph = walk_.graph();
  std::vector<uint64_t> now(static_cast<size_t>(graph.id_bound()), 0), next = now;
  for (const NodeId id : graph.order()) now[static_cast<size_t>(id)] = graph.node(id).info->signature_hash;
  for (int round = 0; round < kLabelRounds; ++round) {
    for (const NodeId id : graph.order()) {
      const graph::Node& node = graph.node(id);
      uint64_t h = now[static_cast<size_t>(id)], readers = 0;
      for (const graph::Value& v : node.inputs) {
        h = hash_combine(h, now[static_cast<size_t>(v.node)] + static_cast<uint64_t>(v.port));
      }
      for (const graph::Use& use : node.uses) {
        readers += mix64(hash_combine(now[static_cast<size_t>(use.user)], static_cast<uint64_t>(use.port)));
      }
      next[static_cast<size_t>(id)] = hash_combine(h, readers + (graph.is_output(id) ? 1 : 0));
    }
    std::swap(now, next);
  }
  return now;
}

// One pass over the windows that were not searched. True where one of them paid, so that others may now.
bool Windows::search_windows() {
  const std::vector<uint64_t> label = labels();
  for (size_t k = 0; k < best_.places.size() && may_continue(); ++k) {
    if (!best_.places[k].move) continue;
    const rules::Match& match = *best_.places[k].move->match;
    uint64_t key = static_cast<uint64_t>(match.rule);
    for (const NodeId id : match.nodes) key = hash_combine(key, label[static_cast<size_t>(id)]);
    const auto known = known_.find(key);
    if (known != known_.end() && known->second.depth >= depth_) {
      cut_ = cut_ || known->second.cut;
      continue;
    }
    found_.clear();
    found_us_ = best_.cost_us - context_.tolerance_us();
    seen_.clear();
    seen_.insert(best_.hash.value());
    path_.clear();
    window_cut_ = false;
    explore(k, depth_);
    cut_ = cut_ || window_cut_;
    if (may_continue()) known_[key] = {depth_, window_cut_};
    if (!found_.empty()) {
      make_found();
      return true;
    }
    walk_.restore(best_);
  }
  return false;
}

// Makes places()[k], then all that its rewrites reach, `depth` rewrites in all.
void Windows::explore(size_t k, int depth) {
  const Place& place = walk_.places()[k];
  if (!place.move || !may_continue() || !seen_.insert(walk_.hash() + place.move->delta_hash).second) return;
  auto taken = take(walk_, k);
  if (!taken || !may_try()) return;
  path_.push_back(std::move(*taken));
  const Walk::Mark here = walk_.mark();
  if (here.cost_us < found_us_) {
    found_ = path_;
    found_us_ = here.cost_us;
  }
  for (size_t next = 0; next < here.places.size() && may_continue(); ++next) {
    const auto& move = here.places[next].move;
    if (!move || !is_near(*move->match)) continue;
    if (depth == 2) {  // the last rewrite need not be made to know what it costs
      if (here.cost_us + move->delta_us < found_us_) {
        if (auto last = take(walk_, next)) {
          found_ = path_;
          found_.push_back(std::move(*last));
          found_us_ = walk_.cost_us();
        }
        walk_.restore(here);
      }
      window_cut_ = true;
      continue;
    }
    const size_t length = path_.size();
    explore(next, depth - 1);
    if (path_.size() > length) path_.resize(length);
    walk_.restore(here);
  }
}

// Whether some node of the match was made or touched by the rewrites before.
bool Windows::is_near(const rules::Match& match) const {
  return std::ranges::any_of(match.nodes, [&](NodeId id) {
    return std::ranges::any_of(path_,
                               [&](const Taken& t) { return std::ranges::find(t.changed, id) != t.changed.end(); });
  });
}

void Windows::make_found() {
  const auto goes_on = [this] { return !ended_; };
  walk_.restore(best_);
  const auto minimal = minimise(walk_, best_, found_, context_.tolerance_us(), goes_on);
  const Macro macro = connected(walk_, best_, minimal, context_.tolerance_us());
  keep_best();
  spread(walk_, macro, context_.tolerance_us(), goes_on);
  descend();
  keep_best();
}

Result window(const Problem& problem, const Options& options) {
  Context context(problem, options);
  Windows(context).run();
  return context.finish();
}

}  // namespace rlgo::search
