#include "launch/train/learner_session.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/env/playground.h"
#include "core/exec/device_tools.h"
#include "core/exec/freed_memory.h"
#include "core/rules/rule_choice.h"
#include "core/rules/trace.h"
#include "launch/commands/command.h"
#include "launch/revision.h"
#include "launch/signals.h"
#include "launch/train/roles.h"
#include "launch/train/run_report.h"
#include "learner/session/agent_check.h"
#include "learner/session/explore.h"
#include "learner/session/latency_agent.h"
#include "learner/session/metric_row.h"
#include "learner/session/outcome.h"
#include "learner/session/resume.h"

namespace rlgo::launch {
namespace {

std::vector<int> actor_ranks(const comm::Mailbox& mailbox, int64_t learners) {
  std::vector<int> ranks(static_cast<size_t>(mailbox.size() - learners));
  std::iota(ranks.begin(), ranks.end(), static_cast<int>(learners));
  return ranks;
}

// What resolves the device again, prices and other learners, comes to the same one.
exec::Device take_device(RunConfig& config, DeviceLock::Hold& hold, std::string& remark) {
  const auto device = exec::take_device(config.device, hold, remark);
  if (!remark.empty()) config.device = exec::to_string(device);
  return device;
}

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::map<std::string, std::string> option_values(const std::string& config_text, const std::string& place) {
  RunConfig config;
  Options options;
  declare(options, config);
  options.parse_config(config_text, place, Source::resumed);
  return options.values();
}

}  // namespace

LearnerSession::LearnerSession(RunConfig& config, const std::string& config_text, comm::Mailbox& mailbox)
    : config_(config),
      mailbox_(mailbox),
      device_(take_device(config, claim_, device_remark_)),
      graphs_(learner::load_graphs(config.model, true)),
      rules_(rules::choose_rules(config.rules)),
      prices_(make_prices(config)),
      output_(config.output),
      line_(output_.status_line()),
      progress_(line_, config.loop.epochs, config.loop.seconds) {
  open_folder(config_text);
  for (const auto& graph : graphs_) log_.info("{}", graph.model.about);
  if (!rules_->remark().empty()) log_.warn("{}", rules_->remark());
  if (!device_remark_.empty()) log_.warn("{}", device_remark_);
  const auto actors = actor_ranks(mailbox_, config.loop.learners);
  log_.info("{} rules, costs {}, networks on {}, {}", rules_->size(), prices_.model->name(), exec::to_string(device_),
            actors.size() == 1 ? "one actor" : fmt::format("{} actors", actors.size()));
  if (config.inference.place == actors::Inference::node)
    log_.info("{}", actors::describe_inference(config.loop.inference, config.loop.learners));
  cost_server_ = std::make_unique<learner::CostServer>(prices_.table, mailbox_, actors, prices_.groups, timed_under());
}

// The script that started this job (launch/scripts/job.sh) continues with exactly this run after a crash.
static void report_job(const learner::RunFolder& folder) {
  const char* job = std::getenv("RLGO_JOB_FOLDER");
  if (job == nullptr || !std::filesystem::is_directory(job)) return;
  atomic_write(std::filesystem::path(job) / "run", std::filesystem::absolute(folder.path).string() + "\n");
}

void LearnerSession::open_folder(const std::string& config_text) {
  auto open = learner::open_run_folder(
      {config_.runs, config_.name, learner::default_run_name(graphs_, name_of(config_.agent, kAgents), config_.seed),
       config_.resume});
  folder_ = open.folder;
  lock_ = std::move(open.lock);
  LogOptions log = output_.log();
  log.file = folder_.log();
  log_ = Log(log);
  if (!lock_.holds())
    log_.warn("{}: this file system has no locks: nothing keeps a second run from writing here", folder_.path.string());
  log_.info("run folder {}", folder_.path.string());
  config_text_ = fmt::format("# Options of this run, complete. rlgo {} ({}).\n\n", kVersion, kRevision) + config_text;
  if (config_.resume.empty()) atomic_write(folder_.config(), config_text_);
  learner::make_folders(graphs_, folder_);
  report_job(folder_);
  if (prices_.table && !config_.resume.empty() && std::filesystem::exists(folder_.costs()))
    prices_.table->load(folder_.costs());
}

// To the ranks that wait for the start.
void LearnerSession::give_sign() {
  if (since_sign_.seconds() < config_.loop.heartbeat_s) return;
  since_sign_.restart();
  const std::string beat = comm::encode(comm::Heartbeat());
  for (int rank = 1; rank < mailbox_.size(); ++rank) mailbox_.send(rank, comm::Tag::heartbeat, beat);
}

void LearnerSession::time_operators() {
  progress_.phase("timing operators");
  const bool known = !config_.resume.empty() || !config_.cost.table.empty();
  size_t timed = 0;
  for (const auto& graph : graphs_) {
    if (known) break;
    timed += learner::explore_costs({config_.env, config_.cost.explore, config_.seed}, graph.model.graph, rules_,
                                    prices_, signalled, [&](size_t) {
                                      progress_.show();
                                      give_sign();
                                    });
  }
  line_.clear();
  if (prices_.groups) {
    log_.info("{} groups of operators timed; {}", timed, prices_.groups->summary());
  } else {
    log_.info("{} operators timed, {} in the table", timed, prices_.table->size());
  }
}

// What the unmodified graphs cost, and where episodes on them begin. Returns what an agent sees first on the first one.
mdp::Observation LearnerSession::price_graphs() {
  mdp::Observation initial;
  const auto timer = timer_of(config_, timed_under(), log_);
  for (auto& graph : graphs_) {
    env::RewriteEnv probe(graph.model.graph, rules_, prices_.model, config_.env, timer(graph.model));
    spec_ = probe.spec();
    graph.starts = env::make_starts(config_.env, graph.model.graph, rules_, *prices_.model);
    if (graph.starts && prices_.table) graph.starts->archive_ways();  // actors make no searches with measured costs
    learner::begin(graph, rules_, *prices_.model, config_.env, probe.initial_cost_us());
    give_sign();
    log_.info("cost of the unmodified graph {}: {:.3f} ms ({} matches of {} rules)", graph.name,
              probe.initial_cost_us() / 1000.0, probe.matches().total(), rules_->size());
    if (initial.node_op.empty()) initial = probe.reset(0);
  }
  return initial;
}

void LearnerSession::prepare() {
  give_sign();
  if (prices_.table) time_operators();
  const auto initial = price_graphs();
  learner::LearnerDevices devices{.devices = {device_}, .own = {true}, .nccl = false, .why_not = {}, .remark = {}};
  if (config_.loop.learners > 1) devices = learner::meet_learners(learners_options(config_), mailbox_);
  learner_device_ = devices.devices[0];
  if (learner_device_ != device_) claim_ = exec::claim(learner_device_);
  if (!devices.remark.empty()) log_.warn("{}", devices.remark);
  tune_learner(config_, learner_device_);
  algorithm_ = make_algorithm({config_, spec_, learner_device_, initial, folder_.rollouts()});
  if (!config_.resume.empty()) resume();
  if (config_.loop.learners > 1) {
    leader_ = learner::lead_learners(learners_options(config_), mailbox_, devices, spec_, initial, algorithm_);
    log_.info("{}", learner::describe(leader_->group(), devices));
  }
  store_costs();
  cost_server_->publish();
}

void LearnerSession::resume() {
  const auto found = learner::latest(folder_.checkpoints());
  for (const auto& refused : found.refused)
    log_.warn("checkpoint {} is refused: {}", refused.path.string(), refused.reason);
  if (!found.checkpoint) fail("{}: no usable checkpoint to resume from", folder_.checkpoints().string());
  const auto& c = *found.checkpoint;
  const auto expect = [&](const char* what, const std::string& now, const char* other) {
    const auto at = c.texts.find(what);
    if (at == c.texts.end() || at->second != now)
      fail("{}: made with {}; a run continues only with what it began with", found.path.string(), other);
  };
  expect("graph_hash", hex(learner::graphs_hash(graphs_)), "another graph (--graph, --dim, --zoo.*)");
  expect("rules_hash", hex(rules_->hash()), "other rules (--rules)");
  expect("spec_hash", hex(spec_.hash()), "another environment (--env.*, --policy.prices, --policy.candidates)");
  learner::expect_timed_under(c, timed_under(), found.path);
  const std::string place = found.path.string();
  const auto changed = learner::changed_options(c, config_text_, place, option_values);
  state_ = learner::restored_state(c, place);
  checkpoints_ =
      std::make_unique<learner::BackgroundCheckpoints>(folder_.checkpoints(), config_.checkpoint.keep, c.texts);
  try {
    algorithm_->restore(c);
  } catch (const Error& e) {
    throw e.in(
        fmt::format("{}: made with another agent or network (--agent, --gnn.*, --policy.*)", found.path.string()));
  }
  for (const auto& line : learner::adopt_best(graphs_, rules_, *prices_.model, config_.env.max_locations, c, place))
    log_.warn("{}", line);
  atomic_write(folder_.config(), config_text_);
  if (!changed.empty()) log_.info("options that changed since the checkpoint: {}", join(changed, ", "));
  log_.info("resumed from {}: {} epochs, {} steps done", found.path.string(), state_.epoch, state_.steps);
}

void LearnerSession::checkpoint(const learner::LoopState& state) {
  learner::Checkpoint c;
  c.texts["graph_hash"] = hex(learner::graphs_hash(graphs_));
  c.texts["rules_hash"] = hex(rules_->hash());
  c.texts["spec_hash"] = hex(spec_.hash());
  c.texts["config"] = read_file(folder_.config());
  c.texts["timed_under"] = timed_under();
  learner::store_best(graphs_, *rules_, c);
  learner::store_state(state, c);
  algorithm_->store(c);
  if (!checkpoints_)
    checkpoints_ = std::make_unique<learner::BackgroundCheckpoints>(folder_.checkpoints(), config_.checkpoint.keep);
  checkpoints_->save(std::move(c), state.epoch, learner::overall_cost(graphs_).best_us);
  store_costs();
}

void LearnerSession::store_costs() const {
  if (prices_.table) prices_.table->save(folder_.costs());
}

void LearnerSession::open_metrics() {
  metrics_ = std::make_unique<learner::MetricsFile>(folder_.metrics());
  metrics_->drop_after("epoch", static_cast<double>(state_.epoch));
  try {
    tensorboard_ = std::make_unique<learner::TensorBoardFile>(folder_.tensorboard(), now_s(), state_.steps,
                                                              learner::hyper_parameters(options_json(config_)));
  } catch (const Error& e) {
    log_.warn("no event files for TensorBoard: {}", e.what());
  }
}

void LearnerSession::on_epoch(const learner::EpochReport& report, const learner::LoopState& state) {
  auto row = learner::metric_row(report, state, learner::overall_cost(graphs_).best_us,
                                 learner::memory_peak(learner_device_, leader_.get()));
  learner::add_best_costs(graphs_, row);
  learner::add_timings(timings_, graphs_, row, log_);
  metrics_->write(row);
  if (tensorboard_) tensorboard_->write(row, state.steps, now_s());
  progress_.epoch_done(report.epoch);
  progress_.show(true);
  if (report.epoch % config_.checkpoint.every == 0) checkpoint(state);
}

learner::LoopHooks LearnerSession::hooks() {
  learner::LoopHooks hooks;
  hooks.on_trajectory = [this](const learner::Episode& episode, bool passed_on) {
    const mdp::Trajectory& t = episode->facts;
    timings_.add(t);
    if (const auto* graph = learner::offer(graphs_, t, spec_.rules)) {
      const auto cost = learner::overall_cost(graphs_);
      progress_.costs(cost.initial_us, cost.best_us);
      atomic_write(graph->folder.best_trace(), to_text(graph->best->trace(), *rules_));
    }
    if (store_ && !passed_on) store_->append(episode);
    if (learner_device_.kind != exec::Device::Kind::cpu) algorithm_->prepare(episode);  // a thread decodes it
    progress_.steps(static_cast<int64_t>(t.steps.size()));
  };
  hooks.starts = [this] { return learner::encode_archives(graphs_); };
  hooks.on_lost = [this](const comm::ErrorReport& lost) {
    log_.warn("episode {} of rank {} is lost: {}", lost.episode, lost.rank, lost.what);
  };
  hooks.on_epoch = std::bind_front(&LearnerSession::on_epoch, this);
  hooks.service = [this] {
    if (store_) store_->tick(watch_.seconds());
    cost_server_->publish();
    if (leader_) leader_->tend();
    progress_.show();
  };
  hooks.log_line = [this](const std::string& text) {
    line_.clear();
    log_.info("{}", text);
  };
  return hooks;
}

int LearnerSession::run(std::function<bool()> turn) {
  exec::keep_freed_memory();  // each minibatch frees hundreds of megabytes; measurements at the end give them back
  if (config_.store_rollouts)
    store_ = std::make_unique<replay::BackgroundWriter>(folder_.rollouts(), store_header(config_, spec_, *rules_),
                                                        config_.store);
  open_metrics();

  learner::LoopOptions options = config_.loop;
  options.spec_hash = spec_.hash();
  options.turn = std::move(turn);
  options.should_stop = signalled;
  if (config_.store_rollouts) options.rollouts = std::filesystem::absolute(folder_.rollouts()).string();
  comm::Handlers handlers = {
      {comm::Tag::cost_request, [this](const comm::Incoming& message) { cost_server_->answer(message); }},
      {comm::Tag::stats,
       [this](const comm::Incoming& message) { log_.warn("actor {}: {}", message.source, message.payload); }}};

  progress_.phase("training");
  progress_.start(state_.epoch);
  const auto cost = learner::overall_cost(graphs_);
  progress_.costs(cost.initial_us, cost.best_us);
  progress_.show(true);
  learner::Loop loop(mailbox_, leader_ ? *leader_ : *algorithm_, options, hooks(), handlers, state_);
  return finish(loop.run());
}

int LearnerSession::finish(const learner::LoopResult& result) {
  line_.clear();
  lost_actors_ = result.any_lost || !result.all_sent_goodbye;
  if (store_) store_->close();
  if (leader_) {
    leader_->stop(learner::name(result.reason));
    for (size_t place = 0; place < leader_->reports().size(); ++place)
      log_.info("learner {}: checksum of the weights {}", place, hex(leader_->reports()[place].digest));
  }
  checkpoint(result.state);
  checkpoints_->close();
  log_.info("training ended ({}): {} epochs, {} steps", learner::name(result.reason), result.state.epoch,
            result.state.steps);
  if (result.reason == learner::StopReason::too_few_actors ||
      (result.reason == learner::StopReason::interrupted && restart_wanted())) {
    log_.info("the state is stored; rlgo --resume {} continues", folder_.path.string());
    return kRestartStatus;  // the end may be seconds away: no measurements
  }
  return conclude(result.state, learner::name(result.reason));
}

int LearnerSession::run_latency(const std::vector<int>& nodes) {
  price_graphs();
  std::unique_ptr<learner::LatencyRanks> ranks;
  if (nodes.size() > 1)
    ranks = learner::lead_latency_ranks(mailbox_, learner::latency_roles(nodes, config_.timers),
                                        {config_.loop.actor_timeout_s, config_.loop.heartbeat_s, signalled},
                                        *cost_server_, log_);
  const auto timer = ranks ? cost::WholeTimer() : timer_of(config_, timed_under(), log_)(graphs_[0].model);
  const auto found = learner::learn_latency({graphs_[0], folder_, rules_, prices_, timer, config_.learned, config_.seed,
                                             config_.env.max_locations, config_.loop.seconds, signalled, ranks.get()},
                                            log_);
  if (ranks) lost_actors_ = !ranks->stop();
  timings_ = found.timings;
  form_ = found.form;
  return conclude({.steps = timings_.all(), .seconds = found.seconds, .next_episode = {}}, found.ended_by);
}

int LearnerSession::conclude(const learner::LoopState& state, const std::string& reason) {
  std::string summary;
  Json all;
  for (const auto& graph : graphs_) {
    auto outcome = conclude(graph, state, reason);
    summary += summary.empty() ? outcome.summary : '\n' + outcome.summary;
    all.push_back(std::move(outcome.json));
  }
  // The document of the run: of the first graph, and where there are several of each.
  if (graphs_.size() > 1) {
    Json members = all[0];
    members["graphs"] = std::move(all);
    atomic_write(folder_.summary(), summary);
    atomic_write(folder_.result(), report::to_text(make_document("train", 0, options_json(config_), members)));
  }
  store_costs();
  output_.print(summary);
  output_.pass_on(folder_.result());
  return 0;
}

// Checks, measures and writes the best of a graph.
learner::Outcome LearnerSession::conclude(const learner::RunGraph& graph, const learner::LoopState& state,
                                          const std::string& reason) {
  learner::OutcomeInput in{graph.folder, graph.model, rules_, *prices_.model, *prices_.runtime, {}, graph.name};
  in.interactions = {
      state.steps, state.episodes, state.lost, state.epoch, state.seconds, name_of(config_.agent, kAgents), reason, {}};
  in.interactions.form =
      learner::agent_form(dream_agent_options(config_), config_.network, config_.env, config_.has_world_model()) +
      form_;
  if (graph.starts) {  // what the agent was given is not its own doing
    in.interactions.agent +=
        fmt::format(", {:.0f} % of the episodes from graphs of searches", 100 * config_.env.frontier);
    in.start = graph.starts->best().rewrites;
  }
  in.by_latency = config_.env.reward == env::Reward::latency;
  in.interactions.timings = timings_;
  in.seed = config_.seed;
  in.max_locations = config_.env.max_locations;
  in.polish = config_.polish;
  in.polish_s = config_.polish_s;
  in.check = config_.check;
  in.check.seed = config_.seed;
  in.should_stop = signalled;
  auto outcome = learner::conclude(in, *graph.best, log_);
  atomic_write(graph.folder.result(), report::to_text(make_document("train", 0, options_json(config_), outcome.json)));
  try {
    atomic_write(graph.folder.report(),
                 learner::run_html(run_report(folder_, config_, graph, rules_, prices_.model.get())));
  } catch (const Error& e) {
    log_.warn("no report.html: {}", e.what());
  }
  return outcome;
}

}  // namespace rlgo::launch
