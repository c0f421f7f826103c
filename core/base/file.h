// Files that are either whole or absent: everything rlgo leaves behind is written through these.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlgo {

// The whole file. Throws Error that names the path and the system's reason.
std::string read_file(const std::filesystem::path& path);
// Writes to a temporary next to `path`, fsyncs, renames, fsyncs the folder. On any failure (disk full, no permission)
// throws Error, removes the temporary, and leaves an older file of that name untouched.
void atomic_write(const std::filesystem::path& path, std::string_view bytes);
// The same for writers that need a path themselves (HDF5): `write` gets the temporary's path.
void atomic_write(const std::filesystem::path& path,
                  const std::function<void(const std::filesystem::path& temporary)>& write);
// Like atomic_write, but for a name that is to be new: where `path` exists it stays untouched and false is returned,
// also where another process makes it at the same moment.
bool atomic_create(const std::filesystem::path& path, std::string_view bytes);
bool atomic_create(const std::filesystem::path& path,
                   const std::function<void(const std::filesystem::path& temporary)>& write);
// Creates the folder and its parents, checks that a file can be written in it. Throws Error that names the folder.
void make_writable_folder(const std::filesystem::path& folder);
// Number of temporaries ("STEM*.tmp-*") left by killed processes that were removed from `folder`. Those of a process
// that lives on this machine stay; whether one on another machine lives is not known here, so call it under a lock
// (core/base/file_lock.h).
int remove_stale_temporaries(const std::filesystem::path& folder, std::string_view stem = {});
// Whether a temporary's process lives on this machine. A name that shows no process: false.
bool is_temporary_in_use(const std::filesystem::path& temporary);
// The name of this machine; "?" where the system does not report it.
std::string host_name();
// The running program's own file; empty where the system does not report it.
std::filesystem::path program_path();
// The file that this code was loaded from: the program, or the shared library that rlgo is linked into (an extension
// module of Python). Empty where the system does not report it.
std::filesystem::path code_path();

}  // namespace rlgo
