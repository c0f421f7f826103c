// Everything that a run of `rlgo` (train and its relatives) can be given: the modules' options, and those of the
// wiring.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/dream_options.h"
#include "actors/inference_options.h"
#include "core/base/options.h"
#include "core/env/rewrite_env.h"
#include "core/nets/options.h"
#include "core/optimise/learned_search.h"
#include "core/options/options.h"
#include "launch/output.h"
#include "launch/problem.h"
#include "learner/checkpoint.h"
#include "learner/dream/options.h"
#include "learner/loop_options.h"
#include "learner/ppo/options.h"
#include "replay/writer.h"

namespace rlgo::launch {

// Who chooses the rewrites.
enum class Agent : uint8_t { model_free, model_based, hybrid, random };
inline constexpr Named<Agent> kAgents[] = {{"model-free", Agent::model_free},
                                           {"model-based", Agent::model_based},
                                           {"hybrid", Agent::hybrid},
                                           {"random", Agent::random}};

struct RunConfig : Problem {
  Agent agent = Agent::model_free;
  learner::LoopOptions loop;
  actors::InferenceOptions inference;
  int envs_per_actor = 4;
  env::EnvOptions env;
  nets::AgentOptions network;
  learner::PpoOptions ppo;
  learner::DreamAgentOptions dream;  // agents with a world model
  optimise::LearnedOptions learned;  // --wm.kind latency

  std::string name;           // run folder runs/NAME; "": made from graph, agent and seed
  std::string runs = "runs";  // folder of run folders
  std::string resume;         // run folder to continue
  std::string config;         // file of options
  bool store_rollouts = true;
  replay::WriterOptions store;
  learner::CheckpointOptions checkpoint;
  OutputOptions output;  // of rlgo train; declared there
  bool polish = true;    // searches continue from the best graph and from the unmodified one; the cheapest is taken
  double polish_s = 10;  // s
  int timers = 0;        // --wm.kind latency: ranks that time graphs; 0: see learner::latency_roles

  // Its world model predicts latencies, not dreams.
  bool learns_latency() const { return dream.kind == learner::WorldKind::latency; }
  bool has_world_model() const { return agent == Agent::model_based || agent == Agent::hybrid; }
};

// Every option of a run, bound to `config`.
void declare(Options& options, RunConfig& config);
// Every option of a run with its value, for documents.
Json options_json(RunConfig config);
// What single options cannot show: a graph is named, learners fit, ... Throws Error.
void check(RunConfig& config);
// What depends on the number of ranks. Throws Error.
void check_ranks(const RunConfig& config, int ranks);

// config.dream with what follows from options of other parts: the encoder's size, the length of a dream, ...
learner::DreamAgentOptions dream_agent_options(const RunConfig& config);

// Everything but declare_problem()'s: of it agent, epochs, ... are listed by --help.
void declare_run(Options& options, RunConfig& config);
// What learns, and in what: env.*, gnn.*, policy.*, ppo.*, wm.*, dream.*, hybrid.*, train.*.
void declare_agent(OptionSink& sink, RunConfig& config);

}  // namespace rlgo::launch
