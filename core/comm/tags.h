// What a message between ranks is about. This is the only list of tags.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rlgo::comm {

enum class Tag : uint8_t {
  hello = 1,         // actor -> learner: Hello; "I am here"
  weights = 2,       // learner -> actor: Weights; only the newest counts
  trajectory = 3,    // actor -> learner: mdp::encode(Trajectory)
  cost_request = 4,  // actor -> rank 0: operators without a cost
  cost_answer = 5,   // rank 0 -> that actor: their costs
  costs = 6,         // rank 0 -> every actor: new rows of the cost table
  heartbeat = 7,     // both ways: Heartbeat; "I still live"
  error_report = 8,  // actor -> learner: ErrorReport; an episode was lost
  stop = 9,          // learner -> actor: the reason as text; "finish and send goodbye"
  goodbye = 10,      // actor -> learner: Heartbeat; the last message of a rank
  stats = 11,        // any -> rank 0: text for people
  reduce = 12,       // between learners: a piece of a buffer that is being summed
  nccl_id = 13,      // between learners: how to find the NCCL group
  learner = 14,      // between learners: what to do next, parts of the data, how it went
  welcome = 15,      // learner -> actor: Welcome; before its first weights
  quota = 16,        // learner -> actor: Quota; more steps under weights that it has; only the newest counts
  bundle = 17,       // aggregator -> learner: messages of several actors (add_to_bundle)
  fan_out = 18,      // learner -> aggregator: FanOut; one message for several actors
  route = 19,        // learner -> actor: Route; its aggregator is no more. actor -> that one: the last to it
  ask = 20,          // actor -> inference rank: actors::Question; what to do?
  decided = 21,      // inference rank -> that actor: actors::Answer
  fetched = 22,      // mailbox -> mailbox: uint64_t; so many messages have arrived
};

struct TagName {  // for logs and counters
  Tag tag;
  std::string_view name;
};
inline constexpr std::array<TagName, 22> kTags{{{Tag::hello, "hello"},
                                                {Tag::weights, "weights"},
                                                {Tag::trajectory, "trajectory"},
                                                {Tag::cost_request, "cost_request"},
                                                {Tag::cost_answer, "cost_answer"},
                                                {Tag::costs, "costs"},
                                                {Tag::heartbeat, "heartbeat"},
                                                {Tag::error_report, "error_report"},
                                                {Tag::stop, "stop"},
                                                {Tag::goodbye, "goodbye"},
                                                {Tag::stats, "stats"},
                                                {Tag::reduce, "reduce"},
                                                {Tag::nccl_id, "nccl_id"},
                                                {Tag::learner, "learner"},
                                                {Tag::welcome, "welcome"},
                                                {Tag::quota, "quota"},
                                                {Tag::bundle, "bundle"},
                                                {Tag::fan_out, "fan_out"},
                                                {Tag::route, "route"},
                                                {Tag::ask, "ask"},
                                                {Tag::decided, "decided"},
                                                {Tag::fetched, "fetched"}}};
// What learners send each other while they learn together: not for a loop that looks after actors.
inline constexpr std::array<Tag, 3> kAmongLearners{Tag::reduce, Tag::nccl_id, Tag::learner};

// The tag's name; "" for a number that is no tag.
constexpr std::string_view name(Tag tag) {
  for (const auto& row : kTags) {
    if (row.tag == tag) return row.name;
  }
  return {};
}

}  // namespace rlgo::comm
