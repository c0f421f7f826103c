// The payloads of the messages between actors and learner (trajectories: mdp::encode), as core/base/fields.h codes
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fields.h"
#include "core/comm/tags.h"

namespace rlgo::comm {

// An actor's first message.
struct Hello {
  uint64_t spec_hash = 0;   // mdp::ObservationSpec::hash of its environment
  uint64_t rules_hash = 0;  // of its rule set, 0 where there is none
  bool dream = false;
  std::string host;
  static constexpr std::string_view kName = "message hello";
  static void fields(auto& m, auto&& each) { each(m.spec_hash, m.rules_hash, m.dream, m.host); }
  bool operator==(const Hello&) const = default;
};

// What Tag::stop carries where rank 0 failed and will not be there at the end.
constexpr std::string_view kRankZeroFailed = "rank 0 failed";

// Weights and the permission to use them.
struct Weights {
  int64_t version = 0;      // 0, 1, 2, ...
  int64_t quota_steps = 0;  // no new episode once this many steps were sent under this version
  std::string weights;      // what Policy::load takes
  std::string starts = {};  // where episodes begin: learner::encode_archives; may be empty
  static constexpr std::string_view kName = "message weights";
  static void fields(auto& m, auto&& each) { each(m.version, m.quota_steps, m.weights, m.starts); }
  bool operator==(const Weights&) const = default;
};

// The answer to an actor that is new, or comes back.
struct Welcome {
  int64_t next_episode = 0;   // the number of its next episode; one that has played already knows better
  std::string rollouts = {};  // folder of the run's store, for an aggregator; "": no store
  static constexpr std::string_view kName = "message welcome";
  static void fields(auto& m, auto&& each) { each(m.next_episode, m.rollouts); }
  bool operator==(const Welcome&) const = default;
};

// A larger permission under weights that were sent before: without them, as they are long.
struct Quota {
  int64_t version = 0;
  int64_t quota_steps = 0;  // as in Weights, in all
  static constexpr std::string_view kName = "message quota";
  static void fields(auto& m, auto&& each) { each(m.version, m.quota_steps); }
  bool operator==(const Quota&) const = default;
};

// A message for several ranks, by way of one of them (learner/distributed/aggregator.h).
struct FanOut {
  std::vector<int32_t> ranks;
  Tag tag = Tag::weights;
  bool newest_only = false;  // see Mailbox::publish
  std::string payload;
  static constexpr std::string_view kName = "message fan_out";
  static void fields(auto& m, auto&& each) { each(m.ranks, m.tag, m.newest_only, m.payload); }
  bool operator==(const FanOut&) const = default;
};

// Whom an actor's messages to rank 0 go through from now on.
struct Route {
  int32_t via = 0;  // 0: nobody
  static constexpr std::string_view kName = "message route";
  static void fields(auto& m, auto&& each) { each(m.via); }
  bool operator==(const Route&) const = default;
};

// A message within a bundle of messages.
struct Bundled {
  int source = 0;  // who sent it at first
  Tag tag = Tag::hello;
  std::string payload;
};
// Bundles grow at their end.
void add_to_bundle(std::string& bundle, int source, Tag tag, std::string_view payload);
std::vector<Bundled> decode_bundle(std::string_view bytes);

// Decisions where inference ranks make them (actors/inference_server.h), of one rank or of several.
struct InferenceCounts {
  int64_t decided = 0;   // steps of an actor that its inference rank decided
  int64_t fallback = 0;  // steps that it decided by itself, for want of an answer
  int64_t answered = 0;  // observations that an inference rank decided on
  int64_t batches = 0;   // in so many
  int64_t refused = 0;   // questions that it did not answer
  InferenceCounts& operator+=(const InferenceCounts& other);
  bool operator==(const InferenceCounts&) const = default;
};

// Counters since the start of the sender; also the payload of goodbye.
struct Heartbeat {
  int64_t version = -1;                        // newest weights that have arrived
  int64_t quota_steps = 0;                     // granted under them
  int64_t episodes = 0;                        // sent
  int64_t steps = 0;                           // in them
  int64_t errors = 0;                          // episodes lost
  int64_t quota_left = 0;                      // at most 0 while the actor waits for newer weights or a larger quota
  double env_s = 0, policy_s = 0, wait_s = 0;  // where the time went
  InferenceCounts inference = {};
  static constexpr std::string_view kName = "message heartbeat";
  static void fields(auto& m, auto&& each) {
    each(m.version, m.quota_steps, m.episodes, m.steps, m.errors, m.quota_left, m.env_s, m.policy_s, m.wait_s,
         m.inference);
  }
  bool operator==(const Heartbeat&) const = default;
};

// A lost episode.
struct ErrorReport {
  int32_t rank = 0;
  int64_t episode = 0;
  uint64_t seed = 0;
  std::string what;
  static constexpr std::string_view kName = "message error_report";
  static void fields(auto& m, auto&& each) { each(m.rank, m.episode, m.seed, m.what); }
  bool operator==(const ErrorReport&) const = default;
};

// Throws Error for a number that is no tag.
void get_field(ByteReader& reader, Tag& tag);

// A message as bytes, without its tag.
template <typename Message>
std::string encode(const Message& message) {
  return write_fields(message);
}
// Throws Error where bytes are missing, left over or malformed.
template <typename Message>
Message decode(std::string_view bytes) {
  return read_fields<Message>(bytes);
}

}  // namespace rlgo::comm
