#include "core/base/resident.h"

#include <sys/resource.h>

namespace rlgo {

double peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

}  // namespace rlgo
