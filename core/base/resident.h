// Memory of this process.
#pragma once

#include <cstddef>

namespace rlgo {

// The most that was ever resident at once, bytes.
double peak_resident_bytes();
inline constexpr size_t kKeptFreed = size_t{256} << 20;
// From the first call on, up to `bytes` (below 2 GB) of what is freed stay with the process, in blocks of any size: for
// code that takes and gives back megabytes many times a second, of which the system clears each page anew. Only the
// first call counts. Where the C library is not glibc, nothing.
void keep_freed_memory(size_t bytes = kKeptFreed);

}  // namespace rlgo
