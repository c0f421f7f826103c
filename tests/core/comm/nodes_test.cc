#include "core/comm/nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rlgo::comm {
namespace {

using testing::ElementsAre;

TEST(OneOfEachNode, LowestOrHighestWhereThereAreEnough) {
  const int nodes[] = {0, 0, 0, 0, 7, 7, 9};
  EXPECT_THAT(one_of_each_node(nodes, 1, 2, Pick::highest), ElementsAre(0, 3, 3, 3, 5, 5, 0));
  EXPECT_THAT(one_of_each_node(nodes, 1, 3, Pick::lowest), ElementsAre(0, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT(one_of_each_node(nodes, 3, 2, Pick::highest), ElementsAre(0, 0, 0, 0, 5, 5, 0));
}

}  // namespace
}  // namespace rlgo::comm
