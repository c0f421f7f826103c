#include "launch/train/roles.h"

#include <cstdio>

#include "actors/actor_loop.h"
#include "actors/inference_options.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
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

std::optional<comm::Incoming> wait_for_start(comm::Mailbox& mailbox, comm::Tag tag, double silence_s,
                                             const std::function<bool()>& should_stop) {
  Stopwatch since_heard;
  while (!should_stop()) {
    if (auto message = mailbox.take(tag, 0)) return message;
    if (mailbox.take(comm::Tag::stop, 0)) return {};
    while (mailbox.take(comm::Tag::heartbeat, 0)) since_heard.restart();
    if (since_heard.seconds() > silence_s)
      throw comm::NoAnswer(
          fmt::format("nothing was heard from rank 0 for {:.3g} s, and the run has not begun", silence_s));
    mailbox.wait(100);
  }
  return {};
}

bool stopped_too(comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  if (comm.rank() == 0) {
    stop_actors(mailbox);
    return false;
  }
  try {
    return !wait_for_start(mailbox, comm::Tag::costs, kStartSilence_s, signalled);
  } catch (const comm::NoAnswer&) {
    return false;
  }
}

int run_learner(RunConfig& config, const std::string& config_text, comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  try {
    LearnerSession session(config, config_text, mailbox);
    session.prepare();
    const int status = session.run();
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

int run_actor(const RunConfig& config, comm::Comm& comm) {
  comm::Mailbox mailbox(comm);
  const auto first_costs = wait_for_start(mailbox, comm::Tag::costs, kStartSilence_s, signalled);
  if (!first_costs) return 0;
  RunConfig here = config;
  // Whole graphs are timed where the actor is; --target cuda has GPUs only.
  if (config.cost.target.runtime != "cuda") here.device = "cpu";
  auto graphs = learner::load_graphs(config.model, env::times_whole(config.env.reward));
  const auto rules = rules::choose_rules(config.rules);
  Prices prices;
  if (config.cost.kind == CostKind::measured) {
    learner::AskOptions ask;
    ask.timeout_s = config.loop.actor_timeout_s;
    ask.should_stop = signalled;
    const auto client = std::make_shared<learner::CostClient>(mailbox, ask);
    prices.table = learner::remote_table(cost::TableOrigin{"measured by rank 0", host_name(), 1}, client);
    learner::receive_costs(*first_costs, *prices.table);
    if (config.is_external()) prices.groups = learner::remote_groups(prices.table, client);
    prices.model = prices.groups ? std::static_pointer_cast<cost::CostModel>(prices.groups) : prices.table;
  } else {
    prices.model = cost::analytic_cost(config.cost.profile);
  }
  const auto starts = prices.table ? env::told_starts : env::make_starts;
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
