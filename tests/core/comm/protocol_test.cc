#include "core/comm/protocol.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo::comm {
namespace {

TEST(Protocol, RoundTrips) {
  const Hello hello{.spec_hash = 7, .rules_hash = 8, .dream = true, .host = "node-1"};
  EXPECT_EQ(decode<Hello>(encode(hello)), hello);
  const Weights weights{.version = 3, .quota_steps = 128, .weights = std::string("\0\1", 2)};
  EXPECT_EQ(decode<Weights>(encode(weights)), weights);
  EXPECT_EQ(decode<Welcome>(encode(Welcome{.next_episode = 12})), Welcome{.next_episode = 12});
  const Quota quota{.version = 4, .quota_steps = 99};
  EXPECT_EQ(decode<Quota>(encode(quota)), quota);
  const Route route{.via = 5};
  EXPECT_EQ(decode<Route>(encode(route)), route);
  const Heartbeat beat{.version = 2,
                       .quota_steps = 9,
                       .episodes = 3,
                       .steps = 4,
                       .errors = 5,
                       .quota_left = -6,
                       .env_s = 1.5,
                       .policy_s = 2.5,
                       .wait_s = 3.5,
                       .inference = {.decided = 7, .fallback = 2, .answered = 6, .batches = 3, .refused = 1}};
  EXPECT_EQ(decode<Heartbeat>(encode(beat)), beat);
  const ErrorReport report{.rank = 3, .episode = 11, .seed = 42, .what = "boom"};
  EXPECT_EQ(decode<ErrorReport>(encode(report)), report);
}

TEST(Protocol, MalformedBytesAreErrors) {
  const std::string bytes = encode(Hello{.host = "x"});
  EXPECT_THROW(decode<Hello>(bytes.substr(1)), Error);
  EXPECT_THROW(decode<Hello>(bytes + "x"), Error);
  EXPECT_THROW(decode<Weights>(""), Error);
  EXPECT_THROW(decode<Weights>(encode(Weights{}).substr(0, 20)), Error);
  EXPECT_THROW(decode<Quota>(encode(Quota{}) + "x"), Error);
  EXPECT_THROW(decode<Welcome>(""), Error);
  EXPECT_THROW(decode<Route>(""), Error);
  EXPECT_THROW(decode<Heartbeat>(std::string(63, 'x')), Error);
  EXPECT_THROW(decode<ErrorReport>(std::string(300, '\xff')), Error);
}

}  // namespace
}  // namespace rlgo::comm
