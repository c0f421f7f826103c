#include "core/comm/mailbox.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo::comm {
namespace {

// Flips a bit of some packets on their way, or loses them.
class FaultyComm : public Comm {
 public:
  explicit FaultyComm(std::unique_ptr<Comm> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  void send(int to, Bytes bytes, size_t offset, size_t size) override {
    const int number = packets_++;
    if (number == lose) return;
    std::string copy = bytes->substr(offset, size);
    if (number == flip_packet && !copy.empty()) {
      char& byte = copy[flip_byte % copy.size()];
      byte = static_cast<char>(byte ^ 1);
    }
    inner_->send(to, std::make_shared<const std::string>(std::move(copy)), 0, size);
  }
  std::optional<Packet> try_receive() override {
    ++asked;
    return inner_->try_receive();
  }
  size_t pending_bytes(int to) const override {
    looked += to >= 0 ? 1 : 0;
    if (stop_after >= 0 && packets_ >= stop_after) return size_t{1} << 40;
    if (stuck_to >= 0) return to == stuck_to || to < 0 ? 1 : 0;
    return pending >= 0 ? static_cast<size_t>(pending) : inner_->pending_bytes(to);
  }
  bool close(double max_s, int status) override { return inner_->close(max_s, status); }
  std::string name() const override { return "faulty " + inner_->name(); }

  int lose = -1, flip_packet = -1;
  size_t flip_byte = 0;
  int stop_after = -1;     // packets that leave; then pending_bytes claims that all is full
  int64_t pending = -1;    // what pending_bytes claims; -1: the truth
  int stuck_to = -1;       // the rank that does not fetch what is sent to it
  int asked = 0;           // calls of try_receive
  mutable int looked = 0;  // questions about single ranks

 private:
  std::unique_ptr<Comm> inner_;
  int packets_ = 0;
};

std::string pattern(size_t size, uint64_t seed) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(mix64(seed + i));
  return bytes;
}

struct Pair {
  std::vector<std::unique_ptr<Comm>> comms = local_comms(2);
  Mailbox a{*comms[0]}, b{*comms[1]};
};

TEST(Mailbox, ToItselfInOneProcess) {
  const auto comm = self_comm();
  Mailbox box(*comm);
  EXPECT_EQ(box.rank(), 0);
  EXPECT_EQ(box.size(), 1);
  EXPECT_FALSE(box.take());
  box.send(0, Tag::stats, "hello");
  const auto message = box.take();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->source, 0);
  EXPECT_EQ(message->tag, Tag::stats);
  EXPECT_EQ(message->payload, "hello");
  EXPECT_FALSE(box.take());
}

TEST(Mailbox, KeepsOrderOverAllSizes) {
  Pair pair;
  const std::vector<size_t> sizes = {0, 1, 47, 48, 65536, 65537, 3000000, 40000001, 7};
  for (size_t i = 0; i < sizes.size(); ++i) pair.a.send(1, Tag::trajectory, pattern(sizes[i], i));
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto message = pair.b.take();
    ASSERT_TRUE(message) << i;
    EXPECT_EQ(message->sequence, i);
    EXPECT_TRUE(message->payload == pattern(sizes[i], i)) << i;
    pair.a.poll();
  }
  EXPECT_EQ(pair.b.counters().corrupt, 0u);
  EXPECT_EQ(pair.b.counters().missing, 0u);
}

TEST(Mailbox, TakesByTagAndSourceAndLeavesTheRest) {
  auto comms = local_comms(3);
  Mailbox a(*comms[0]), b(*comms[1]), c(*comms[2]);
  b.send(0, Tag::trajectory, "b1");
  b.send(0, Tag::cost_answer, "b2");
  c.send(0, Tag::cost_answer, "c1");
  EXPECT_EQ(a.take(Tag::cost_answer, 2)->payload, "c1");
  EXPECT_EQ(a.take(Tag::cost_answer)->payload, "b2");
  EXPECT_FALSE(a.take(Tag::cost_answer));
  EXPECT_EQ(a.take()->payload, "b1");
}

TEST(Mailbox, ARankThatFetchesNothingIsSentAWindow) {
  Pair pair;
  for (int i = 0; i < 100; ++i) pair.a.send(1, Tag::heartbeat, std::to_string(100 + i));
  EXPECT_EQ(pair.a.waiting_bytes(1), 68u * (3 + 48));
  for (const char* text : {"v1", "v2", "v3"})
    pair.a.publish(std::vector{1}, Tag::weights, std::make_shared<const std::string>(text));
  EXPECT_EQ(pair.a.counters().superseded, 2u);
  for (int i = 0; i < 100; ++i) {
    const auto message = pair.b.take();
    ASSERT_TRUE(message) << i;
    EXPECT_EQ(message->payload, std::to_string(100 + i));
    pair.a.poll();
  }
  EXPECT_EQ(pair.b.take()->payload, "v3");
  EXPECT_FALSE(pair.b.take());
}

TEST(Mailbox, ARankThatIsRememberedGetsWhatArrivedMeanwhile) {
  Pair pair;
  pair.a.forget(1);
  for (int i = 0; i < 100; ++i) pair.b.send(0, Tag::heartbeat, "");
  int came = 0;
  const auto take_all = [&] {
    for (bool any = true; any; pair.b.poll()) {
      for (any = false; pair.a.take(); ++came) any = true;
    }
  };
  take_all();
  EXPECT_EQ(came, 32);
  pair.a.remember(1);
  pair.a.poll();
  pair.b.poll();
  take_all();
  EXPECT_EQ(came, 100);
}

TEST(Mailbox, PublishReplacesWhatHasNotLeft) {
  auto comms = local_comms(2);
  FaultyComm slow(std::move(comms[0]));
  Mailbox a(slow), b(*comms[1]);
  const std::vector<int> to = {1};
  slow.pending = int64_t{1} << 40;  // nothing leaves
  for (const char* text : {"v1", "v2", "v3"}) a.publish(to, Tag::weights, std::make_shared<const std::string>(text));
  EXPECT_EQ(a.counters().superseded, 2u);
  EXPECT_EQ(a.waiting_bytes(), 2u + 48u);
  EXPECT_FALSE(b.take());
  slow.pending = -1;
  a.poll();
  EXPECT_EQ(b.take()->payload, "v3");
  EXPECT_FALSE(b.take());
  EXPECT_EQ(b.counters().missing, 0u);
}

TEST(Mailbox, CorruptPayloadIsDroppedAndCounted) {
  auto comms = local_comms(2);
  FaultyComm faulty(std::move(comms[0]));
  faulty.flip_packet = 1;
  faulty.flip_byte = 50;  // in the payload
  Mailbox a(faulty), b(*comms[1]);
  for (const char* text : {"first", "second", "third"}) a.send(1, Tag::trajectory, text);
  EXPECT_EQ(b.take()->payload, "first");
  EXPECT_EQ(b.take()->payload, "third");
  EXPECT_EQ(b.counters().corrupt, 1u);
  EXPECT_EQ(b.counters().missing, 0u);
}

TEST(Mailbox, CorruptHeaderIsDroppedAndTheNextMessageArrives) {
  for (size_t byte : {0u, 6u, 8u, 20u, 25u, 40u}) {
    auto comms = local_comms(2);
    FaultyComm faulty(std::move(comms[0]));
    faulty.flip_packet = 0;
    faulty.flip_byte = byte;
    Mailbox a(faulty), b(*comms[1]);
    a.send(1, Tag::trajectory, pattern(200000, 1));  // header and payload travel apart
    a.send(1, Tag::trajectory, "next");
    ASSERT_EQ(b.take()->payload, "next") << byte;
    EXPECT_EQ(b.counters().corrupt, 2u) << byte;
    EXPECT_EQ(b.counters().missing, 1u) << byte;
  }
}

// One byte of one packet is damaged, anywhere: what arrives was sent, in this order, each once, and most of it arrives.
TEST(Mailbox, NoDamageMakesAnotherMessage) {
  const std::vector<size_t> sizes = {0, 1, 300, 5000, 9000, 3, 20000};
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    auto comms = local_comms(2);
    FaultyComm faulty(std::move(comms[0]));
    const uint64_t dice = mix64(seed);
    faulty.flip_packet = static_cast<int>(dice % 12);
    faulty.flip_byte = (dice >> 8) % (dice & (1 << 30) ? 48 : 4096);
    Mailbox a(faulty, {.packet_bytes = 4096}), b(*comms[1], {.packet_bytes = 4096});
    for (size_t i = 0; i < sizes.size(); ++i) a.send(1, Tag::trajectory, pattern(sizes[i], i));
    size_t next = 0, arrived = 0;
    try {
      for (; const auto message = b.take(); ++arrived) {
        while (next < sizes.size() && message->payload != pattern(sizes[next], next)) ++next;
        ASSERT_LT(next++, sizes.size()) << "seed " << seed << ": a message of " << message->payload.size() << " bytes";
      }
      EXPECT_GE(arrived, sizes.size() - 2) << seed;
      EXPECT_EQ(b.counters().corrupt > 0, arrived < sizes.size()) << seed;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("of the message format"), std::string::npos) << seed;
    }
  }
}

TEST(Mailbox, ALookAsksForRanksWithMessagesOnly) {
  auto comms = local_comms(500);
  FaultyComm comm(std::move(comms[0]));
  Mailbox box(comm);
  for (int to = 1; to < 500; ++to) box.send(to, Tag::stats, "x");
  box.poll();
  comm.looked = 0;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(box.wait(0));
  EXPECT_EQ(comm.looked, 0);
  comm.stop_after = 0;  // nothing leaves any more
  for (int to : {7, 9, 7}) box.send(to, Tag::stats, "x");
  comm.looked = 0;
  box.poll();
  EXPECT_EQ(comm.looked, 2);
}

TEST(Mailbox, OtherVersionIsAnError) {
  auto comms = local_comms(2);
  FaultyComm faulty(std::move(comms[0]));
  faulty.flip_packet = 0;
  faulty.flip_byte = 4;  // the version
  Mailbox a(faulty), b(*comms[1]);
  a.send(1, Tag::trajectory, "x");
  EXPECT_THROW(b.poll(), Error);
}

TEST(Mailbox, LostPacketCostsOneMessage) {
  auto comms = local_comms(2);
  FaultyComm faulty(std::move(comms[0]));
  faulty.lose = 1;  // the payload of the first message
  Mailbox a(faulty), b(*comms[1]);
  a.send(1, Tag::trajectory, pattern(70000, 1));
  a.send(1, Tag::trajectory, pattern(69990, 2));
  a.send(1, Tag::trajectory, "next");
  std::vector<std::string> got;
  while (auto message = b.take()) got.push_back(message->payload);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got.back(), "next");
  EXPECT_GE(b.counters().corrupt, 1u);
}

TEST(Mailbox, TooLongIsAnErrorOfTheSender) {
  const auto comm = self_comm();
  Mailbox box(*comm, {.max_message_bytes = 10});
  box.send(0, Tag::stats, std::string(10, 'x'));
  EXPECT_THROW(box.send(0, Tag::stats, std::string(11, 'x')), Error);
  EXPECT_THROW(box.send(1, Tag::stats, "x"), Error);
  EXPECT_THROW(box.send(-1, Tag::stats, "x"), Error);
  EXPECT_THROW(Mailbox(*comm, {.packet_bytes = 100}), Error);
}

TEST(Mailbox, CountsBytesAndMessages) {
  Pair pair;
  pair.a.send(1, Tag::trajectory, std::string(100, 'x'));
  pair.a.send(1, Tag::heartbeat, "");
  pair.b.poll();
  EXPECT_EQ(pair.a.counters().out.messages, 2u);
  EXPECT_EQ(pair.a.counters().out.bytes, 100u + 2 * 48u);
  EXPECT_EQ(pair.b.counters().in.bytes, 100u + 2 * 48u);
  EXPECT_EQ(pair.b.counters().received(Tag::trajectory).bytes, 148u);
  EXPECT_EQ(pair.b.counters().received(Tag::weights).messages, 0u);
}

TEST(Mailbox, WaitReportsArrivalsOfThisCallOnly) {
  Pair pair;
  EXPECT_FALSE(pair.b.wait(1));
  pair.a.send(1, Tag::stop, "");
  EXPECT_TRUE(pair.b.wait(1000));
  EXPECT_FALSE(pair.b.wait(1));  // it still lies there, but did not arrive now
  EXPECT_TRUE(pair.b.take());
}

TEST(Mailbox, ForgottenRankGetsNothing) {
  Pair pair;
  pair.a.forget(1);
  pair.a.send(1, Tag::weights, "x");
  EXPECT_TRUE(pair.a.flush(1));
  EXPECT_FALSE(pair.b.take());
}

TEST(Mailbox, RankThatComesBackGetsWholeMessages) {
  auto comms = local_comms(2);
  FaultyComm slow(std::move(comms[0]));
  Mailbox a(slow, {.packet_bytes = 4096}), b(*comms[1], {.packet_bytes = 4096});
  slow.stop_after = 2;  // the header and one packet of ten leave
  a.send(1, Tag::weights, pattern(40960, 1));
  a.send(1, Tag::stats, "dropped");
  a.forget(1);
  slow.stop_after = -1;
  a.send(1, Tag::stats, "not sent");
  a.remember(1);
  a.send(1, Tag::stats, "again");
  EXPECT_TRUE(b.take(Tag::weights)->payload == pattern(40960, 1));
  EXPECT_EQ(b.take()->payload, "again");
  EXPECT_EQ(b.counters().corrupt + b.counters().missing, 0u);
}

TEST(Mailbox, FlushGivesUpInTime) {
  auto comms = local_comms(2);
  FaultyComm stuck(std::move(comms[0]));
  stuck.pending = 1000;
  Mailbox a(stuck);
  a.send(1, Tag::goodbye, "");
  EXPECT_FALSE(a.flush(0.01));
  a.forget(1);
  stuck.pending = 0;
  EXPECT_TRUE(a.flush(0.01));
}

TEST(Comm, RejectsRanksThatDoNotExist) {
  auto comms = local_comms(2);
  const auto bytes = std::make_shared<const std::string>("x");
  EXPECT_THROW(comms[0]->send(2, bytes, 0, 1), Error);
  EXPECT_THROW(local_comms(0), Error);
  EXPECT_EQ(self_comm()->name(), "one process");
}

TEST(Tags, NamesAreUniqueAndComplete) {
  for (const auto& row : kTags) {
    EXPECT_EQ(name(row.tag), row.name);
    for (const auto& other : kTags) EXPECT_EQ(row.name == other.name, row.tag == other.tag);
  }
  EXPECT_EQ(name(static_cast<Tag>(0)), "");
  EXPECT_EQ(name(static_cast<Tag>(200)), "");
}

// Under load it only asks less often.
TEST(Mailbox, WaitingForAPeerThatFetchesNothingIsSleep) {
  auto comms = local_comms(2);
  FaultyComm stuck(std::move(comms[0]));
  stuck.pending = 1000;
  Mailbox a(stuck);
  a.wait(40);  // in the beginning it asks as fast as it can: the message may leave soon
  stuck.asked = 0;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(a.wait(20));
  EXPECT_GE(stuck.asked, 10);
  EXPECT_LT(stuck.asked, 200);
}

TEST(Mailbox, WhatMovesIsWatchedClosely) {
  auto comms = local_comms(2);
  FaultyComm slow(std::move(comms[0]));
  slow.pending = 1000;
  Mailbox a(slow, {.spin_under_way_us = 100'000, .first_sleep_us = 1e6, .longest_sleep_under_way_us = 1e6});
  EXPECT_FALSE(a.wait(110));  // nothing moves for longer than spin_under_way_us
  slow.asked = 0;
  EXPECT_FALSE(a.wait(30));
  EXPECT_LE(slow.asked, 2);  // before the sleep and after it
  bool closely = false;
  for (int i = 0; i < 20 && !closely; ++i) {  // again where the machine is too busy to ask
    slow.pending -= 1;
    slow.asked = 0;
    EXPECT_FALSE(a.wait(100));
    closely = slow.asked > 3;
  }
  EXPECT_TRUE(closely);
}

// Learners wait for each other's messages, never for those of an actor that hangs.
TEST(Mailbox, FlushWaitsForTheNamedRanksOnly) {
  auto comms = local_comms(3);
  FaultyComm comm(std::move(comms[0]));
  comm.stuck_to = 2;
  Mailbox box(comm);
  for (int to : {1, 2}) box.send(to, Tag::learner, "now");
  const int learners[] = {0, 1};
  EXPECT_TRUE(box.flush(60, learners));
  EXPECT_FALSE(box.flush(0.01));
}

}  // namespace
}  // namespace rlgo::comm
