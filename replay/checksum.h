// A checksum in front of an HDF5 file: its first 512 bytes (HDF5's "user block", which HDF5 readers skip) are a short
// text with the kind, the size and a hash of all that follows. A truncated, altered or foreign file is found out before
// a byte of it is interpreted; `head -c 512 FILE` shows what a file is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rlgo::replay {

constexpr size_t kChecksumBytes = 512;

// Writes the checksum into the first kChecksumBytes of `file`, a whole HDF5 file with a user block. `kind` is one word.
void add_checksum(std::string& file, std::string_view kind);
// Throws Error that names the path and the reason where the file is missing, of another kind, truncated or altered.
// Reads the whole file once, in blocks.
void verify_checksum(const std::filesystem::path& path, std::string_view kind);

}  // namespace rlgo::replay
