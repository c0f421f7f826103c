#include "core/codec/observation_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace rlgo::mdp {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr int kWidth = 3;

// A chain of nodes: each reads the one before it. Features: what it is, its place, its fraction of the cost.
Observation chain(const std::vector<int32_t>& ops, float total = 8) {
  Observation o;
  const auto nodes = static_cast<int32_t>(ops.size());
  for (int32_t i = 0; i < nodes; ++i) {
    o.node_op.push_back(ops[i]);
    const auto cost = static_cast<float>(ops[i] + 1) / 3.0f;
    for (float f : {cost, static_cast<float>(i) / static_cast<float>(nodes), 10.0f * cost / total})
      o.node_feat.push_back(f);
    if (i == 0) continue;
    o.edge_src.push_back(i - 1);
    o.edge_dst.push_back(i);
    o.edge_feat.insert(o.edge_feat.end(), {static_cast<float>(ops[i - 1]), 0.5f});
  }
  o.globals = {total, 1};
  o.counts = {nodes, 0, 1};
  for (int32_t i = 0; i < nodes; ++i) o.loc_node.push_back(i);
  o.loc_node.push_back(nodes - 1);
  return o;
}

std::vector<int32_t> many_ops(int count) {
  std::vector<int32_t> ops;
  for (int i = 0; i < count; ++i) ops.push_back(i * 7 % 31);
  return ops;
}

std::string code(const Observation* base, const Observation& o) {
  ByteWriter out;
  encode_observation(base, o, out);
  return out.take();
}

Observation decoded(const Observation* base, const std::string& bytes) {
  ByteReader in(bytes);
  auto o = decode_observation(base, in);
  EXPECT_TRUE(in.done());
  return o;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void expect_same(const Observation& read, const Observation& o) {
  EXPECT_EQ(read.node_op, o.node_op);
  EXPECT_TRUE(same_bits(read.node_feat, o.node_feat));
  EXPECT_EQ(read.edge_src, o.edge_src);
  EXPECT_EQ(read.edge_dst, o.edge_dst);
  EXPECT_TRUE(same_bits(read.edge_feat, o.edge_feat));
  EXPECT_TRUE(same_bits(read.globals, o.globals));
  EXPECT_EQ(read.counts, o.counts);
  EXPECT_EQ(read.loc_node, o.loc_node);
  EXPECT_TRUE(same_bits(read.loc_feat, o.loc_feat));
  EXPECT_EQ(read.loc_rest_end, o.loc_rest_end);
  EXPECT_EQ(read.loc_rest, o.loc_rest);
}

// The same with two features and up to three more nodes of each location.
Observation detailed(Observation o, Rng& rng) {
  for (size_t l = 0; l < o.loc_node.size(); ++l) {
    o.loc_feat.push_back(static_cast<float>(rng.below(3)) - 0.25f);
    o.loc_feat.push_back(static_cast<float>(rng.below(2)));
    for (uint64_t k = rng.below(4); k > 0; --k) o.loc_rest.push_back(static_cast<int32_t>(rng.below(o.node_op.size())));
    o.loc_rest_end.push_back(static_cast<int32_t>(o.loc_rest.size()));
  }
  return o;
}

// Bytes of a code that gives the observation back, bit for bit.
size_t survives(const Observation* base, const Observation& o) {
  const auto bytes = code(base, o);
  expect_same(decoded(base, bytes), o);
  return bytes.size();
}

TEST(ObservationCode, NothingNewIsAFewBytes) {
  const auto o = chain(many_ops(200));
  EXPECT_LT(survives(&o, o), 20u);
  EXPECT_GT(survives(nullptr, o), 200u);
}

TEST(ObservationCode, ANodeMoreRenumbersTheRestForFree) {
  auto ops = many_ops(200);
  const auto before = chain(ops);
  ops.insert(ops.begin() + 60, 12);
  const auto after = chain(ops, 9);  // another total: every share changes, and every place
  EXPECT_LT(survives(&before, after), 150u);
  EXPECT_LT(survives(&after, before), 150u);
}

TEST(ObservationCode, BlocksThatChangePlacesAreCopied) {
  const auto ops = many_ops(200);
  std::vector<int32_t> moved(ops.begin() + 50, ops.begin() + 150);
  moved.insert(moved.end(), ops.begin(), ops.begin() + 50);
  moved.insert(moved.end(), ops.begin() + 150, ops.end());
  const auto before = chain(ops), after = chain(moved);
  EXPECT_LT(survives(&before, after), survives(nullptr, after) / 2);
}

TEST(ObservationCode, EmptyObservationsAndDreams) {
  survives(nullptr, Observation{});
  Observation dream;
  dream.counts = {0, 3, 2};
  const auto real = chain({1, 2, 3});
  EXPECT_LT(survives(nullptr, dream), 20u);
  survives(&real, dream);
  survives(&dream, real);
  Observation next = dream;
  next.counts[1] = 4;
  survives(&dream, next);
}

TEST(ObservationCode, BasesOfOtherWidthsCountAsNone) {
  const auto o = chain({1, 2, 3});
  auto wider = o;
  wider.globals.push_back(1);
  EXPECT_EQ(code(&wider, o), code(nullptr, o));
  survives(&wider, o);
}

TEST(ObservationCode, WhatIsNotInOrderIsSpelledOut) {
  auto o = chain({1, 2, 3});
  const auto base = o;
  std::swap(o.edge_dst[0], o.edge_dst[1]);  // not sorted
  EXPECT_EQ(code(&base, o)[0], 0);
  survives(&base, o);
  survives(&o, base);  // nor is it a base
  o = base;
  o.loc_node.back() = 77;
  EXPECT_EQ(code(nullptr, o)[0], 0);
  survives(nullptr, o);
  o = base;
  o.node_feat.pop_back();
  survives(&base, o);
  Rng rng({5});
  const auto all = detailed(base, rng);
  for (const auto& break_it : std::vector<std::function<void(Observation&)>>{
           [](auto& x) { x.loc_rest_end.pop_back(); }, [](auto& x) { x.loc_rest.push_back(0); },
           [](auto& x) { x.loc_rest[0] = 3; }, [](auto& x) { x.loc_feat.pop_back(); }}) {
    o = all;
    break_it(o);
    EXPECT_EQ(code(&all, o)[0], 2);
    survives(&all, o);
    survives(&o, all);
  }
}

TEST(ObservationCode, EveryBitOfAFloatSurvives) {
  auto before = chain(many_ops(40));
  auto after = before;
  const float strange[] = {-0.0f,
                           std::numeric_limits<float>::quiet_NaN(),
                           std::bit_cast<float>(0xFFC12345u),
                           std::bit_cast<float>(0x7F812345u),
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::denorm_min(),
                           -std::numeric_limits<float>::max()};
  for (size_t i = 0; i < std::size(strange); ++i) {
    after.node_feat[kWidth * i] = after.edge_feat[2 * i] = strange[i];
    after.node_feat[kWidth * (i + 20) + 2] = strange[i];
  }
  after.globals[1] = -0.0f;
  survives(&before, after);
  survives(&after, before);
  survives(nullptr, after);
}

// Any two observations, related or not.
Observation random_observation(Rng& rng, int kind) {
  std::vector<int32_t> ops(rng.below(30));
  for (auto& op : ops) op = static_cast<int32_t>(rng.below(4));
  Observation o = chain(ops, static_cast<float>(1 + rng.below(5)));
  if (ops.empty()) o.counts.assign(3, 0), o.loc_node.clear();
  for (auto& source : o.edge_src) {
    if (rng.below(4) == 0) source = static_cast<int32_t>(rng.below(ops.size()));
  }
  for (auto& value : o.node_feat) {
    if (rng.below(20) == 0) value = static_cast<float>(rng.below(3));
  }
  for (auto& value : o.loc_node) {
    if (rng.below(5) == 0) value = static_cast<int32_t>(rng.below(ops.size()));
  }
  if (kind == 1 && !o.loc_node.empty()) {
    const auto moved = static_cast<int32_t>(rng.below(static_cast<uint64_t>(o.counts[0]) + 1));
    o.counts[0] -= moved;
    o.counts[1] += moved;
  }
  return o;
}

TEST(ObservationCode, RandomPairsSurvive) {
  Rng rng({31});
  auto before = random_observation(rng, 0);
  for (int i = 0; i < 3000; ++i) {
    auto after = random_observation(rng, i % 2);
    survives(i % 7 == 0 ? nullptr : &before, after);
    before = std::move(after);
  }
}

TEST(ObservationCode, DetailsOfLocationsThatStayAreFree) {
  auto ops = many_ops(200);
  Rng rng({33});
  const auto before = detailed(chain(ops), rng);
  EXPECT_LT(survives(&before, before), 20u);
  auto after = before;
  after.loc_feat[60] += 1;  // one price has changed
  EXPECT_LT(survives(&before, after), 40u);
  after.loc_feat.clear();  // with and without: neither helps the other
  survives(&before, after);
  survives(&after, before);
}

TEST(ObservationCode, RandomPairsWithDetailsSurvive) {
  Rng rng({32});
  auto before = random_observation(rng, 0);
  for (int i = 0; i < 3000; ++i) {
    auto after = i % 5 == 0 ? before : random_observation(rng, i % 2);
    if (i % 11 != 0) after = detailed(random_observation(rng, 1), rng);
    survives(i % 7 == 0 ? nullptr : &before, after);
    before = std::move(after);
  }
}

TEST(ObservationCode, AnEncoderThatGoesOnIsReadTheSameWay) {
  Rng rng({37});
  ObservationEncoder encoder;
  const auto start = chain(many_ops(40));
  for (int episode = 0; episode < 60; ++episode) {
    std::vector<Observation> seen;
    for (uint64_t i = 0; i < 5; ++i) seen.push_back(random_observation(rng, episode % 2));
    if (episode % 3 != 0) seen[0] = start;                 // most episodes start alike, some do not
    if (episode % 5 == 0) seen[2].edge_dst.push_back(-1);  // is not in order
    for (size_t i = 0; i < seen.size(); ++i) {
      ByteWriter out;
      encoder.put(i == 0 ? nullptr : &seen[i - 1], seen[i], out);
      expect_same(decoded(i == 0 ? nullptr : &seen[i - 1], out.bytes()), seen[i]);
    }
  }
}

TEST(ObservationCode, TheStartOfAnEpisodeMayChangeByASign) {
  ObservationEncoder encoder;
  auto start = chain(many_ops(10));
  for (const float first : {0.0f, -0.0f, 0.0f}) {
    start.node_feat[0] = first;
    ByteWriter out;
    encoder.put(nullptr, start, out);
    EXPECT_EQ(std::signbit(decoded(nullptr, out.bytes()).node_feat[0]), std::signbit(first));
  }
}

TEST(ObservationCode, ReportedChangesSpareTheComparisonAndMustFit) {
  auto ops = many_ops(40);
  const auto before = chain(ops);
  ops.insert(ops.begin() + 20, 30);
  const auto now = chain(ops, 9);
  Changes reported{.from = {}, .kept = std::vector<uint8_t>(41, 1), .varying = 0b110};  // place and fraction
  for (int32_t i = 0; i < 41; ++i) reported.from.push_back(i < 20 ? i : i - 1);
  reported.from[20] = -1;
  reported.kept[20] = reported.kept[21] = 0;  // new; reads the new one
  const auto by_reported = [&](const Changes* changes) {
    ObservationEncoder encoder;
    ByteWriter start, out;
    encoder.put(nullptr, before, start);
    encoder.put(&before, now, out, changes);
    return out.take();
  };
  expect_same(decoded(&before, by_reported(&reported)), now);
  EXPECT_LE(by_reported(&reported).size(), by_reported(nullptr).size());
  reported.varying = 0b010;  // then the fraction counts as kept, which it is not: what is reported is believed
  EXPECT_FALSE(same_bits(decoded(&before, by_reported(&reported)).node_feat, now.node_feat));
  for (const int32_t wrong : {40, 5}) {  // no such row; twice the same
    reported.from[7] = wrong;
    EXPECT_THAT([&] { by_reported(&reported); }, ThrowsMessage<Error>(HasSubstr("row 7 cannot come from row")));
  }
  reported.from.pop_back();
  EXPECT_THAT([&] { by_reported(&reported); }, ThrowsMessage<Error>(HasSubstr("changes of 40 rows")));
}

TEST(ObservationCode, EveryThirtySecondIsCodedAgainstTheFirst) {
  Rng rng({41});
  ObservationEncoder encoder;
  std::vector<Observation> seen;
  for (size_t i = 0; i < 70; ++i) {
    seen.push_back(random_observation(rng, 1));
    const auto copy = seen;  // may move
    ByteWriter out;
    encoder.put(i == 0 ? nullptr : &copy[i - 1], copy[i], out);
    expect_same(decoded(i == 0 ? nullptr : &copy[base_of(i)], out.bytes()), copy[i]);
  }
  EXPECT_EQ(base_of(32), 0u);
  EXPECT_EQ(base_of(33), 32u);
  EXPECT_EQ(base_of(64), 0u);
}

TEST(ObservationCode, DamageIsAnErrorOrAnObservationButNoCrash) {
  auto ops = many_ops(60);
  Rng details({9});
  const auto before = detailed(chain(ops), details);
  ops.erase(ops.begin() + 20);
  ops.insert(ops.begin() + 40, 3);
  Rng rng({8});
  const auto after = detailed(chain(ops, 9), rng);
  int errors = 0;
  for (const auto* base : {&before, static_cast<const Observation*>(nullptr)}) {
    const auto good = code(base, after);
    for (size_t size = 0; size < good.size(); ++size) EXPECT_THROW(decoded(base, good.substr(0, size)), Error) << size;
    for (int i = 0; i < 5000; ++i) {
      auto bad = good;
      for (uint64_t k = 0; k <= rng.below(3); ++k) bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
      try {
        ByteReader in(bad);
        EXPECT_LE(decode_observation(base, in).node_op.size(), size_t{1} << 20);
      } catch (const Error&) {
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, 3000);
  EXPECT_THAT([] { decoded(nullptr, "\x05"); }, ThrowsMessage<Error>(HasSubstr("observation code: kind 5")));
}

TEST(ObservationCode, AnotherBaseIsNoticedOrHarmless) {
  const auto o = chain(many_ops(50)), small = chain({1, 2, 3});
  const auto bytes = code(&o, o);
  EXPECT_THAT([&] { decoded(&small, bytes); },
              ThrowsMessage<Error>(HasSubstr("observation code: rows 0 to 50 of a base of 3")));
  EXPECT_THROW(decoded(nullptr, bytes), Error);
}

TEST(Varint, SmallNumbersAreShortAndAllSurvive) {
  ByteWriter out;
  const std::vector<int64_t> numbers = {
      0, -1, 63, -64, 64, 1'000'000, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const int64_t n : numbers) out.put_signed_varint(n);
  EXPECT_EQ(out.bytes().size(), 1u + 1 + 1 + 1 + 2 + 3 + 10 + 10);
  ByteReader in(out.bytes());
  for (const int64_t n : numbers) EXPECT_EQ(in.get_signed_varint(), n);
  const std::string endless(11, '\xFF');
  EXPECT_THAT([&] { ByteReader(endless).get_varint(); }, ThrowsMessage<Error>(HasSubstr("more than 64 bits")));
}

}  // namespace
}  // namespace rlgo::mdp
