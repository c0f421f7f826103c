#include "core/base/resident.h"

#include <malloc.h>
#include <sys/resource.h>

#include <mutex>

namespace rlgo {

double peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

void keep_freed_memory([[maybe_unused]] size_t bytes) {
#ifdef __GLIBC__
  static std::once_flag once;
  std::call_once(once, [bytes] {
    mallopt(M_TRIM_THRESHOLD, static_cast<int>(bytes));
    mallopt(M_MMAP_MAX, 0);  // blocks of a mapping of their own always go back
  });
#endif
}

}  // namespace rlgo
