#include "core/ops/attrs.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"

namespace rlgo::ops {
namespace {

TEST(Attrs, NamesRoundTrip) {
  EXPECT_EQ(name(Attr::count_include_pad), "count_include_pad");
  EXPECT_EQ(attr_from_name("value"), Attr::value);
  EXPECT_EQ(attr_from_name("valeu"), std::nullopt);
}

TEST(Attrs, SetReplacesAndKeepsOrder) {
  Attrs attrs{{Attr::sizes, Ints{2, 3}}, {Attr::axis, int64_t{0}}};
  attrs.set(Attr::axis, int64_t{1});
  EXPECT_EQ(to_string(attrs), "axis=1 sizes=[2,3]");
  EXPECT_EQ(attrs.i(Attr::axis), 1);
  EXPECT_EQ(attrs.find(Attr::perm), nullptr);
}

TEST(Attrs, ValuesAsText) {
  EXPECT_EQ(to_string(AttrValue(int64_t{-2})), "-2");
  EXPECT_EQ(to_string(AttrValue(0.5)), "0.5");
  EXPECT_EQ(to_string(AttrValue(2.0)), "2.0");
  EXPECT_EQ(to_string(AttrValue(1e-5)), "1e-05");
  EXPECT_EQ(to_string(AttrValue(-std::numeric_limits<double>::infinity())), "-inf");
  EXPECT_EQ(to_string(AttrValue(Ints{})), "[]");
  EXPECT_EQ(to_string(AttrValue(std::string("relu"))), "relu");
}

TEST(Attrs, HashFollowsEquality) {
  const Attrs a{{Attr::axis, int64_t{1}}, {Attr::eps, 0.0}}, b{{Attr::eps, -0.0}, {Attr::axis, int64_t{1}}};
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a.hash(), (Attrs{{Attr::axis, int64_t{2}}, {Attr::eps, 0.0}}).hash());
  EXPECT_NE(hash(AttrValue(int64_t{1})), hash(AttrValue(1.0)));
  EXPECT_NE((Attrs{{Attr::axes, Ints{1}}}).hash(), (Attrs{{Attr::ends, Ints{1}}}).hash());
}

TEST(Attrs, MissingOrWrongKindIsABug) {
  const Attrs attrs{{Attr::axis, int64_t{1}}};
  EXPECT_THROW(attrs.i(Attr::group), Error);
  EXPECT_THROW(attrs.f(Attr::axis), Error);
}

}  // namespace
}  // namespace rlgo::ops
