// Which rlgo this is.
#pragma once

namespace rlgo::launch {

extern const char* const kVersion;   // "0.2.0"
extern const char* const kRevision;  // git revision of the sources, "unknown" outside a checkout

}  // namespace rlgo::launch
