// Places that a program writes to: what atomic_write and atomic_create (file.h) do with links and devices.
//
// A link stays one: what it points to is written. What is no file (a pipe, a terminal, /dev/null, /dev/stdout) is
// written to, and never replaced by a file.
#pragma once

#include <filesystem>

namespace rlgo {

// Throws Error where atomic_write(path) could not begin: `path` is a folder, its folder is missing or not writable. For
// the time before long work.
void check_destination(const std::filesystem::path& path);

// Opens /dev/null for those of standard input, output and error that are closed, so that no file gets their number and
// finds text written into it. For the beginning of a program.
void keep_standard_streams();
// Writes out what is still held back. False, and a line on standard error, where standard output took not all of it (a
// full disk); a reader that has gone is no failure. For the end of a program.
bool flush_standard_streams();

}  // namespace rlgo
