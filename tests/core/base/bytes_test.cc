#include "core/base/bytes.h"

#include <gtest/gtest.h>

namespace rlgo {
namespace {

TEST(Bytes, ComeBackInOrder) {
  ByteWriter out;
  out.put<int32_t>(-7);
  out.put(2.5);
  out.put_string(std::string_view("a\0b", 3));
  out.put_vector(std::vector<int64_t>{1, -2});
  out.put_vector(std::vector<float>{});
  ByteReader in(out.bytes());
  EXPECT_EQ(in.get<int32_t>(), -7);
  EXPECT_EQ(in.get<double>(), 2.5);
  EXPECT_EQ(in.get_string(), std::string("a\0b", 3));
  EXPECT_EQ(in.get_vector<int64_t>(), (std::vector<int64_t>{1, -2}));
  EXPECT_TRUE(in.get_vector<float>().empty());
  EXPECT_TRUE(in.done());
}

TEST(Bytes, AreLittleEndian) {
  ByteWriter out;
  out.put<uint32_t>(0x01020304);
  out.put_string("x");
  EXPECT_EQ(out.take(), std::string("\x04\x03\x02\x01\x01\0\0\0\0\0\0\0x", 13));
}

TEST(Bytes, EveryTruncationIsAnError) {
  ByteWriter out;
  out.put<uint16_t>(5);
  out.put_vector(std::vector<int32_t>{1, 2, 3});
  const std::string whole = out.bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    ByteReader in(std::string_view(whole).substr(0, length));
    EXPECT_THROW((in.get<uint16_t>(), in.get_vector<int32_t>()), Error) << length;
  }
}

// A count that would overflow when multiplied by the size of an item.
TEST(Bytes, AbsurdCountsAreErrors) {
  for (const uint64_t count : {uint64_t{1} << 62, ~uint64_t{0}, uint64_t{2}}) {
    ByteWriter out;
    out.put(count);
    out.put<int64_t>(0);
    EXPECT_THROW(ByteReader(out.bytes()).get_vector<int64_t>(), Error) << count;
  }
  ByteWriter out;
  out.put<uint64_t>(~uint64_t{0});
  EXPECT_THROW(ByteReader(out.bytes()).get_string(), Error);
}

}  // namespace
}  // namespace rlgo
