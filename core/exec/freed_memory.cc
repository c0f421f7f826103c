#include "core/exec/freed_memory.h"

#include <malloc.h>

#include <mutex>

namespace rlgo::exec {
namespace {

constexpr int kUsualMaps = 65536, kMappedBytes = 32 << 20, kUsualTrimBytes = 128 << 20;

std::mutex setting_mutex;
bool is_kept = false;

}  // namespace

void keep_freed_memory() {
  const std::scoped_lock lock(setting_mutex);
  if (is_kept) return;
  is_kept = mallopt(M_MMAP_MAX, 0) == 1 && mallopt(M_TRIM_THRESHOLD, -1) == 1;
}

void return_freed_memory() {
  const std::scoped_lock lock(setting_mutex);
  if (!is_kept) return;
  mallopt(M_MMAP_MAX, kUsualMaps);
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  mallopt(M_TRIM_THRESHOLD, kUsualTrimBytes);
  malloc_trim(0);
  is_kept = false;
}

}  // namespace rlgo::exec
