// The file that keeps what came of proofs.
#include "core/rulegen/generate/generate_settled.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo::rulegen {
namespace {

std::filesystem::path scratch(const char* name) {
  const auto path = std::filesystem::temp_directory_path() / (std::string("rlgo_settled_") + name);
  std::filesystem::remove(path);
  return path;
}

TEST(SettledFile, ComesBackAsItWas) {
  const auto path = scratch("back");
  SettledFile(path).add(17, {true, "rule a\n\t\\b\n", "", "why", "floats, ranks to 4", {"relu-relu", "add-zero"}});
  const auto held = SettledFile(path).find(17);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->text, "rule a\n\t\\b\n");
  EXPECT_EQ(held->scope, "floats, ranks to 4");
  EXPECT_EQ(held->axioms, (std::vector<std::string>{"relu-relu", "add-zero"}));
  EXPECT_FALSE(SettledFile(path).find(18));
}

TEST(SettledFile, ALineThatWasCutOffIsForgotten) {
  const auto path = scratch("cut");
  SettledFile(path).add(1, {true, "a", "", "", "", {}});
  atomic_write(path, read_file(path) + "2\t1\tb");
  SettledFile again(path);
  EXPECT_EQ(again.size(), 1u);
  again.add(3, {});
  EXPECT_EQ(SettledFile(path).size(), 2u);
}

TEST(SettledFile, DamageIsNamed) {
  const auto path = scratch("damage");
  atomic_write(path, "no such line\n");
  EXPECT_THROW(SettledFile{path}, Error);
}

}  // namespace
}  // namespace rlgo::rulegen
