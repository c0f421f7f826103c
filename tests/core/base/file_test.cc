#include "core/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/base/destination.h"
#include "core/base/error.h"

namespace rlgo {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / ("rlgo_file_" + std::string(info->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  int files() const {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

template <typename F>
std::string error_of(F&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// Files of this process cannot grow beyond `bytes`, as on a full disk, while this lives.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(FileTest, WritesWholeFilesAndNothingElse) {
  const std::string bytes("a\0b\n", 4);
  atomic_write(folder_ / "x", bytes);
  atomic_write(folder_ / "empty", "");
  EXPECT_EQ(read_file(folder_ / "x"), bytes);
  EXPECT_EQ(read_file(folder_ / "empty"), "");
  EXPECT_EQ(files(), 2);
}

TEST_F(FileTest, ReplacesAnOlderFile) {
  atomic_write(folder_ / "x", "old and longer");
  atomic_write(folder_ / "x", "new");
  EXPECT_EQ(read_file(folder_ / "x"), "new");
}

TEST_F(FileTest, FullDiskKeepsTheOlderFileAndLeavesNoRest) {
  atomic_write(folder_ / "x", "old");
  std::string message;
  {
    FullDisk full(1000);
    message = error_of([&] { atomic_write(folder_ / "x", std::string(5000, 'n')); });
  }
  EXPECT_NE(message.find("cannot write"), std::string::npos) << message;
  EXPECT_NE(message.find((folder_ / "x").string()), std::string::npos) << message;
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, CreatesOnlyNewFiles) {
  EXPECT_TRUE(atomic_create(folder_ / "x", "first"));
  EXPECT_FALSE(atomic_create(folder_ / "x", "second"));
  EXPECT_EQ(read_file(folder_ / "x"), "first");
  EXPECT_EQ(files(), 1);
}

// Two writers of one name, as two runs in one folder would be: neither touches the other's temporary.
TEST_F(FileTest, WritersOfOneNameDoNotMeet) {
  atomic_write(folder_ / "x", [&](const fs::path& outer) {
    atomic_write(folder_ / "x", [&](const fs::path& inner) {
      EXPECT_NE(inner, outer);
      std::ofstream(inner) << "inner";
    });
    std::ofstream(outer) << "outer";
  });
  EXPECT_EQ(read_file(folder_ / "x"), "outer");
}

TEST_F(FileTest, FailingWriterLeavesNothing) {
  const auto writer = [](const fs::path& temporary) {
    std::ofstream(temporary) << "half";
    fail("writer gave up");
  };
  EXPECT_EQ(error_of([&] { atomic_write(folder_ / "x", writer); }), "writer gave up");
  EXPECT_EQ(error_of([&] { atomic_write(folder_ / "y", [](const fs::path&) {}); }).find("no error"), std::string::npos);
  EXPECT_EQ(files(), 0);
}

TEST_F(FileTest, WriterGetsAPathBesideTheTarget) {
  atomic_write(folder_ / "x", [&](const fs::path& temporary) {
    EXPECT_EQ(temporary.parent_path(), folder_);
    EXPECT_NE(temporary, folder_ / "x");
    std::ofstream(temporary) << "whole";
  });
  EXPECT_EQ(read_file(folder_ / "x"), "whole");
}

TEST_F(FileTest, MissingFoldersAndFilesAreErrors) {
  EXPECT_NE(error_of([&] { read_file(folder_ / "none"); }).find("none: cannot open: No such file"), std::string::npos);
  EXPECT_NE(error_of([&] { read_file(folder_); }).find("is a folder"), std::string::npos);
  EXPECT_NE(error_of([&] { atomic_write(folder_ / "none" / "x", "a"); }).find("cannot create"), std::string::npos);
}

// Reading from address 0 of this process fails after a successful open.
TEST(File, ReadErrorsAreNoticed) {
  EXPECT_NE(error_of([] { read_file("/proc/self/mem"); }).find("cannot read"), std::string::npos);
}

TEST_F(FileTest, LinksStayLinks) {
  atomic_write(folder_ / "file", "old");
  fs::create_symlink("file", folder_ / "link");
  atomic_write(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "file"), "new");
}

// A pipe here; it could be /dev/null.
TEST_F(FileTest, WhatIsNoFileIsWrittenToAndNotReplaced) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int fd = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  atomic_write(pipe, "abc");
  atomic_write(pipe, [](const fs::path& temporary) { std::ofstream(temporary) << "de"; });
  std::string got(8, ' ');
  got.resize(static_cast<size_t>(::read(fd, got.data(), got.size())));
  ::close(fd);
  EXPECT_EQ(got, "abcde");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(FileTest, MakesNestedFolders) {
  make_writable_folder(folder_ / "a" / "b");
  make_writable_folder(folder_ / "a" / "b");
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
  EXPECT_TRUE(fs::is_empty(folder_ / "a" / "b"));
}

TEST_F(FileTest, UnwritableFoldersAreErrors) {
  atomic_write(folder_ / "file", "x");
  EXPECT_NE(error_of([&] { make_writable_folder(folder_ / "file"); }).find("cannot create folder"), std::string::npos);
  EXPECT_NE(error_of([&] { make_writable_folder(folder_ / "file" / "a"); }).find("cannot create folder"),
            std::string::npos);
  EXPECT_NE(error_of([] { make_writable_folder("/proc/self"); }).find("not writable"), std::string::npos);
  if (::geteuid() == 0) return;  // who may write everywhere
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(error_of([&] { make_writable_folder(folder_); }).find("not writable"), std::string::npos);
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(FileTest, FullDiskIsAnUnwritableFolder) {
  FullDisk full(0);
  EXPECT_NE(error_of([&] { make_writable_folder(folder_); }).find("not writable"), std::string::npos);
  EXPECT_EQ(files(), 0);
}

TEST_F(FileTest, DestinationsAreTried) {
  check_destination(folder_ / "x");
  check_destination(folder_ / std::string(255, 'x'));
  EXPECT_EQ(files(), 0);
  EXPECT_NE(error_of([] { check_destination("/proc/x.onnx"); }).find("/proc/x.onnx: folder is not writable"),
            std::string::npos);
  EXPECT_NE(error_of([&] { check_destination(folder_ / std::string(256, 'x')); }).find("too long"), std::string::npos);
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_NE(error_of([&] { check_destination(folder_ / "loop"); }).find("cannot be written"), std::string::npos);
  FullDisk full(0);
  EXPECT_NE(error_of([&] { check_destination(folder_ / "x"); }).find("not writable"), std::string::npos);
}

// The temporary's name is no longer than the file's may be.
TEST_F(FileTest, LongNames) {
  const std::string name(255, 'x');
  atomic_write(folder_ / name, "abc");
  EXPECT_EQ(read_file(folder_ / name), "abc");
  EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, StaleTemporariesAreRemoved) {
  std::ofstream(folder_ / "a.tmp-12") << "x";
  std::ofstream(folder_ / "b.h5") << "x";
  // 4194305 is above the largest process id that Linux gives.
  std::ofstream(folder_ / ("a.tmp-" + host_name() + "-4194305-0000abcd")) << "x";
  std::ofstream(folder_ / ("a.tmp-other-" + std::to_string(getpid()) + "-0000abcd")) << "x";
  std::ofstream(folder_ / ("a.tmp-" + host_name() + "-" + std::to_string(getpid()) + "-0000abcd")) << "x";
  EXPECT_EQ(remove_stale_temporaries(folder_, "b"), 0);
  EXPECT_EQ(remove_stale_temporaries(folder_), 3);
  EXPECT_EQ(files(), 2) << "what a living process writes was taken away";
  EXPECT_TRUE(fs::exists(folder_ / "b.h5"));
  EXPECT_EQ(remove_stale_temporaries(folder_ / "none"), 0);
}

}  // namespace
}  // namespace rlgo
