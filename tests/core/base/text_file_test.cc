#include "core/base/text_file.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo {
namespace {

TEST(TextFile, MarksAndLineEndsOfEditorsAreNoText) {
  EXPECT_EQ(plain_text("\xef\xbb\xbf"
                       "a\r\nb\r\n",
                       "f"),
            "a\nb\n");
  EXPECT_EQ(plain_text("a\rb\r", "f"), "a\rb\r");
  EXPECT_EQ(plain_text("", "f"), "");
}

TEST(TextFile, WideTextIsNamed) {
  EXPECT_THROW(plain_text(std::string("\xff\xfe"
                                      "a\0",
                                      4),
                          "f"),
               Error);
  EXPECT_THROW(plain_text(std::string("\xfe\xff\0a", 4), "f"), Error);
  EXPECT_THROW(plain_text(std::string("\0\0\xfe\xff", 4), "f"), Error);
}

}  // namespace
}  // namespace rlgo
