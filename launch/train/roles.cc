#include "launch/train/roles.h"

#include <cstdio>

#include "actors/actor_loop.h"
#include "actors/inference_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/comm/device_group.h"
#include "core/comm/protocol.h"
#include "core/cost/profile.h"
#include "core/env/playground.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/command.h"
#include "launch/signals.h"
#include "launch/target.h"
#include "launch/train/learner_session.h"
#include "learner/session/actor_rank.h"
#include "learner/session/latency_ranks.h"

namespace rlgo::launch {
namespace {

actors::ActorOptions actor_options(const RunConfig& config, const Player& player, uint64_t rules_hash) {
  actors::ActorOptions options;
  options.dream = player.dreams;
  options.step_together = player.dreams;
  options.ready = player.ready;
  if (!player.dreams) options.episode_steps = config.env.max_steps;
  options.seed = config.seed;
  options.rules_hash = rules_hash;
  options.host = host_name();
  options.inference = config.inference;
  return options;
}

void stop_actors(comm::Mailbox& mailbox) {
  for (int rank = 1; rank < mailbox.size(); ++rank)
    mailbox.send(rank, comm::Tag::stop, std::string(comm::kRankZeroFailed));
  mailbox.flush(2.0);
}

}  // namespace

bool stopped_too(comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  if (comm.rank() == 0) {
    stop_actors(mailbox);
    return false;
  }
  try {
    return !learner::wait_for_start(mailbox, comm::Tag::costs, learner::kStartSilence_s, signalled);
  } catch (const comm::NoAnswer&) {
    return false;
  }
}

int run_learner(RunConfig& config, const std::string& config_text, comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  try {
    LearnerSession session(config, config_text, mailbox);
    if (!config.learns_latency()) session.prepare();
    const int status = config.learns_latency() ? session.run_latency(comm.nodes()) : session.run();
    if (session.lost_actors()) comm.close(2, status);  // some will not come
    return status;
  } catch (
      const comm::NoAnswer& e) {  // the last checkpoint is sound; the networks here may be in the middle of an update
    stop_actors(mailbox);
    std::fprintf(stderr, "rlgo: error: %s; the run can continue from its last checkpoint with --resume\n", e.what());
    return kRestartStatus;
  } catch (...) {
    stop_actors(mailbox);
    throw;
  }
}

// What rank 0 has, and what it answers.
static Prices remote_prices(const RunConfig& config, comm::Mailbox& mailbox, const comm::Incoming& costs) {
  if (config.cost.kind != CostKind::measured) return {cost::analytic_cost(config.cost.profile), {}, {}, {}};
  learner::AskOptions ask{.timeout_s = config.loop.actor_timeout_s, .should_stop = signalled};
  return learner::remote_prices(mailbox, std::move(ask), host_name(), costs, config.is_external());
}

int run_latency_rank(const RunConfig& config, comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  const auto first_costs = learner::wait_for_start(mailbox, comm::Tag::costs, learner::kStartSilence_s, signalled);
  if (!first_costs) return 0;
  const auto graphs = learner::load_graphs(config.model, true);
  const auto rules = rules::choose_rules(config.rules);
  const LoadedModel& model = graphs[0].model;
  learner::LatencyLine line(mailbox, {config.loop.actor_timeout_s, config.loop.heartbeat_s, signalled});
  if (learner::latency_roles(comm.nodes(), config.timers).times(comm.rank())) {
    const auto timer = timer_of(config, learner::timed_under(*first_costs), {}, [&line] { return line.ended(); });
    learner::time_for_rank_0(line, model.graph, rules, timer(model));
  } else {
    const Prices prices = remote_prices(config, mailbox, *first_costs);
    learner::search_for_rank_0(line, model.graph, rules, *prices.model,
                               hash_combine(config.seed, static_cast<uint64_t>(comm.rank())), config.env.max_locations);
  }
  return 0;
}

int run_actor(const RunConfig& config, comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  const auto first_costs = learner::wait_for_start(mailbox, comm::Tag::costs, learner::kStartSilence_s, signalled);
  if (!first_costs) return 0;
  RunConfig here = config;
  // Whole graphs are timed where the actor is; --target cuda has GPUs only.
  if (config.cost.target.runtime != "cuda") here.device = "cpu";
  auto graphs = learner::load_graphs(config.model, env::times_whole(config.env.reward));
  const auto rules = rules::choose_rules(config.rules);
  const Prices prices = remote_prices(config, mailbox, *first_costs);
  const auto starts = prices.table ? env::received_starts : env::make_starts;
  for (auto& graph : graphs) graph.starts = starts(config.env, graph.model.graph, rules, *prices.model);
  const bool infers = actors::infers(config.loop.inference, comm.rank());
  const int envs = infers ? 1 : config.envs_per_actor;  // one shows what observations look like
  const auto player = make_player(config,
                                  learner::make_envs(graphs, rules, prices.model, config.env,
                                                     timer_of(here, learner::timed_under(*first_costs)), envs),
                                  dreams_on(config, comm.rank(), comm.size()),
                                  infers ? exec::resolve_device(config.device) : exec::Device());
  comm::Handlers handlers;
  handlers[comm::Tag::costs] = [&](const comm::Incoming& message) {
    if (prices.table) learner::receive_costs(message, *prices.table);
  };
  auto options = actor_options(config, player, rules->hash());
  options.take_starts = [&](std::string_view archives) { learner::decode_archives(graphs, archives); };
  return learner::run({mailbox, *player.envs, *player.policy, std::move(options), std::move(handlers), config.loop,
                       store_header(config, player.envs->spec(), *rules), config.store, signalled});
}

int run_alone(RunConfig& config, const std::string& config_text) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox learner_box(*comms[0]);
  comm::Mailbox actor_box(*comms[1]);
  LearnerSession session(config, config_text, learner_box);
  if (config.learns_latency()) return session.run_latency();
  session.prepare();
  const auto player =
      make_player(config,
                  learner::make_envs(session.graphs(), session.rules(), session.prices().model, config.env,
                                     timer_of(config, session.timed_under(), session.log()), config.envs_per_actor),
                  false);
  // The learner's table is used as it is: which rows are new matters to actors with a copy.
  comm::Handlers handlers = {{comm::Tag::costs, [](const comm::Incoming&) {}}};
  actors::ActorLoop actor(actor_box, *player.envs, *player.policy,
                          actor_options(config, player, session.rules()->hash()), std::move(handlers));
  return session.run([&] { return actor.turn(); });
}

}  // namespace rlgo::launch
