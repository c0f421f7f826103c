// One process at a time: a lock on a folder or file, for as long as the process lives.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/error.h"

namespace rlgo {

// A write lock (fcntl, on the open file, so that it also holds between threads and over NFS) on a file of its own that
// names the holder's host and process. The file goes with the lock; where its process dies the file stays, unlocked.
class FileLock {
 public:
  // Somebody else holds it.
  class Taken : public Error {
   public:
    using Error::Error;
  };

  FileLock() = default;  // holds nothing
  // Takes the lock on `path`, which is made where it is missing. Throws Taken that names the holder where another
  // process (or another FileLock of this one) has it, Error where the file cannot be opened. `what` is what is locked,
  // for the message: "runs/r".
  FileLock(const std::filesystem::path& path, const std::string& what);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  // False where the file system has no locks: then nothing keeps other processes out.
  bool holds() const { return holds_; }

 private:
  bool open_and_lock(const std::string& what);
  void release();

  std::filesystem::path path_;
  int file_ = -1;
  bool holds_ = false;
};

}  // namespace rlgo
