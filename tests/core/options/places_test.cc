#include "core/options/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/base/temporary_folder.h"

namespace rlgo {
namespace {

using testing::HasSubstr;

TEST(Places, FilesThatWouldBeOverwrittenAreNamed) {
  const TemporaryFolder folder("rlgo-test");
  const std::string model = (folder.path() / "m.onnx").string(), rules = (folder.path() / "a.rules").string(),
                    fresh = (folder.path() / "new.json").string();
  std::ofstream(model) << "m";
  std::ofstream(rules) << "r";
  const auto link = (folder.path() / "link").string();
  std::filesystem::create_symlink(model, link);
  EXPECT_THAT(overwritten_file({model, "--json", model}), HasSubstr("--json " + model + ": is the model itself"));
  EXPECT_THAT(overwritten_file({model, "--json=" + link}), HasSubstr("is the model itself"));
  EXPECT_THAT(overwritten_file({"--graph", "toy_mlp," + model, "--csv", model}), HasSubstr("is the model itself"));
  EXPECT_THAT(overwritten_file({"verify", rules, "--json", rules}), HasSubstr("the file that is read"));
  EXPECT_THAT(overwritten_file({"--rules", "base," + rules, "--out", rules}), HasSubstr("is --rules itself"));
  EXPECT_THAT(overwritten_file({model, "-o", fresh, "--report", fresh}), HasSubstr("is --report itself"));
  EXPECT_EQ(overwritten_file({model, "-o", fresh, "--json", "-", "--report", fresh + "2", "--quiet"}), "");
  EXPECT_EQ(overwritten_file({"--graph", "toy_mlp", "--out", "toy_mlp"}), "");  // no such file: a zoo graph
  EXPECT_EQ(overwritten_file({"--json"}), "");
}

TEST(Places, TheDocumentOfAnErrorReplacesDocumentsAlone) {
  const TemporaryFolder folder("rlgo-test");
  const auto file = (folder.path() / "j").string();
  EXPECT_FALSE(holds_other(file));
  std::ofstream(file) << "";
  EXPECT_FALSE(holds_other(file));
  std::ofstream(file) << "{\n  \"schema\": \"rlgo.error/1\",\n";
  EXPECT_FALSE(holds_other(file));
  std::ofstream(file) << "\x01\x02\x03";
  EXPECT_TRUE(holds_other(file));
}

}  // namespace
}  // namespace rlgo
