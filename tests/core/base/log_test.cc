#include "core/base/log.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo {
namespace {

namespace fs = std::filesystem;
const fs::path kFile = fs::path(::testing::TempDir()) / "rlgo_log_test.txt";

TEST(Log, WritesRankLevelAndText) {
  fs::remove(kFile);
  const Log log({.rank = 3, .console = LogLevel::silent, .file = kFile});
  log.info("{} of {}", 1, 2);
  log.warn("careful");
  log.error("100% {{broken}}");
  log.flush();
  const std::string text = read_file(kFile);
  EXPECT_NE(text.find(" [3] info: 1 of 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" [3] warning: careful\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" [3] error: 100% {broken}\n"), std::string::npos) << text;
  fs::remove(kFile);
}

TEST(Log, ConsoleHasItsOwnLevel) {
  ::testing::internal::CaptureStderr();
  const Log log({.rank = 0, .console = LogLevel::warning, .file = {}});
  log.info("quiet");
  log.warn("loud");
  log.flush();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_NE(text.find("[0] warning: loud\n"), std::string::npos);
}

TEST(Log, AppendsToAnOlderFile) {
  fs::remove(kFile);
  for (int i = 0; i < 2; ++i) Log({.console = LogLevel::silent, .file = kFile}).error("line {}", i);
  const std::string text = read_file(kFile);
  EXPECT_NE(text.find("line 0"), std::string::npos);
  EXPECT_NE(text.find("line 1"), std::string::npos);
  fs::remove(kFile);
}

TEST(Log, DefaultOneDropsEverything) {
  ::testing::internal::CaptureStderr();
  const Log log;
  log.error("nothing");
  log.flush();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Log, UnwritableFileIsAnError) {
  EXPECT_THROW(Log({.console = LogLevel::silent, .file = "/proc/none/log.txt"}), Error);
}

TEST(Log, HandsLinesToAFunction) {
  std::vector<std::string> lines;
  const Log log([&](LogLevel level, std::string_view text) {
    lines.push_back((level == LogLevel::warning ? "warning " : "other ") + std::string(text));
  });
  log.warn("{} %", 5);
  log.info("plain");
  EXPECT_EQ(lines, (std::vector<std::string>{"warning 5 %", "other plain"}));
}

}  // namespace
}  // namespace rlgo
