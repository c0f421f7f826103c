#include "learner/session/imitation.h"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/cost/decorators.h"
#include "core/cost/profile.h"
#include "core/env/features.h"
#include "core/nets/actor_critic.h"
#include "core/nets/batch.h"
#include "core/nets/graph_ops.h"
#include "core/nets/plain.h"
#include "core/search/search.h"
#include "core/search/walk.h"

namespace rlgo::learner {
namespace {

using torch::Tensor;

// Temperatures of lessons, in units: those of annealing's rounds.
constexpr double kColdest = 0.01, kHottest = 2.0;
constexpr double kMostNorm = 1.0;  // of a step's gradient

struct Gain {
  rules::Trace trace;
  size_t before = 0;
};

double unit_of(const graph::Graph& graph) { return 100.0 / static_cast<double>(1 + cost::priced_operators(graph)); }

// Makes the rewrites from..to of a trace.
void follow(search::Walk& walk, const rules::Trace& trace, size_t from, size_t to) {
  for (size_t k = from; k < to; ++k) {
    const auto place = walk.find(trace[k]);
    if (!place || !walk.take(*place))
      fail("imitation: a rewrite that annealing made does not apply again (a bug of rlgo)");
  }
}

// The graphs of one sequence, with what it does next.
class Sequence {
 public:
  Sequence(const search::State& start, cost::CostModel& cost, const Gain& gain, int max_locations)
      : gain_(gain), walk_(start, cost, cost, max_locations, [] { return true; }) {
    const auto here = walk_.mark();
    for (size_t k = gain.before; k < gain.trace.size(); ++k) {
      const auto place = walk_.find(gain.trace[k]);
      if (!place) fail("imitation: a rewrite that annealing made is not offered again");
      steps_.push_back(walk_.places()[*place].move->match);
      follow(walk_, gain.trace, k, k + 1);
    }
    walk_.restore(here);
  }

  void add(const std::shared_ptr<cost::CostModel>& cost, double initial_us, int64_t number, double unit,
           std::vector<Lesson>& lessons) {
    double best_us = walk_.cost_us();
    for (size_t k = 0; k < steps_.size(); ++k) {
      best_us = std::min(best_us, walk_.cost_us());
      env::FeatureBuilder features(cost);
      features.reset(walk_.graph());
      lessons.push_back({features.observe(walk_.graph(), walk_.places(), walk_.matches().rules().size(),
                                          {initial_us, walk_.cost_us(), best_us}),
                         places_left(k), unit, number});
      follow(walk_, gain_.trace, gain_.before + k, gain_.before + k + 1);
    }
  }

 private:
  // Where the rewrites from the k-th on are offered already, in whatever order.
  std::vector<int32_t> places_left(size_t k) const {
    std::vector<int32_t> found;
    for (size_t place = 0; place < walk_.places().size(); ++place) {
      const auto& move = walk_.places()[place].move;
      if (std::any_of(steps_.begin() + static_cast<ptrdiff_t>(k), steps_.end(), [&](const auto& step) {
            return move->match->rule == step->rule && std::ranges::equal(move->match->nodes, step->nodes);
          }))
        found.push_back(static_cast<int32_t>(place));
    }
    return found;
  }

  const Gain& gain_;
  search::Walk walk_;
  std::vector<std::shared_ptr<const rules::Match>> steps_;
};

// What imitates: the network, and the lessons as it reads them.
class Imitator {
 public:
  Imitator(const std::vector<Lesson>& lessons, const mdp::ObservationSpec& spec, const nets::AgentOptions& options)
      : lessons_(lessons), network_(spec, options, 1), table_(spec, options.rounds, options.both_directions) {
    for (const auto& lesson : lessons) {
      mdp::check(lesson.observation, spec);
      rows_.push_back(table_.add(lesson.observation));
    }
  }
  nets::ActorCritic& network() { return network_; }

  // Mean over the lessons of -log of the probability of what is right, each at a temperature of its own.
  Tensor loss(std::span<const size_t> chosen, Rng& rng, bool alone) {
    std::vector<const mdp::Observation*> observations;
    std::vector<const nets::RowIds*> rows;
    std::vector<float> per_percent;
    std::vector<int64_t> right, right_graph;
    int64_t first = 0;
    for (const size_t k : chosen) {
      const Lesson& lesson = lessons_[k];
      observations.push_back(&lesson.observation);
      rows.push_back(&rows_[k]);
      const double temperature = lesson.unit * kColdest * std::pow(kHottest / kColdest, rng.uniform());
      per_percent.insert(per_percent.end(), lesson.observation.loc_node.size(), static_cast<float>(1 / temperature));
      for (const int32_t place : lesson.right) {
        right.push_back(first + place);
        right_graph.push_back(static_cast<int64_t>(observations.size()) - 1);
      }
      first += static_cast<int64_t>(lesson.observation.loc_node.size());
    }
    const auto batch = nets::collate(observations, network_->spec(), table_, rows);
    const auto change = batch.loc_feat.select(1, 0);
    auto logits = -torch::tensor(per_percent) * change;
    if (!alone) {
      const auto beta = network_->named_parameters()["log_beta"].exp().detach();
      logits = logits + network_->policy(batch, network_->encode(batch)).score + beta * change;
    }
    const auto log_p = nets::segment_log_softmax(logits, batch.loc_graph, batch.graphs);
    const auto p = log_p.index_select(0, torch::tensor(right)).exp();
    const auto sums = nets::scatter_sum(p.unsqueeze(1), torch::tensor(right_graph), batch.graphs).squeeze(1);
    return -sums.clamp_min(1e-6).log().mean();
  }

 private:
  const std::vector<Lesson>& lessons_;
  nets::ActorCritic network_;
  agent::RowTable table_;
  std::vector<nets::RowIds> rows_;
};

double mean_loss(Imitator& imitator, const std::vector<size_t>& lessons, size_t batch, bool alone) {
  if (lessons.empty()) return 0;
  const torch::NoGradGuard no_gradients;
  Rng rng({17});  // the same temperatures each time
  double sum = 0;
  for (size_t begin = 0; begin < lessons.size(); begin += batch) {
    const auto some = std::span(lessons).subspan(begin, std::min(batch, lessons.size() - begin));
    sum += imitator.loss(some, rng, alone).item<double>() * static_cast<double>(some.size());
  }
  return sum / static_cast<double>(lessons.size());
}

}  // namespace

void declare(OptionSink& o, ImitationOptions& c) {
  o.heading("Imitation");
  o.texts("imitate.profiles", c.profiles,
          "cost profiles to learn under: cpu, gpu, other profiles of configs/costs, or files");
  o.integer("imitate.budget", c.budget, 1, kNoLimit, "graphs that each search of a graph prices");
  o.integer("imitate.searches", c.searches, 1, 10000, "searches of each graph and profile");
  o.integer("imitate.lessons", c.lessons, 1, kNoLimit, "of a graph and profile that are learned from, at most");
  o.integer("imitate.epochs", c.epochs, 1, 100000, "passes over all lessons");
  o.integer("imitate.batch", c.batch, 1, 100000, "lessons of a step");
  o.number("imitate.rate", c.rate, 1e-9, 1, "learning rate of Adam");
  o.number("imitate.held-out", c.held_out, 0, 0.9, "share of the sequences that nothing is learned from");
}

double add_lessons(const graph::Graph& graph, const std::shared_ptr<const rules::RuleSet>& rules,
                   const std::shared_ptr<cost::CostModel>& cost, const ImitationOptions& options, uint64_t seed,
                   int64_t first_sequence, std::vector<Lesson>& lessons, const std::function<bool()>& should_stop) {
  std::vector<Gain> gains;
  search::Options search;
  search.budget = options.budget;
  search.seed = seed;
  search.max_locations = options.max_locations;
  search.stop = should_stop;
  search.gained = [&](const rules::Trace& trace, size_t before) { gains.push_back({trace, before}); };
  const auto found = search::run("anneal", {graph, rules, *cost}, search);
  const auto most = static_cast<size_t>(options.lessons);
  if (gains.size() > most) {  // evenly, as the first are the easiest
    for (size_t k = 0; k < most; ++k) gains[k] = gains[k * gains.size() / most];
    gains.resize(most);
  }
  const search::State start{graph,  rules::MatchIndex(rules, graph), graph::NameHash(graph), found.before_us, 0,
                            nullptr};
  search::Walk walk(start, *cost, *cost, options.max_locations, nullptr);
  const auto begin = walk.mark();
  for (const Gain& gain : gains) {
    walk.restore(begin);
    follow(walk, gain.trace, 0, gain.before);
    const double now_us = cost::graph_cost(*cost, walk.graph()).runtime_us;
    const search::State state{walk.graph(), walk.matches(), graph::NameHash(walk.graph()), now_us, 0, nullptr};
    Sequence(state, *cost, gain, options.max_locations)
        .add(cost, found.before_us, first_sequence++, unit_of(graph), lessons);
  }
  return found.after_us / found.before_us;
}

agent::AgentFile imitate(const std::vector<Lesson>& lessons, const mdp::ObservationSpec& spec,
                         const nets::AgentOptions& network, const ImitationOptions& options,
                         const std::function<void(const std::string&)>& told, const std::function<bool()>& should_stop,
                         ImitationReport& report) {
  const auto shape = nets::plain_shape(network);  // refuses before the work
  if (lessons.empty()) {
    if (should_stop()) fail("imitation: ended before a search found anything; nothing is written");
    fail("imitation: the searches found nothing to learn from; give them a larger --imitate.budget");
  }
  Imitator imitator(lessons, spec, network);
  std::vector<size_t> learned, held_out;
  for (size_t k = 0; k < lessons.size(); ++k) {
    Rng rng({options.seed, 0x1E55, static_cast<uint64_t>(lessons[k].sequence)});
    (rng.uniform() < options.held_out ? held_out : learned).push_back(k);
  }
  if (learned.empty()) std::swap(learned, held_out);
  const auto batch = static_cast<size_t>(options.batch);
  report = {.lessons = static_cast<int64_t>(learned.size()),
            .held_out = static_cast<int64_t>(held_out.size()),
            .loss_before = mean_loss(imitator, learned, batch, true),
            .held_out_loss_before = mean_loss(imitator, held_out, batch, true)};
  torch::optim::Adam adam(imitator.network()->parameters(), torch::optim::AdamOptions(options.rate));
  Rng rng({options.seed, 0xAD0});
  for (int epoch = 0; epoch < options.epochs && !should_stop(); ++epoch) {
    for (size_t k = learned.size(); k > 1; --k) std::swap(learned[k - 1], learned[rng.below(k)]);
    double sum = 0;
    for (size_t begin = 0; begin < learned.size() && !should_stop(); begin += batch) {
      const auto some = std::span(learned).subspan(begin, std::min(batch, learned.size() - begin));
      adam.zero_grad();
      const auto loss = imitator.loss(some, rng, false);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(imitator.network()->parameters(), kMostNorm);
      adam.step();
      sum += loss.item<double>() * static_cast<double>(some.size());
    }
    if (should_stop()) break;
    ++report.passes;
    if (told)
      told(fmt::format("pass {} of {}: loss {:.4f}", epoch + 1, options.epochs,
                       sum / static_cast<double>(learned.size())));
  }
  if (report.passes == 0) fail("imitation: ended within the first pass over the lessons; nothing is written");
  report.loss = mean_loss(imitator, learned, batch, false);
  report.held_out_loss = mean_loss(imitator, held_out, batch, false);
  return {spec, shape, nets::plain_tensors(*imitator.network()), {}};
}

agent::AgentFile imitate(std::span<const graph::Graph> graphs, std::span<const std::string> names,
                         const std::shared_ptr<const rules::RuleSet>& rules, const nets::AgentOptions& network,
                         const ImitationOptions& options, const std::function<void(const std::string&)>& told,
                         const std::function<bool()>& should_stop, ImitationReport& report) {
  std::vector<Lesson> lessons;
  std::string all_names;
  nets::plain_shape(network);  // what is refused is refused before the searches, and so are unknown profiles
  std::vector<std::shared_ptr<cost::CostModel>> costs;
  for (const auto& profile : options.profiles)
    costs.push_back(std::make_shared<cost::CachedCost>(cost::analytic_cost(profile)));
  for (size_t g = 0; g < graphs.size(); ++g) {
    all_names += (g > 0 ? "," : "") + names[g];
    for (size_t p = 0; p < costs.size(); ++p) {
      for (int k = 0; k < options.searches && !should_stop(); ++k) {
        const size_t before = lessons.size();
        const double share = add_lessons(graphs[g], rules, costs[p], options, options.seed + static_cast<uint64_t>(k),
                                         static_cast<int64_t>(before), lessons, should_stop);
        told(fmt::format("{}, {}, search {}: {:+.2f} %, {} lessons", names[g], options.profiles[p], k,
                         100 * (share - 1), lessons.size() - before));
      }
    }
  }
  auto agent = imitate(lessons, env::observation_spec(*rules, options.max_locations), network, options, told,
                       should_stop, report);
  agent.about = {{"graphs", all_names},
                 {"profiles", join(options.profiles, ",")},
                 {"rules", hex(rules->hash())},
                 {"lessons", std::to_string(report.lessons)}};
  return agent;
}

std::string to_text(const ImitationReport& r) {
  const auto learned =
      fmt::format("{} lessons, {} passes, loss {:.3f} -> {:.3f}", r.lessons, r.passes, r.loss_before, r.loss);
  if (r.held_out == 0) return learned + "; none held out\n";
  return fmt::format("{}; {} held out, loss {:.3f} -> {:.3f}\n", learned, r.held_out, r.held_out_loss_before,
                     r.held_out_loss);
}

report::Json to_json(const ImitationReport& r) {
  return {{"lessons", r.lessons},
          {"held_out", r.held_out},
          {"passes", r.passes},
          {"loss_before", r.loss_before},
          {"loss", r.loss},
          {"held_out_loss_before", r.held_out_loss_before},
          {"held_out_loss", r.held_out_loss}};
}

}  // namespace rlgo::learner
