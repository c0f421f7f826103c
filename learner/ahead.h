// What is used one after the other, made before its turn: the host joins batches while a GPU computes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace rlgo::learner {

template <typename T>
class Ahead {
 public:
  // make() gives the next item, or nothing behind the last. With a thread of its own it runs there, as soon as the item
  // before is taken: at most one is ready. Without, next() calls it.
  Ahead(bool thread, std::function<std::optional<T>()> make) : make_(std::move(make)) {
    if (thread) thread_ = std::thread([this] { work(); });
  }
  ~Ahead() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // The next item; throws what make() threw. `between` is called from time to time while it is waited for.
  std::optional<T> next(const std::function<void()>& between = {}) {
    if (!thread_.joinable()) return make_();
    std::unique_lock lock(mutex_);
    while (!ready_) {
      changed_.wait_for(lock, std::chrono::milliseconds(1));
      if (ready_ || !between) continue;
      lock.unlock();
      between();
      lock.lock();
    }
    if (error_) std::rethrow_exception(error_);
    if (!item_) return {};  // and so ever after
    ready_ = false;
    auto item = std::exchange(item_, {});
    changed_.notify_all();
    return item;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return over_ || !ready_; });
      if (over_) return;
      lock.unlock();
      std::optional<T> item;
      std::exception_ptr error;
      try {
        item = make_();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      item_ = std::move(item);
      error_ = error;
      ready_ = true;
      changed_.notify_all();
      if (!item_) return;
    }
  }

  std::function<std::optional<T>()> make_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::optional<T> item_;
  std::exception_ptr error_;
  bool ready_ = false, over_ = false;
  std::thread thread_;
};

}  // namespace rlgo::learner
