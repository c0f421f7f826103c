#include "core/env/starts.h"

#include <algorithm>
#include <cmath>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/search/walk.h"

namespace rlgo::env {
namespace {

constexpr double kEqual = 1e-9;  // of a cost
constexpr double kArchiveFraction = 0.5;

std::pair<int32_t, int32_t> as_pair(const rules::Rewrite& rewrite) { return {rewrite.rule, rewrite.location}; }

// An order of ways: what is kept must not depend on which came first.
bool shorter(const Way& a, const Way& b) {
  if (a.rewrites.size() != b.rewrites.size()) return a.rewrites.size() < b.rewrites.size();
  return std::ranges::lexicographical_compare(a.rewrites, b.rewrites, {}, as_pair, as_pair);
}

// Each prices at most `budget` graphs, and draws as with its seed: how often its method came before.
std::vector<rules::Trace> found_by(const std::vector<std::string>& searches, const search::Problem& problem,
                                   int64_t budget, int max_locations) {
  search::Options options;
  options.budget = budget;
  options.max_locations = max_locations;
  std::vector<rules::Trace> traces;
  for (auto it = searches.begin(); it != searches.end(); ++it) {
    options.seed = static_cast<uint64_t>(std::count(searches.begin(), it, *it));
    traces.push_back(search::run(*it, problem, options).trace);
  }
  return traces;
}

}  // namespace

Way priced_way(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost,
               int max_locations, const rules::Trace& trace) {
  Way way;
  const search::State start{
      graph,  rules::MatchIndex(rules, graph), graph::NameHash(graph), cost::graph_cost(cost, graph).runtime_us, 0,
      nullptr};
  search::Walk walk(start, cost, cost, max_locations, {});
  for (const rules::Rewrite& rewrite : trace) {
    const auto place = walk.find(rewrite);
    if (!place || !walk.take(*place)) break;
    way.rewrites.push_back(rewrite);
    way.cost_us.push_back(walk.cost_us());
  }
  return way;
}

bool Archive::offer(Way way) {
  if (way.cost_us.empty()) return false;
  const double us = way.cost_us.back();
  const auto at = std::ranges::lower_bound(ways_, us, {}, [](const Way& kept) { return kept.cost_us.back(); });
  const auto equal = [&](const Way& kept) { return std::abs(kept.cost_us.back() - us) <= kEqual * us; };
  for (const auto near : {at, at == ways_.begin() ? at : std::prev(at)}) {
    if (near == ways_.end() || !equal(*near)) continue;
    if (!shorter(way, *near)) return false;
    *near = std::move(way);
    return true;
  }
  if (ways_.size() >= most_ && at == ways_.end()) return false;
  ways_.insert(at, std::move(way));
  if (ways_.size() > most_) ways_.pop_back();
  return true;
}

const Way& Archive::draw(Rng& rng) const {
  RLGO_CHECK(!ways_.empty());
  return ways_[std::min(rng.below(ways_.size()), rng.below(ways_.size()))];
}

std::string Archive::encode() const {
  ByteWriter out;
  out.put_varint(ways_.size());
  for (const Way& way : ways_) {
    out.put_varint(way.rewrites.size());
    for (size_t i = 0; i < way.rewrites.size(); ++i) {
      out.put_signed_varint(way.rewrites[i].rule);
      out.put_signed_varint(way.rewrites[i].location);
      out.put(way.cost_us[i]);
    }
  }
  return out.take();
}

void Archive::decode(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<Way> ways;
  for (uint64_t left = in.get_varint(); left > 0; --left) {  // a false count ends in "truncated data"
    Way& way = ways.emplace_back();
    for (uint64_t more = in.get_varint(); more > 0; --more) {
      const auto rule = static_cast<int32_t>(in.get_signed_varint());
      way.rewrites.push_back({rule, static_cast<int32_t>(in.get_signed_varint())});
      way.cost_us.push_back(in.get<double>());
    }
    if (way.rewrites.empty()) fail("archive: a way without rewrites");
  }
  if (!in.done()) fail("archive: bytes left over");
  ways_ = std::move(ways);
}

Starts::Starts(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost,
               int max_locations, double fraction, int64_t budget, const std::vector<std::string>& searches)
    : Starts(graph, rules, cost, max_locations, fraction,
             found_by(searches, {graph, rules, cost}, budget, max_locations)) {}

Starts::Starts(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& cost,
               int max_locations, double fraction, const std::vector<rules::Trace>& traces)
    : fraction_(fraction) {
  const double before_us = cost::graph_cost(cost, graph).runtime_us;
  for (const rules::Trace& trace : traces) {
    Way way = priced_way(graph, rules, cost, max_locations, trace);
    keep_best(way, before_us);
    // An episode must have somewhere to go.
    if (!way.rewrites.empty() &&
        rules::MatchIndex(rules, rules::replay(graph, rules, way.rewrites, max_locations)).total() == 0) {
      way.rewrites.pop_back();
      way.cost_us.pop_back();
    }
    if (!way.rewrites.empty()) ways_.push_back(std::move(way));
  }
  archives_.resize(std::max<size_t>(ways_.size(), 1));
}

void Starts::archive_ways() {
  for (size_t island = 0; island < ways_.size(); ++island) offer(ways_[island], island);
}

size_t Starts::island_of(uint64_t key) const { return Rng({key, 0x151A}).below(archives_.size()); }

std::string Starts::encode_archives() const {
  ByteWriter out;
  out.put_varint(archives_.size());
  for (const Archive& archive : archives_) out.put_string(archive.encode());
  return out.take();
}

void Starts::decode_archives(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<Archive> archives;
  for (uint64_t left = in.get_varint(); left > 0; --left) archives.emplace_back().decode(in.get_string());
  if (archives.empty() || !in.done()) fail("archives of starts: bytes are missing or left over");
  archives_ = std::move(archives);
}

void Starts::keep_best(const Way& way, double before_us) {
  if (way.cost_us.empty()) return;
  const auto lowest = std::ranges::min_element(way.cost_us);
  if (*lowest >= (best_.cost_us.empty() ? before_us : best_.cost_us.back())) return;
  const auto length = lowest - way.cost_us.begin() + 1;
  best_ = {{way.rewrites.begin(), way.rewrites.begin() + length}, {way.cost_us.begin(), way.cost_us.begin() + length}};
}

std::optional<Start> Starts::of(uint64_t key) const {
  Rng rng({key, 0x57A27});
  if (rng.uniform() >= fraction_) return std::nullopt;
  const size_t island = island_of(key);
  const Archive& archive = archives_[island];
  const Way* own = island < ways_.size() ? &ways_[island] : nullptr;
  if (!archive.ways().empty() && (own == nullptr || rng.uniform() < kArchiveFraction)) {
    const Way& way = archive.draw(rng);
    return Start{&way.rewrites, &way.cost_us, way.rewrites.size()};
  }
  if (own == nullptr) return std::nullopt;
  return Start{&own->rewrites, &own->cost_us, 1 + rng.below(own->rewrites.size())};
}

}  // namespace rlgo::env
