#include "core/base/status_line.h"

#include <gtest/gtest.h>

#include <vector>

namespace rlgo {
namespace {

TEST(StatusLine, HandsTextsToAFunction) {
  std::vector<std::string> texts;
  StatusLine line([&](const std::string& text) { texts.push_back(text); });
  line.clear();  // nothing was shown
  line.show("one");
  line.show("too soon");
  line.show("two", true);
  line.clear();
  EXPECT_EQ(texts, (std::vector<std::string>{"one", "two", ""}));
}

}  // namespace
}  // namespace rlgo
