#include "core/base/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"

namespace rlgo {
namespace {

std::string refusal(const std::filesystem::path& path) {
  try {
    const FileLock lock(path, "the run");
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(FileLock, ASecondHolderIsRefusedWithTheFirstOnesName) {
  const TemporaryFolder folder("rlgo-lock");
  const auto path = folder.path() / "run.lock";
  const FileLock lock(path, "the run");
  ASSERT_TRUE(lock.holds());
  const std::string why = refusal(path);
  EXPECT_NE(why.find("the run: host " + host_name() + ", process " + std::to_string(::getpid())), std::string::npos)
      << why;
}

TEST(FileLock, IsFreeAgainWhenItsHolderIsGone) {
  const TemporaryFolder folder("rlgo-lock");
  const auto path = folder.path() / "run.lock";
  { const FileLock lock(path, "the run"); }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(refusal(path), "");
  FileLock moved;
  moved = FileLock(path, "the run");
  EXPECT_NE(refusal(path), "");
}

TEST(FileLock, AKilledProcessHoldsNothing) {
  const TemporaryFolder folder("rlgo-lock");
  const auto path = folder.path() / "run.lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const FileLock lock(path, "the run");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_NE(read_file(path).find(std::to_string(child)), std::string::npos) << "it had the lock";
  EXPECT_EQ(refusal(path), "");
}

}  // namespace
}  // namespace rlgo
