#include "learner/session/simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "actors/collector.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/temporary_folder.h"
#include "core/comm/mailbox.h"
#include "core/comm/protocol.h"
#include "learner/decoder.h"
#include "learner/distributed/aggregator.h"
#include "learner/loop.h"
#include "replay/background_writer.h"

namespace rlgo::learner {
namespace {

using comm::Tag;

constexpr double kPatience_s = 120;  // with an epoch that does not end

// An actor's end of the communication: it talks to rank 0 and an aggregator, so its mailbox need not know of the
// others.
class LeafComm : public comm::Comm {
 public:
  LeafComm(comm::Comm& inner, int size) : inner_(inner), size_(size) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return size_; }
  void send(int to, comm::Bytes bytes, size_t offset, size_t size) override {
    inner_.send(to, std::move(bytes), offset, size);
  }
  std::optional<comm::Packet> try_receive() override { return inner_.try_receive(); }
  size_t pending_bytes(int) const override { return 0; }
  bool close(double, int) override { return true; }
  std::string name() const override { return inner_.name(); }

 private:
  comm::Comm& inner_;
  int size_;
};

class PlayedActor {
 public:
  // `via`: its aggregator's rank, perhaps its own; 0: none.
  PlayedActor(comm::Comm& comm, std::span<const mdp::CodedTrajectory> recorded, const SimulationOptions& options,
              double phase, int via, const replay::StoreHeader& header)
      : leaf_(comm, via == comm.rank() ? comm.size() : via + 1),
        mailbox_(leaf_),
        via_(via == comm.rank() ? 0 : via),
        recorded_(recorded),
        steps_per_s_(options.steps_per_s),
        next_(static_cast<size_t>(comm.rank()) % recorded.size()) {
    due_s_ = phase * steps() / steps_per_s_;
    comm::Hello hello;
    hello.spec_hash = recorded[0].facts.spec_hash;
    mailbox_.send(via_, Tag::hello, encode(hello));
    if (via != comm.rank()) return;
    if (!options.store.empty()) store_.emplace(options.store, header, replay::WriterOptions{.writer = comm.rank()});
    aggregator_.emplace(mailbox_, AggregatorOptions{}, [this](const Episode& episode) {
      if (store_) store_->append(episode);
    });
    others_ = aggregator_->handlers();
  }
  // False once rank 0 has sent stop.
  bool turn(double now_s) {
    while (const auto message = mailbox_.take()) read(*message);
    if (aggregator_) aggregator_->tick();
    if (store_) store_->tick(now_s);
    if (stopped_) return end();
    if (now_s >= next_beat_s_) {
      next_beat_s_ = now_s + 1;
      beat(Tag::heartbeat);
    }
    if (version_ < 0 || now_s < due_s_) return true;
    if (sent_ >= quota_) {
      if (!reported_) beat(Tag::heartbeat);
      reported_ = true;
      return true;
    }
    play();
    due_s_ = std::max(due_s_ + steps() / steps_per_s_, now_s - 1);
    return true;
  }

 private:
  double steps() const { return static_cast<double>(recorded_[next_].facts.steps.size()); }
  // Others that it passes on for may be played by its own thread: it must not wait for them here.
  bool end() {
    if (aggregator_ && !aggregator_->alone()) return true;
    if (aggregator_) aggregator_->drain(0);
    if (store_) store_->close();
    return false;
  }
  void read(const comm::Incoming& message) {
    if (const auto other = others_.find(message.tag); other != others_.end()) return other->second(message);
    if (message.tag == Tag::stop) {
      stopped_ = true;
      beat(Tag::goodbye);
    } else if (message.tag == Tag::weights) {
      const auto weights = comm::decode<comm::Weights>(message.payload);
      if (weights.version != version_) sent_ = 0;
      version_ = weights.version;
      quota_ = weights.quota_steps;
      reported_ = false;
    } else if (message.tag == Tag::quota) {
      const auto quota = comm::decode<comm::Quota>(message.payload);
      if (quota.version != version_) return;
      quota_ = quota.quota_steps;
      reported_ = false;
    }
  }
  void play() {
    mdp::CodedTrajectory episode = recorded_[next_];
    episode.facts.rank = mailbox_.rank();
    episode.facts.episode = episode_++;
    episode.facts.weights_version = version_;
    sent_ += static_cast<int64_t>(episode.facts.steps.size());
    mailbox_.send(via_, Tag::trajectory, mdp::encode(episode));
    next_ = (next_ + 1) % recorded_.size();
  }
  void beat(Tag tag) {
    comm::Heartbeat beat;
    beat.version = version_;
    beat.quota_steps = quota_;
    beat.quota_left = quota_ - sent_;
    mailbox_.send(via_, tag, encode(beat));
  }

  LeafComm leaf_;
  comm::Mailbox mailbox_;
  int via_;
  std::optional<replay::BackgroundWriter> store_;
  std::optional<Aggregator> aggregator_;  // where this actor is one
  comm::Handlers others_;                 // its, of the others' messages
  std::span<const mdp::CodedTrajectory> recorded_;
  double steps_per_s_;
  size_t next_;
  int64_t episode_ = 0, version_ = -1, quota_ = 0, sent_ = 0;
  double due_s_ = 0, next_beat_s_ = 0;
  bool reported_ = false, stopped_ = false;
};

// Some threads that play all actors.
class Players {
 public:
  Players(std::span<const std::unique_ptr<comm::Comm>> comms, std::span<const mdp::CodedTrajectory> recorded,
          const SimulationOptions& options, std::span<const int> via, const replay::StoreHeader& header) {
    const size_t actors = comms.size() - 1, threads = std::min<size_t>(actors, 3);
    for (size_t t = 0; t < threads; ++t) {
      threads_.emplace_back([=, &options, &header] {
        std::deque<PlayedActor> played;  // they stay where they are
        for (size_t i = t; i < actors; i += threads)
          played.emplace_back(*comms[i + 1], recorded, options, static_cast<double>(i) / static_cast<double>(actors),
                              via.empty() ? 0 : via[i + 1], header);
        play(played);
      });
    }
  }
  void join() {
    for (auto& thread : threads_) thread.join();
  }

 private:
  static void play(std::deque<PlayedActor>& played) {
    const Stopwatch watch;
    std::vector<bool> over(played.size());
    for (size_t left = played.size(); left > 0;) {
      for (size_t i = 0; i < played.size(); ++i) {
        if (over[i] || played[i].turn(watch.seconds())) continue;
        over[i] = true;
        --left;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  std::vector<std::thread> threads_;
};

// Decodes and forgets.
class DecodingOnly : public Algorithm {
 public:
  DecodingOnly(size_t weights_bytes, bool decode) : weights_(weights_bytes, 'w'), decode_(decode) {}
  std::string weights() override { return weights_; }
  void prepare(const Episode& episode) override {
    if (!decode_) return;
    const ThreadStopwatch cpu;
    decoder_.ahead(episode);
    decode_us += cpu.us();
  }
  UpdateReport update(std::vector<Episode> episodes, const UpdateContext& context) override {
    UpdateReport report;
    if (!decode_) return report;
    const ThreadStopwatch cpu;
    double between_us = 0;
    decoder_.take(std::move(episodes), report.notes, [&] {
      const ThreadStopwatch between;
      context.between();
      between_us += between.us();
    });
    decode_us += cpu.us() - between_us;
    return report;
  }
  double decode_us = 0;

 private:
  std::string weights_;
  bool decode_;
  Decoder decoder_;
};

// As if the actors were on so many nodes.
std::vector<int> aggregators_of(const SimulationOptions& options) {
  if (options.aggregators == 0) return {};
  if (options.aggregators >= options.actors)
    fail("simulation: {} aggregators among {} actors", options.aggregators, options.actors);
  std::vector<int> via(static_cast<size_t>(options.actors) + 1);
  for (int rank = 1; rank <= options.actors; ++rank)
    via[static_cast<size_t>(rank)] = 1 + (rank - 1) % options.aggregators;
  return via;
}

// What has been used so far.
struct Used {
  double seconds = 0, loop_us = 0, decode_us = 0, store_us = 0, bytes_in = 0, bytes_out = 0;
  int64_t steps = 0, parts = 0;
};

SimulationReport difference(const Used& from, const Used& to, const SimulationOptions& options) {
  SimulationReport r;
  const double seconds = to.seconds - from.seconds;
  const double decode_us = to.decode_us - from.decode_us, store_us = to.store_us - from.store_us;
  const double loop_us = to.loop_us - from.loop_us;
  const auto steps = static_cast<double>(to.steps - from.steps);
  r.actors = options.actors;
  r.offered_steps_per_s = options.actors * options.steps_per_s;
  r.steps_per_s = steps / seconds;
  r.message_cores = 1e-6 * (loop_us - decode_us) / seconds;
  r.decode_cores = 1e-6 * decode_us / seconds;
  r.store_cores = 1e-6 * store_us / seconds;
  r.step_us = (loop_us + store_us) / std::max(steps, 1.0);
  r.bytes_in_per_s = (to.bytes_in - from.bytes_in) / seconds;
  r.bytes_out_per_s = (to.bytes_out - from.bytes_out) / seconds;
  r.parts_per_s = static_cast<double>(to.parts - from.parts) / seconds;
  return r;
}

}  // namespace

SimulationReport simulate(std::span<const mdp::CodedTrajectory> recorded, const replay::StoreHeader& header,
                          const SimulationOptions& options) {
  for (const auto& episode : recorded) {
    if (episode.facts.steps.empty()) fail("simulation: a recorded episode has no steps");
  }
  if (recorded.empty()) fail("simulation: no recorded episodes");
  const auto comms = comm::local_comms(options.actors + 1);
  comm::Mailbox mailbox(*comms[0]);
  std::optional<replay::BackgroundWriter> store;
  if (!options.store.empty()) store.emplace(options.store, header);
  const auto via = aggregators_of(options);
  Players players(comms, recorded, options, via, header);
  DecodingOnly algorithm(static_cast<size_t>(options.weights_bytes), options.decode);
  const Stopwatch watch;
  const ThreadStopwatch cpu;
  Used first, last;
  double lags = 0, epochs = 0, lag_max = 0;
  LoopOptions loop_options;
  loop_options.epochs = 1'000'000'000;
  loop_options.via = via;
  loop_options.steps_per_epoch =
      std::max<int64_t>(1, static_cast<int64_t>(options.actors * options.steps_per_s * options.epoch_s));
  // On a slow machine until an epoch was watched.
  loop_options.should_stop = [&] {
    const double watched_s = first.seconds > 0 ? watch.seconds() - first.seconds : 0;
    return watched_s >= options.seconds && (epochs > 0 || watched_s >= options.seconds + kPatience_s);
  };
  LoopHooks hooks;
  hooks.on_trajectory = [&](const Episode& episode, bool passed_on) {
    if (store && !passed_on) store->append(episode);
  };
  hooks.service = [&] {
    if (store) store->tick(watch.seconds());
  };
  hooks.on_epoch = [&](const EpochReport& report, const LoopState& state) {
    last = {watch.seconds(),
            cpu.us(),
            algorithm.decode_us,
            store ? store->cpu_us() : 0,
            static_cast<double>(mailbox.counters().in.bytes),
            static_cast<double>(mailbox.counters().out.bytes),
            state.steps,
            store ? store->parts_written() : 0};
    if (first.seconds > 0) {
      lags += report.lag_mean;
      lag_max = std::max(lag_max, static_cast<double>(report.lag_max));
      ++epochs;
    } else {
      first = last;
    }
  };
  Loop loop(mailbox, algorithm, loop_options, hooks);
  loop.run();
  players.join();
  if (epochs == 0) fail("simulation: no epoch ended within {:.3g} s; watch for longer", options.seconds);
  SimulationReport report = difference(first, last, options);
  report.lag_mean = lags / epochs;
  report.lag_max = lag_max;
  return report;
}

namespace {

class Recorder : public actors::CodedSink {
 public:
  void on_trajectory(mdp::CodedTrajectory trajectory) override {
    if (!trajectory.facts.steps.empty()) episodes.push_back(std::move(trajectory));
  }
  void on_lost(const actors::LostEpisode& lost) override { fail("episode lost: {}", lost.what); }
  std::vector<mdp::CodedTrajectory> episodes;
};

}  // namespace

std::vector<mdp::CodedTrajectory> record_episodes(mdp::BatchEnv& envs, uint64_t seed, size_t count) {
  actors::RandomPolicy policy;
  Recorder recorder;
  actors::Collector collector(envs, policy, recorder, {.seed = seed});
  while (recorder.episodes.size() < count) collector.round([] { return true; });
  recorder.episodes.resize(count);
  return std::move(recorder.episodes);
}

void declare(OptionSink& o, SimulationOptions& options) {
  o.number("scale.rate", options.steps_per_s, 1, 1e6, "--simulate: steps/s of an actor");
  o.integer("scale.weights-bytes", options.weights_bytes, 1, 1 << 30, "--simulate: bytes of a version of the weights");
  o.flag("scale.decode", options.decode, "--simulate: rank 0 decodes the episodes, as a learner does that is alone");
  o.integer("scale.aggregators", options.aggregators, 0, 100'000,
            "--simulate: actors that pass on what the others send (--train.aggregate); 0: none");
}

std::vector<MetricRow> simulate_counts(mdp::BatchEnv& envs, const replay::StoreHeader& header,
                                       const std::vector<int>& actors, SimulationOptions options, bool store,
                                       const std::function<void(const std::string&)>& print) {
  const auto recorded = record_episodes(envs, header.seed, 8);
  std::vector<MetricRow> rows;
  print(kSimulationHeading);
  for (const int count : actors) {
    const TemporaryFolder folder("rlgo-simulate");
    options.actors = count;
    if (store) options.store = folder.path();
    const SimulationReport r = simulate(recorded, header, options);
    print(to_text(r));
    rows.push_back({{"actors", int64_t{r.actors}},
                    {"offered_steps_per_s", r.offered_steps_per_s},
                    {"steps_per_s", r.steps_per_s},
                    {"message_cores", r.message_cores},
                    {"decode_cores", r.decode_cores},
                    {"store_cores", r.store_cores},
                    {"step_us", r.step_us},
                    {"bytes_in_per_s", r.bytes_in_per_s},
                    {"bytes_out_per_s", r.bytes_out_per_s},
                    {"lag_mean", r.lag_mean},
                    {"lag_max", r.lag_max},
                    {"parts_per_s", r.parts_per_s}});
  }
  return rows;
}

const char* const kSimulationHeading =
    "        steps/s            cores of rank 0 for        CPU       MB/s           lag      parts\n"
    "actors  offered received messages decoding  store us a step     in      out  mean max      a s\n";

std::string to_text(const SimulationReport& r) {
  return fmt::format("{:6} {:8.0f} {:8.0f} {:8.2f} {:8.2f} {:6.2f} {:9.2f} {:6.1f} {:8.1f} {:5.2f} {:3.0f} {:8.2f}\n",
                     r.actors, r.offered_steps_per_s, r.steps_per_s, r.message_cores, r.decode_cores, r.store_cores,
                     r.step_us, 1e-6 * r.bytes_in_per_s, 1e-6 * r.bytes_out_per_s, r.lag_mean, r.lag_max,
                     r.parts_per_s);
}

}  // namespace rlgo::learner
