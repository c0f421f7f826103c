// Memory of this process.
#pragma once

namespace rlgo {

// The most that was ever resident at once, bytes.
double peak_resident_bytes();

}  // namespace rlgo
