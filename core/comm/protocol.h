// The payloads of the messages between actors and learner (trajectories: mdp::encode). decode throws Error where bytes
// are missing or left over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rlgo::comm {

// An actor's first message.
struct Hello {
  uint64_t spec_hash = 0;   // mdp::ObservationSpec::hash of its environment
  uint64_t rules_hash = 0;  // of its rule set, 0 where there is none
  bool dream = false;
  std::string host;
  bool operator==(const Hello&) const = default;
};

// What Tag::stop carries where rank 0 failed and will not be there at the end.
constexpr std::string_view kRankZeroFailed = "rank 0 failed";

// Weights and the permission to use them.
struct Weights {
  int64_t version = 0;                // 0, 1, 2, ...
  int64_t quota_steps = 0;            // no new episode once this many steps were sent under this version
  std::vector<int64_t> next_episode;  // [ranks] number of each actor's next episode; read from its first message only
  std::string weights;                // what Policy::load takes
  bool operator==(const Weights&) const = default;
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
  bool operator==(const Heartbeat&) const = default;
};

// A lost episode.
struct ErrorReport {
  int32_t rank = 0;
  int64_t episode = 0;
  uint64_t seed = 0;
  std::string what;
  bool operator==(const ErrorReport&) const = default;
};

std::string encode(const Hello& message);  // payloads; decode_*() read them back and throw Error where they are damaged
std::string encode(const Weights& message);
std::string encode(const Heartbeat& message);
std::string encode(const ErrorReport& message);
Hello decode_hello(std::string_view bytes);
Weights decode_weights(std::string_view bytes);
Heartbeat decode_heartbeat(std::string_view bytes);
ErrorReport decode_error_report(std::string_view bytes);

}  // namespace rlgo::comm
