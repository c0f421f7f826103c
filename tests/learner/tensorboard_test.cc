#include "learner/tensorboard.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"

namespace rlgo::learner {
namespace {

TEST(TensorBoard, Checksums) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);  // RFC 3720
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(TensorBoard, ARowIsOnDiskAtOnce) {
  const TemporaryFolder folder("rlgo-tb");
  TensorBoardFile file(folder.path() / "tb", 1000.5, 0, {{"seed", 3.0}});
  const auto path = std::filesystem::directory_iterator(folder.path() / "tb")->path();
  const size_t before = read_file(path).size();
  file.write({{"steps", int64_t{7}}, {"note", std::string("x")}, {"loss", 0.5}}, 7, 1001);
  const std::string text = read_file(path);
  EXPECT_GT(text.size(), before);
  EXPECT_NE(text.find("loss"), std::string::npos);
  EXPECT_EQ(text.find("note"), std::string::npos);
  EXPECT_EQ(text[0], 24);  // "brain.Event:2" and the time: 15 + 9 bytes
}

TEST(TensorBoard, AFolderThatCannotBeIsAnError) { EXPECT_THROW(TensorBoardFile("/proc/rlgo", 1, 0, {}), Error); }

}  // namespace
}  // namespace rlgo::learner
