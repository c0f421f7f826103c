#include "core/graph/text.h"

#include <gtest/gtest.h>

#include "core/zoo/zoo.h"

namespace rlgo::zoo {
namespace {

TEST(ZooText, EveryGraphComesBackFromText) {
  for (const auto& name : names()) {
    const auto graph = make(name, {.batch = 2, .seed = 9});
    const std::string text = graph::to_text(graph);
    const auto copy = graph::from_text(text);
    copy.validate();
    EXPECT_EQ(copy.hash(), graph.hash()) << name;
    EXPECT_EQ(graph::to_text(copy), text) << name;
  }
}

}  // namespace
}  // namespace rlgo::zoo
