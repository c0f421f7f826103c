#include "core/base/watchdog.h"

#include <chrono>
#include <cstdlib>
#include <utility>

namespace rlgo {

Watchdog::Watchdog(double max_s, int status, std::function<void()> last_words)
    : thread_([this, max_s, status, last_words = std::move(last_words)] { watch(max_s, status, last_words); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::watch(double max_s, int status, const std::function<void()>& last_words) {
  std::unique_lock lock(mutex_);
  if (wake_.wait_for(lock, std::chrono::duration<double>(max_s), [this] { return over_; })) return;
  std::thread([status] {
    std::this_thread::sleep_for(std::chrono::duration<double>(kLastWordsS));
    std::_Exit(status);
  }).detach();
  last_words();
  std::_Exit(status);
}

}  // namespace rlgo
