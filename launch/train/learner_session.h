// Rank 0's side of a training run: everything around the learner's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/device_lock.h"
#include "core/base/log.h"
#include "core/comm/mailbox.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/train/algorithm_factory.h"
#include "launch/train/config.h"
#include "launch/train/followers.h"
#include "launch/train/run_parts.h"
#include "learner/background_checkpoints.h"
#include "learner/loop.h"
#include "learner/metrics.h"
#include "learner/session/cost_server.h"
#include "learner/session/memory.h"
#include "learner/session/outcome.h"
#include "learner/session/progress.h"
#include "learner/session/run_folder.h"
#include "learner/session/run_graph.h"
#include "learner/session/whole_timings.h"
#include "learner/tensorboard.h"
#include "replay/background_writer.h"

namespace rlgo::launch {

class LearnerSession {
 public:
  // Reads model, rules and costs, opens (or reopens) the run folder. Throws Error on bad input; then no folder is made.
  LearnerSession(RunConfig& config, const std::string& config_text, comm::Mailbox& mailbox);

  // Times operators while the machine is quiet, then lets the actors begin.
  void prepare();
  // Trains, then concludes; returns the exit status. `turn`: see learner::LoopOptions, for one process.
  int run(std::function<bool()> turn = {});
  // In place of prepare() and run(): the agent of --wm.kind latency, which trains nothing. `nodes`: Comm::nodes(),
  // where other ranks work for it.
  int run_latency(const std::vector<int>& nodes = {});

  // After run(): whether actors died or hang. They will not take part in the end of the job.
  bool lost_actors() const { return lost_actors_; }

  const std::vector<learner::RunGraph>& graphs() const { return graphs_; }
  const std::shared_ptr<const rules::RuleSet>& rules() const { return rules_; }
  const Prices& prices() const { return prices_; }
  const exec::Device& device() const { return device_; }
  const Log& log() const { return log_; }
  std::string timed_under() const { return learner::timed_under(config_.env.reward, *prices_.runtime); }
  const mdp::ObservationSpec& spec() const { return spec_; }

 private:
  void open_folder(const std::string& config_text);
  void give_sign();
  void time_operators();
  mdp::Observation price_graphs();
  void resume();
  learner::LoopHooks hooks();
  void on_epoch(const learner::EpochReport& report, const learner::LoopState& state);
  void checkpoint(const learner::LoopState& state);
  void open_metrics();
  void store_costs() const;
  int finish(const learner::LoopResult& result);
  // Of all graphs, into the run folder.
  int conclude(const learner::LoopState& state, const std::string& reason);
  learner::Outcome conclude(const learner::RunGraph& graph, const learner::LoopState& state, const std::string& reason);

  RunConfig& config_;
  comm::Mailbox& mailbox_;
  std::string device_remark_;  // why `auto` is the CPU
  DeviceLock::Hold claim_;
  exec::Device device_;
  std::vector<learner::RunGraph> graphs_;
  std::shared_ptr<const rules::RuleSet> rules_;
  Prices prices_;
  learner::RunFolder folder_;
  Stopwatch since_sign_;
  std::unique_ptr<learner::BackgroundCheckpoints> checkpoints_;
  FileLock lock_;            // on it
  std::string config_text_;  // for config.cfg; a resumed run's is replaced once its checkpoint is accepted
  Log log_;
  Output output_;
  StatusLine line_;
  learner::Progress progress_;
  mdp::ObservationSpec spec_;
  std::unique_ptr<learner::CostServer> cost_server_;
  std::shared_ptr<learner::Algorithm> algorithm_;
  exec::Device learner_device_;
  std::shared_ptr<learner::LeaderAlgorithm> leader_;  // where several learn
  learner::LoopState state_;
  std::unique_ptr<replay::BackgroundWriter> store_;
  std::unique_ptr<learner::MetricsFile> metrics_;
  std::unique_ptr<learner::TensorBoardFile> tensorboard_;  // null where it cannot be written
  learner::WholeTimings timings_;                          // since this start
  std::string form_;                                       // of an agent that learned latencies: what it did
  bool lost_actors_ = false;
  Stopwatch watch_;
};

}  // namespace rlgo::launch
