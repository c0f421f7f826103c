// Rank 0 of a large run without the large run: the real loop, mailbox and rollout store, against actors that are
// played. Each of these sends recorded episodes at a given rate, with its own rank and numbers, within the quota that
// rank 0 grants; it sends hello, gives heartbeats, takes weights. Messages go through memory, so what MPI itself takes
// is not in the numbers; nor is learning: the algorithm decodes what it is given, and no more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/codec/coded.h"
#include "learner/metrics.h"
#include "replay/schema.h"

namespace rlgo::learner {

struct SimulationOptions {
  int actors = 32;                    // >= 1
  double steps_per_s = 975;           // that an actor plays, > 0
  double seconds = 10;                // watched, after as long as an epoch
  double epoch_s = 1;                 // an epoch's steps are what all actors play in this time
  int64_t weights_bytes = 1'200'000;  // of a version
  std::filesystem::path store = {};   // folder of the parts; "": no store
  bool decode = true;                 // else rank 0 learns nothing, as where other learners decode all
  int aggregators = 0;                // that the actors' messages go through (distributed/aggregator.h), < actors
};

// Options scale.rate, scale.weights-bytes, scale.decode, scale.aggregators.
void declare(OptionSink& sink, SimulationOptions& options);

// Of rank 0, over the time that was watched.
struct SimulationReport {
  int actors = 0;
  double offered_steps_per_s = 0, steps_per_s = 0;  // that the actors wanted to send; that were received
  double message_cores = 0;                         // of the thread that reads messages, but for the next
  double decode_cores = 0;                          // what it decodes to learn from
  double store_cores = 0;                           // of the store's thread; aggregators have theirs elsewhere
  double step_us = 0;                               // CPU of all three for a step
  double bytes_in_per_s = 0, bytes_out_per_s = 0;
  double lag_mean = 0, lag_max = 0;  // versions
  double parts_per_s = 0;            // of the store
};

// `recorded`: at least one episode with steps, all of one spec, which `header` holds. Throws Error as Loop does.
SimulationReport simulate(std::span<const mdp::CodedTrajectory> recorded, const replay::StoreHeader& header,
                          const SimulationOptions& options);

// `count` episodes of random actions, at least one step each.
std::vector<mdp::CodedTrajectory> record_episodes(mdp::BatchEnv& envs, uint64_t seed, size_t count);

// One after the other for these numbers of actors, with or without a store (in a temporary folder). Reports a table,
// line by line, and returns its numbers by name.
std::vector<MetricRow> simulate_counts(mdp::BatchEnv& envs, const replay::StoreHeader& header,
                                       const std::vector<int>& actors, SimulationOptions options, bool store,
                                       const std::function<void(const std::string&)>& print);

// A table of reports: its heading, and a line.
extern const char* const kSimulationHeading;
std::string to_text(const SimulationReport& report);

}  // namespace rlgo::learner
