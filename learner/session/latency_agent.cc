#include "learner/session/latency_agent.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/search/search.h"
#include "learner/metrics.h"

namespace rlgo::learner {
namespace {

constexpr int kBatch = 8;                                           // graphs that are halved down to one
constexpr const char* kFirst[] = {"sweep", "greedy", "portfolio"};  // searches by prices
constexpr double kFirstSeconds = 10, kFirstFraction = 0.1;          // of one of them; of the time
constexpr int64_t kFirstGraphs = 200'000;                           // that one of them tries
constexpr double kNever = std::numeric_limits<double>::infinity();

class Agent {
 public:
  Agent(const LatencyAgentInput& in, optimise::TimedGraphs& kept)
      : in_(in),
        kept_(kept),
        metrics_(in.folder.metrics()),
        search_(parts(), kept, with_batches(in.options), in.seed) {}

  // The rewrites to the fastest graph; none where no graph is shown to be faster than the unmodified one.
  rules::Trace run() {
    const bool gathers = prices().defer();  // whole graphs are timed, and no operators
    const double each_s = std::min(kFirstSeconds, kFirstFraction * left_s());
    for (const char* method : kFirst) {
      auto found = by_prices(method, model(), prices(), each_s, kFirstGraphs);
      search_.offer({method, std::move(found.graph), std::move(found.trace)});
    }
    search_.run();
    if (gathers) prices().forget_deferred();
    // The fastest that is shown: a median far below it may be noise.
    const auto best = std::ranges::min_element(latest_, {}, &Interval::second);
    if (best == latest_.end() || best->second >= 1) return {};
    return search_.proposal(best->first)->trace;
  }

  LatencyAgentResult result() const {
    const auto summary = search_.summary();
    return {timings_, watch_.seconds(), " (learned latency: " + to_text(summary) + ")",
            stopped()    ? "interrupted"
            : no_timer() ? "no rank that times graphs is left"
                         : summary.ended_by};
  }

 private:
  const graph::Graph& model() const { return in_.graph.model.graph; }
  cost::CostModel& prices() const { return *in_.prices.model; }
  bool stopped() const { return in_.should_stop && in_.should_stop(); }
  bool no_timer() const { return in_.ranks != nullptr && !in_.ranks->any_timer(); }
  double left_s() const {
    if (stopped() || no_timer()) return 0;
    return in_.seconds > 0 ? in_.seconds - watch_.seconds() : kNever;
  }
  static optimise::LearnedOptions with_batches(optimise::LearnedOptions options) {
    options.batch = kBatch;
    return options;
  }

  search::Result by_prices(const std::string& method, const graph::Graph& from, cost::CostModel& cost, double seconds,
                           int64_t graphs) {
    const Stopwatch watch;
    const auto options = latency_search(in_.seed, in_.max_locations, graphs, [&] {
      if (in_.ranks != nullptr) in_.ranks->tend();
      return watch.seconds() > seconds || left_s() <= 0;
    });
    return search::run(method, {from, in_.rules, cost}, options);
  }

  optimise::LearnedParts parts() {
    optimise::LearnedParts parts{
        .unmodified = model(),
        .rules = in_.rules,
        .prices = prices(),
        .search = [this](const std::string& method, const graph::Graph& from, cost::CostModel& cost,
                         double seconds) { return by_prices(method, from, cost, seconds, kLaterGraphs); },
        .time = [this](const graph::Graph& graph, double against) { return time(graph, against); },
        .left_s = [this] { return left_s(); }};
    if (in_.ranks == nullptr) return parts;
    parts.ahead = [this](const optimise::Proposal& proposal, double against) {
      in_.ranks->begin(proposal.graph.hash(), proposal.trace, against);
    };
    parts.found = [this] { return found_by_ranks(); };
    return parts;
  }

  // What the ranks that search sent. They get what has been learned since the last call.
  std::vector<optimise::Proposal> found_by_ranks() {
    if (const size_t timed = search_.summary().timed.size(); timed > reported_) {
      reported_ = timed;
      const auto fastest = search_.fastest(1);
      auto examples = kept_.examples(model().hash());
      if (examples.size() > optimise::Acquisition::kMostFitted)
        examples.erase(examples.begin(), examples.end() - optimise::Acquisition::kMostFitted);
      in_.ranks->send_examples(examples, fastest.empty() ? rules::Trace() : fastest[0]->trace);
    }
    std::vector<optimise::Proposal> out;
    for (auto& trace : in_.ranks->found()) {
      out.push_back({"a rank's", rules::replay(model(), in_.rules, trace), std::move(trace)});
      in_.ranks->tend();
    }
    return out;
  }

  cost::WholeTiming timed(const graph::Graph& graph, double against) {
    if (in_.ranks == nullptr) return in_.timer(graph, against);
    return in_.ranks->time(graph.hash(), search_.proposal(graph.hash())->trace, against);
  }

  double time(const graph::Graph& graph, double against) {
    const auto found = timed(graph, against);
    const bool differs = std::abs(found.ratio - against) > found.error;
    ++(!found.ok() ? timings_.failed : differs ? timings_.shown : timings_.within_noise);
    if (found.ok()) latest_[graph.hash()] = found.ratio + found.error;
    metrics_.write({{"seconds", watch_.seconds()},
                    {"timings", timings_.all()},
                    {"timings_within_noise", timings_.within_noise},
                    {"timings_failed", timings_.failed},
                    {"best_latency", best()}});
    if (!found.ok()) fail("{}", found.failure);
    return found.ratio;
  }

  double best() const {
    double least = 1;
    for (const auto& [graph, upper] : latest_) least = std::min(least, upper);
    return least;
  }

  using Interval = std::pair<const uint64_t, double>;  // a graph, and the upper end of its ratio's interval

  const LatencyAgentInput& in_;
  const optimise::TimedGraphs& kept_;
  size_t reported_ = 0;  // graphs that the ranks that search know of
  const Stopwatch watch_;
  MetricsFile metrics_;
  WholeTimings timings_;
  std::map<uint64_t, double> latest_;  // intervals; more rounds may widen them
  optimise::LearnedSearch search_;
};

}  // namespace

LatencyAgentResult learn_latency(const LatencyAgentInput& in, const Log& log) {
  const cost::Runtime& runtime = *in.prices.runtime;
  optimise::TimedGraphs kept(
      {in.prices.model->name() + ", timed in " + runtime.name(), runtime.device(), runtime.threads()});
  const auto file = in.options.data.empty() ? in.folder.path / "timed.tsv" : std::filesystem::path(in.options.data);
  std::error_code error;
  if (std::filesystem::exists(file, error)) kept.load(file);
  if (!kept.graphs().empty()) log.info("{}: {} graphs that were timed are known", file.string(), kept.graphs().size());
  Agent agent(in, kept);
  rules::Trace trace = agent.run();
  kept.save(file);
  std::vector<double> costs(trace.size(), in.graph.best->initial_us());  // the run's end prices them
  in.graph.best->replace(std::move(trace), std::move(costs));
  auto out = agent.result();
  if (out.timings.failed > 0) log.warn("{} of {} timings failed", out.timings.failed, out.timings.all());
  return out;
}

}  // namespace rlgo::learner
