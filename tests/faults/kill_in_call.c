// For LD_PRELOAD: ends the process by SIGKILL within a chosen call on a chosen file, so that a test stops a program at
// exactly that place. No part of rlgo.
//
//   KILL_CALL   write: half of the bytes of that call are written; fsync: before it; rename: before it; renamed: after it
//   KILL_PATH   what the path holds (of the new name, for rename)
//   KILL_COUNT  the first, second, ... such call (1)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int matches(const char* call, const char* path) {
  static int count = 0;
  const char* wanted = getenv("KILL_CALL");
  const char* part = getenv("KILL_PATH");
  const char* number = getenv("KILL_COUNT");
  if (wanted == NULL || part == NULL || strcmp(wanted, call) != 0 || strstr(path, part) == NULL) return 0;
  return ++count == (number != NULL ? atoi(number) : 1);
}

static int fd_matches(const char* call, int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  if (size <= 0) return 0;
  path[size] = 0;
  return matches(call, path);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  ssize_t (*real)(int, const void*, size_t) = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  if (fd > 2 && fd_matches("write", fd)) {
    if (real(fd, bytes, size / 2) >= 0) kill(getpid(), SIGKILL);
  }
  return real(fd, bytes, size);
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  if (fd_matches("fsync", fd)) kill(getpid(), SIGKILL);
  return real(fd);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  int (*real)(int, const char*, int, const char*, unsigned) =
      (int (*)(int, const char*, int, const char*, unsigned))dlsym(RTLD_NEXT, "renameat2");
  if (matches("rename", to)) kill(getpid(), SIGKILL);
  const int status = real(from_folder, from, to_folder, to, flags);
  if (matches("renamed", to)) kill(getpid(), SIGKILL);
  return status;
}

int rename(const char* from, const char* to) {
  int (*real)(const char*, const char*) = (int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename");
  if (matches("rename", to)) kill(getpid(), SIGKILL);
  const int status = real(from, to);
  if (matches("renamed", to)) kill(getpid(), SIGKILL);
  return status;
}
