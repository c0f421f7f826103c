#include "core/optimise/learned_search.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/write_error.h"
#include "core/optimise/candidates.h"
#include "core/rules/script.h"

namespace rlgo::optimise {
namespace {

constexpr int kDryDraws = 4;           // searches by drawn costs, one after the other, that bring nothing worth timing
constexpr double kTurnSeconds = 1;     // of one of them
constexpr size_t kMostWithout = 12;    // rules of a graph, the most used first, that are left out
constexpr int kMostApplied = 32;       // rewrites by one more rule
constexpr double kNearFastest = 1.05;  // what may be as fast for the comparison that decides

}  // namespace

void declare(OptionSink& o, LearnedOptions& options) {
  o.text("learned.data", options.data,
         "learned latency: file of whole graphs that were timed, to start from and to add to; none: next to the "
         "measured costs, or in the run folder");
  o.integer("learned.graphs", options.graphs, 0, 10'000, "learned latency: whole graphs that are timed at most");
  o.choice("learned.choice", options.choice, {"bound", "all"},
           "learned latency: which graphs are timed: those whose optimistic bound promises a gain; or all that are "
           "found, to compare");
}

LearnedSearch::LearnedSearch(LearnedParts parts, TimedGraphs& kept, const LearnedOptions& options, uint64_t seed)
    : parts_(std::move(parts)),
      kept_(kept),
      options_(options),
      seed_(seed),
      model_(parts_.unmodified.hash()),
      features_(parts_.unmodified, parts_.prices),
      acquisition_(kept.examples(model_)),
      seen_{model_},
      known_(std::min(kept.graphs().size(), Acquisition::kMostKnown)) {}

bool LearnedSearch::offer(Proposal proposal) {
  const uint64_t hash = proposal.graph.hash();
  if (!seen_.insert(hash).second) return false;
  const double sum = cost_of(parts_.prices, proposal.graph) / features_.unmodified_us();
  if (!(sum > 0)) return false;
  acquisition_.offer(sum, features_(proposal.graph, proposal.trace, *parts_.rules));
  proposals_.push_back(std::move(proposal));
  hashes_.push_back(hash);
  sums_.push_back(sum);
  return true;
}

void LearnedSearch::run() {
  int dry = 0;
  for (;;) {
    if (over()) return;
    if (acquisition_.timed_count() >= static_cast<size_t>(options_.graphs)) {
      ended_by_ = "--learned.graphs";
      return;
    }
    if (parts_.found) {
      for (Proposal& proposal : parts_.found()) offer(std::move(proposal));
    }
    if (!next() || (!times_all() && exploring_s_ < timing_s_)) explore();
    if (over()) return;
    if (const auto batch = next_batch(); !batch.empty()) {
      measure(batch);
      dry = 0;
    } else if (++dry > kDryDraws) {
      ended_by_ = times_all() ? "searches find nothing new" : "no bound promises a gain";
      return;
    }
  }
}

std::vector<size_t> LearnedSearch::next_batch() {
  std::vector<size_t> batch;
  const auto most =
      std::min(static_cast<size_t>(options_.batch), static_cast<size_t>(options_.graphs) - acquisition_.timed_count());
  while (batch.size() < most) {
    const auto graph = next();
    if (!graph) break;
    acquisition_.hold(*graph);
    batch.push_back(*graph);
  }
  return batch;
}

std::optional<double> LearnedSearch::time_of(size_t graph, double against) {
  try {
    return parts_.time(proposals_[graph].graph, against);
  } catch (const WriteError&) {
    throw;  // no room: of no model
  } catch (const Error& e) {
    ++failed_;
    failure_ = e.what();
    return std::nullopt;
  }
}

void LearnedSearch::measure(const std::vector<size_t>& batch) {
  const Stopwatch watch;
  const auto ahead = [this](size_t graph, double against) {
    if (parts_.ahead) parts_.ahead(proposals_[graph], against);
  };
  std::vector<std::pair<size_t, LearnedGraph>> found;
  for (const size_t graph : batch) ahead(graph, acquisition_.incumbent());
  for (const size_t graph : batch) {
    if (!found.empty() && over()) break;
    LearnedGraph learned{proposals_[graph].name, sums_[graph], acquisition_.predicted(graph),
                         acquisition_.deviation(graph)};
    if (const auto ratio = time_of(graph, acquisition_.incumbent())) {
      learned.ratio = *ratio;
      found.emplace_back(graph, std::move(learned));
    } else {
      acquisition_.failed(graph);
    }
  }
  const auto ratio_of = [](const auto& one) { return one.second.ratio; };
  for (size_t left = found.size(); left > 1 && !over();) {
    std::ranges::stable_sort(std::span(found).first(left), {}, ratio_of);
    left = (left + 1) / 2;
    const auto rival = [&](size_t k) { return ratio_of(found[k == 0 ? 1 : 0]); };
    for (size_t k = 0; k < left; ++k) ahead(found[k].first, rival(k));
    for (size_t k = 0; k < left && !over(); ++k) {
      double& ratio = found[k].second.ratio;
      // A failure keeps the time that is there.
      ratio = time_of(found[k].first, rival(k)).value_or(ratio);
    }
  }
  for (const auto& [graph, learned] : found) {
    const Proposal& proposal = proposals_[graph];
    kept_.add({model_, hashes_[graph], sums_[graph], learned.ratio,
               features_(proposal.graph, proposal.trace, *parts_.rules)});
    acquisition_.timed(graph, learned.ratio);
    timed_.push_back(learned);
  }
  timing_s_ += watch.seconds();
}

// Neighbours of the fastest graph once, then searches by drawn costs in turns: sweeps from the unmodified graph, the
// portfolio from the fastest.
void LearnedSearch::explore() {
  const Stopwatch watch;
  const auto order = acquisition_.by_time();
  if (!order.empty() && expanded_.insert(order[0]).second) {
    offer_neighbours(order[0]);
  } else {
    ++draws_;
    LearnedCost drawn(parts_.prices, features_, acquisition_.residual().draw(hash_combine(seed_, draws_)));
    const double seconds = std::min(kTurnSeconds, parts_.left_s());
    const auto name = fmt::format("learned cost, draw {}", draws_);
    if (draws_ % 2 == 1 || order.empty()) {
      offer_found(name, {}, parts_.search("sweep", parts_.unmodified, drawn, seconds));
    } else {
      const Proposal from = proposals_[order[0]];
      offer_found(name, from.trace, parts_.search("portfolio", from.graph, drawn, seconds));
    }
  }
  exploring_s_ += watch.seconds();
}

bool LearnedSearch::offer_found(const std::string& name, const rules::Trace& before, search::Result found) {
  rules::Trace trace = before;
  trace.insert(trace.end(), found.trace.begin(), found.trace.end());
  return offer({name, std::move(found.graph), std::move(trace)});
}

void LearnedSearch::offer_neighbours(size_t graph) {
  const Proposal best = proposals_[graph];
  offer_without_rules(best);
  offer_one_rule_more(best);
}

void LearnedSearch::offer_without_rules(const Proposal& best) {
  if (best.trace.empty()) return;
  const rules::Script replay(parts_.unmodified, parts_.rules, best.trace);
  const auto used = rules_by_use(best.trace);
  for (size_t k = 0; k < std::min(used.size(), kMostWithout) && !over(); ++k) {
    const std::string& name = parts_.rules->name(used[k]);
    rules::Replayed part = replay.without({name});
    offer({fmt::format("{} without {}", best.name, name), std::move(part.graph), std::move(part.trace)});
  }
  for (const size_t quarters : {3, 2, 1}) {
    if (over()) return;
    rules::Replayed part = replay.prefix(replay.size() * quarters / 4);
    offer({fmt::format("{}, first {} rewrites", best.name, part.trace.size()), std::move(part.graph),
           std::move(part.trace)});
  }
}

void LearnedSearch::offer_one_rule_more(const Proposal& best) {
  const rules::MatchIndex matches(parts_.rules, best.graph, [this] { return over(); });
  for (int rule = 0; rule < parts_.rules->size() && !over(); ++rule) {
    if (matches.matches(rule).empty()) continue;
    Proposal more = {fmt::format("{} and {}", best.name, parts_.rules->name(rule)), best.graph, best.trace};
    rules::MatchIndex index = matches;
    for (int k = 0; k < kMostApplied && !index.matches(rule).empty() && !over(); ++k) {
      auto rewritten = rules::apply(*parts_.rules, index.matches(rule)[0], more.graph);
      if (!rewritten) break;
      index.update(rewritten->graph, rewritten->delta);
      more.graph = std::move(rewritten->graph);
      more.trace.push_back({rule, 0});
    }
    offer(std::move(more));
  }
}

std::vector<const Proposal*> LearnedSearch::fastest(size_t count) const {
  std::vector<const Proposal*> out;
  const auto order = acquisition_.by_time();
  for (const size_t k : order) {
    if (out.size() == count || acquisition_.ratio(k) > kNearFastest * acquisition_.ratio(order[0])) break;
    out.push_back(&proposals_[k]);
  }
  return out;
}

const Proposal* LearnedSearch::proposal(uint64_t graph) const {
  const auto at = std::ranges::find(hashes_, graph);
  return at == hashes_.end() ? nullptr : &proposals_[static_cast<size_t>(at - hashes_.begin())];
}

double LearnedSearch::predicted(const graph::Graph& graph, const rules::Trace& trace) const {
  const uint64_t hash = graph.hash();
  if (hash == model_) return 1;
  const auto at = std::ranges::find(hashes_, hash);
  if (at != hashes_.end()) {
    const auto k = static_cast<size_t>(at - hashes_.begin());
    return acquisition_.ratio(k) > 0 ? acquisition_.ratio(k) : acquisition_.predicted(k);
  }
  const double sum = cost_of(parts_.prices, graph) / features_.unmodified_us();
  return sum + acquisition_.residual().predict(features_(graph, trace, *parts_.rules)).mean;
}

std::string to_text(const LearnedSummary& learned) {
  std::string out = counted(learned.timed.size(), "graph") + " timed";
  if (learned.known > 0) out += fmt::format(" ({} known from earlier calls)", learned.known);
  if (learned.best_at > 0) out += fmt::format(", best found at {}", learned.best_at);
  if (learned.failed > 0) out += fmt::format("; {} could not be timed ({})", learned.failed, learned.failure);
  if (learned.sum_error > 0)
    out += fmt::format("; residual error {:.1f} % -> {:.1f} %", 100 * learned.sum_error, 100 * learned.residual_error);
  return out + "; ended by: " + learned.ended_by;
}

LearnedSummary LearnedSearch::summary() const {
  return {.known = known_,
          .timed = timed_,
          .failed = failed_,
          .failure = failure_,
          .best_at = acquisition_.best_at(),
          .sum_error = acquisition_.sum_error(),
          .residual_error = acquisition_.residual_error(),
          .ended_by = ended_by_};
}

}  // namespace rlgo::optimise
