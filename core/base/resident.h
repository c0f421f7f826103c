// Memory of this process.
#pragma once

namespace rlgo {

// The most that was ever resident at once, bytes.
double peak_resident_bytes();
// From the first call on, up to 256 MB of what is freed stay with the process: for code that takes and gives back
// megabytes many times a second, of which the system clears each page again. Where the C library is not glibc, nothing.
void keep_freed_memory();

}  // namespace rlgo
