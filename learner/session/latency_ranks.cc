#include "learner/session/latency_ranks.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/cores.h"
#include "core/base/error.h"
#include "core/base/fields.h"
#include "core/base/hash.h"
#include "core/comm/protocol.h"
#include "core/optimise/learned_cost.h"

namespace rlgo::learner {
namespace {

using comm::Tag;

constexpr int kRanksOfATimer = 16;
constexpr double kTurnSeconds = 2;  // of a search
constexpr double kLook_ms = 20;     // between looks at what has arrived

// All go as Tag::learner; who sends shows which.
struct Ask {  // rank 0 -> timer
  uint64_t number = 0;
  double against = 1;
  rules::Trace trace;
  static constexpr std::string_view kName = "question of a latency";
  static void fields(auto& m, auto&& each) { each(m.number, m.against, m.trace); }
};
struct Answer {  // timer -> rank 0
  uint64_t number = 0;
  double unmodified_us = 0, ratio = 1, error = 0;
  std::string failure;
  static constexpr std::string_view kName = "answer with a latency";
  static void fields(auto& m, auto&& each) { each(m.number, m.unmodified_us, m.ratio, m.error, m.failure); }
};
struct Found {  // searcher -> rank 0
  rules::Trace trace;
  static constexpr std::string_view kName = "graph that a rank found";
  static void fields(auto& m, auto&& each) { each(m.trace); }
};
// rank 0 -> searchers: count of examples, of each its value, then count, names and values of its features; the trace.
struct Known {
  std::vector<cost::ResidualExample> examples;
  rules::Trace fastest;
};

std::string encode(const std::vector<cost::ResidualExample>& examples, const rules::Trace& fastest) {
  ByteWriter out;
  out.put<uint64_t>(examples.size());
  for (const auto& example : examples) {
    out.put(example.value);
    out.put<uint64_t>(example.features.size());
    for (const auto& [name, x] : example.features) {
      out.put_string(name);
      out.put(x);
    }
  }
  out.put_vector(fastest);
  return out.take();
}

Known decode_known(const std::string& bytes) {
  ByteReader in(bytes);
  Known known;
  for (auto count = in.get<uint64_t>(); count > 0; --count) {
    cost::ResidualExample example;
    example.value = in.get<double>();
    for (auto features = in.get<uint64_t>(); features > 0; --features) {
      std::string name = in.get_string();
      example.features[std::move(name)] = in.get<double>();
    }
    known.examples.push_back(std::move(example));
  }
  known.fastest = in.get_vector<rules::Rewrite>();
  if (!in.done()) fail("what is known of latencies: bytes are left over");
  return known;
}

}  // namespace

bool LatencyRoles::times(int rank) const { return std::ranges::find(timers, rank) != timers.end(); }

LatencyRoles latency_roles(std::span<const int> nodes, int timers) {
  const int ranks = static_cast<int>(nodes.size());
  if (timers == 0) timers = std::max(1, ranks / kRanksOfATimer);
  timers = std::min(timers, ranks - 1);
  std::map<int, std::vector<int>> of_host;
  for (int rank = 1; rank < ranks; ++rank) of_host[nodes[static_cast<size_t>(rank)]].push_back(rank);
  LatencyRoles roles;
  while (std::ssize(roles.timers) < timers) {
    for (auto& [host, left] : of_host) {
      if (left.empty() || std::ssize(roles.timers) == timers) continue;
      roles.timers.push_back(left.back());
      left.pop_back();
    }
  }
  for (const auto& [host, left] : of_host) roles.searchers.insert(roles.searchers.end(), left.begin(), left.end());
  std::ranges::sort(roles.timers);
  std::ranges::sort(roles.searchers);
  return roles;
}

std::vector<int> cores_of(const LatencyRoles& roles, std::span<const int> nodes, int rank,
                          const std::vector<int>& cores) {
  const int host = nodes[static_cast<size_t>(rank)];
  std::vector<int> here;  // timers
  std::ranges::copy_if(roles.timers, std::back_inserter(here),
                       [&](int timer) { return nodes[static_cast<size_t>(timer)] == host; });
  if (here.empty() || cores.size() <= here.size()) return {};
  const auto at = std::ranges::find(here, rank);
  const auto first = cores.end() - std::ssize(here);
  if (at == here.end()) return {cores.begin(), first};
  return {first[at - here.begin()]};
}

void keep_cores(std::span<const int> nodes, int timers, int rank) {
  const auto cores = cores_of(latency_roles(nodes, timers), nodes, rank, own_cores());
  if (!cores.empty()) keep_to(cores);
}

LatencyRanks::LatencyRanks(comm::Mailbox& mailbox, LatencyRoles roles, LatencyPatience patience,
                           std::function<void(const comm::Incoming&)> answers)
    : mailbox_(mailbox), roles_(std::move(roles)), patience_(std::move(patience)), answers_(std::move(answers)) {
  for (const int rank : roles_.timers) timers_[rank];
}

size_t LatencyRanks::tasks_of(int rank) const {
  return static_cast<size_t>(std::ranges::count_if(
      tasks_, [&](const auto& task) { return task.second.rank == rank && task.second.number != 0; }));
}

int LatencyRanks::least_busy() const {
  int best = 0;
  for (const auto& [rank, heard] : timers_) {
    if (!lost_.contains(rank) && (best == 0 || tasks_of(rank) < tasks_of(best))) best = rank;
  }
  return best;
}

void LatencyRanks::begin(uint64_t graph, const rules::Trace& trace, double against) {
  tend();
  Task& task = tasks_[graph];
  if (task.number != 0 || task.ready || !any_timer()) return;
  if (task.rank == 0 || lost_.contains(task.rank)) task.rank = least_busy();
  task.number = ++number_;
  if (tasks_of(task.rank) == 1) timers_[task.rank].restart();
  mailbox_.send(task.rank, Tag::learner, write_fields(Ask{task.number, against, trace}));
}

cost::WholeTiming LatencyRanks::time(uint64_t graph, const rules::Trace& trace, double against) {
  const auto failed = [](const std::string& why) { return cost::WholeTiming{0, 1, 0, why}; };
  begin(graph, trace, against);
  Task& task = tasks_[graph];
  while (!task.ready) {
    if (task.number == 0) return failed("no rank that times graphs is left");
    if (patience_.should_stop()) return failed("the run was stopped");
    mailbox_.wait(kLook_ms);
    tend();
  }
  task.ready = false;
  return task.answer;
}

void LatencyRanks::send_examples(const std::vector<cost::ResidualExample>& examples, const rules::Trace& fastest) {
  mailbox_.publish(roles_.searchers, Tag::learner, std::make_shared<const std::string>(encode(examples, fastest)));
}

std::vector<rules::Trace> LatencyRanks::found() {
  tend();
  return std::exchange(found_, {});
}

void LatencyRanks::take(const comm::Incoming& message) {
  if (message.tag == Tag::cost_request) return answers_(message);
  if (message.tag != Tag::learner) return;  // signs of life
  if (!roles_.times(message.source)) {
    found_.push_back(read_fields<Found>(message.payload).trace);
    return;
  }
  auto answer = read_fields<Answer>(message.payload);
  for (auto& [graph, task] : tasks_) {
    if (task.number != answer.number) continue;
    task.number = 0;
    task.ready = true;
    task.answer = {answer.unmodified_us, answer.ratio, answer.error, std::move(answer.failure)};
  }
}

void LatencyRanks::lose_silent() {
  for (const auto& [rank, heard] : timers_) {
    if (lost_.contains(rank) || tasks_of(rank) == 0 || heard.seconds() <= patience_.silence_s) continue;
    lost_.insert(rank);
    mailbox_.forget(rank);
    for (auto& [graph, task] : tasks_) {
      if (task.rank != rank || task.number == 0) continue;
      task.number = 0;
      task.ready = true;
      task.answer = {0, 1, 0,
                     fmt::format("rank {}, which timed it, was silent for {:.3g} s", rank, patience_.silence_s)};
    }
  }
}

void LatencyRanks::tend() {
  while (auto message = mailbox_.take()) {
    const auto timer = timers_.find(message->source);
    if (timer != timers_.end()) timer->second.restart();
    take(*message);
  }
  lose_silent();
  if (since_sign_.seconds() < patience_.heartbeat_s) return;
  since_sign_.restart();
  const std::string beat = comm::encode(comm::Heartbeat());
  for (int rank = 1; rank < mailbox_.size(); ++rank) mailbox_.send(rank, Tag::heartbeat, beat);
}

bool LatencyRanks::stop() {
  for (int rank = 1; rank < mailbox_.size(); ++rank) mailbox_.send(rank, Tag::stop, "the agent has ended");
  mailbox_.flush(2.0);
  return lost_.empty();
}

std::unique_ptr<LatencyRanks> lead_latency_ranks(comm::Mailbox& mailbox, LatencyRoles roles, LatencyPatience patience,
                                                 CostServer& prices, const Log& log) {
  prices.publish();
  log.info("{} of {} ranks time graphs, {} search", roles.timers.size(), mailbox.size(), roles.searchers.size() + 1);
  return std::make_unique<LatencyRanks>(mailbox, std::move(roles), std::move(patience),
                                        [&prices](const comm::Incoming& message) { prices.answer(message); });
}

bool LatencyLine::ended() {
  if (ended_) return true;
  while (mailbox_.take(Tag::heartbeat, 0)) since_heard_.restart();
  if (since_sign_.seconds() >= patience_.heartbeat_s) {
    since_sign_.restart();
    mailbox_.send(0, Tag::heartbeat, comm::encode(comm::Heartbeat()));
  }
  mailbox_.poll();
  ended_ = patience_.should_stop() || mailbox_.take(Tag::stop, 0) || since_heard_.seconds() > patience_.silence_s;
  return ended_;
}

search::Options latency_search(uint64_t seed, int max_locations, int64_t graphs, std::function<bool()> stop) {
  search::Options options;
  options.budget = graphs;
  options.seed = seed;
  options.max_locations = max_locations;
  options.memory_mib = 2048;
  options.together = true;
  options.stop = std::move(stop);
  return options;
}

void time_for_rank_0(LatencyLine& line, const graph::Graph& unmodified,
                     const std::shared_ptr<const rules::RuleSet>& rules, const cost::WholeTimer& timer) {
  while (!line.ended()) {
    const auto message = line.mailbox().take(Tag::learner, 0);
    if (!message) {
      line.mailbox().wait(kLook_ms);
      continue;
    }
    const auto ask = read_fields<Ask>(message->payload);
    const auto timed = timer(rules::replay(unmodified, rules, ask.trace), ask.against);
    line.mailbox().send(0, Tag::learner,
                        write_fields(Answer{ask.number, timed.unmodified_us, timed.ratio, timed.error, timed.failure}));
  }
}

void search_for_rank_0(LatencyLine& line, const graph::Graph& unmodified,
                       const std::shared_ptr<const rules::RuleSet>& rules, cost::CostModel& prices, uint64_t seed,
                       int max_locations) {
  const bool gathers = prices.defer();
  const optimise::GraphFeatures features(unmodified, prices);
  cost::Residual residual;
  rules::Trace fastest;
  graph::Graph from = unmodified;
  std::set<uint64_t> seen = {unmodified.hash()};
  for (uint64_t draw = 1; !line.ended(); ++draw) {
    std::optional<comm::Incoming> known;
    while (auto message = line.mailbox().take(Tag::learner, 0)) known = std::move(message);
    if (known) {
      auto [examples, trace] = decode_known(known->payload);
      residual = cost::Residual(std::move(examples));
      from = rules::replay(unmodified, rules, trace);
      fastest = std::move(trace);
    }
    const bool restarts = draw % 2 == 1;  // at the unmodified graph
    const uint64_t drawn_seed = hash_combine(seed, draw);
    optimise::LearnedCost drawn(prices, features, residual.draw(drawn_seed));
    const Stopwatch watch;
    const auto options = latency_search(drawn_seed, max_locations, kLaterGraphs,
                                        [&] { return watch.seconds() > kTurnSeconds || line.ended(); });
    auto found = search::run(restarts ? "sweep" : "portfolio", {restarts ? unmodified : from, rules, drawn}, options);
    if (line.ended()) break;
    if (!seen.insert(found.graph.hash()).second) {
      line.mailbox().wait(kLook_ms);
      continue;
    }
    Found message{restarts ? rules::Trace() : fastest};
    message.trace.insert(message.trace.end(), found.trace.begin(), found.trace.end());
    line.mailbox().send(0, Tag::learner, write_fields(message));
  }
  if (gathers) prices.forget_deferred();
}

}  // namespace rlgo::learner
