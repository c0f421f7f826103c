// Ends a process that hangs.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace rlgo {

// Where it still lives after max_s seconds: calls `last_words` in a thread of its own and ends the process with
// `status`, after kLastWordsS at the latest, as `last_words` may hang too.
class Watchdog {
 public:
  static constexpr double kLastWordsS = 2;
  Watchdog(double max_s, int status, std::function<void()> last_words);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(double max_s, int status, const std::function<void()>& last_words);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace rlgo
