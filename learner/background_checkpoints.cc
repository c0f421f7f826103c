#include "learner/background_checkpoints.h"

#include <utility>

#include "core/base/error.h"
#include "replay/h5.h"

namespace rlgo::learner {

BackgroundCheckpoints::BackgroundCheckpoints(std::filesystem::path folder, int keep_last,
                                             const std::map<std::string, std::string>& before)
    : folder_(std::move(folder), keep_last, before) {
  if (replay::h5::has_threads()) thread_ = std::thread([this] { work(); });
}

BackgroundCheckpoints::~BackgroundCheckpoints() {
  try {
    close();
  } catch (const std::exception&) {
    // Nobody is left to inform; earlier files are whole.
  }
}

void BackgroundCheckpoints::save(Checkpoint checkpoint, int64_t number, std::optional<double> score) {
  if (number < 0) fail("checkpoints: number {}", number);
  if (!thread_.joinable()) {
    rethrow();
    folder_.save(std::move(checkpoint), number, score);
    return;
  }
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return error_ || !waiting_; });
  rethrow();
  waiting_.emplace(Snapshot{std::move(checkpoint), number, score});
  work_.notify_one();
}

void BackgroundCheckpoints::close() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    work_.notify_one();
    thread_.join();
  }
  rethrow();
}

void BackgroundCheckpoints::rethrow() {
  if (error_) std::rethrow_exception(error_);
}

void BackgroundCheckpoints::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return ending_ || waiting_; });
    if (!waiting_) return;
    Snapshot snapshot = std::move(*std::exchange(waiting_, {}));
    room_.notify_one();
    lock.unlock();
    std::exception_ptr error;
    try {
      folder_.save(std::move(snapshot.checkpoint), snapshot.number, snapshot.score);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (!error) continue;
    error_ = error;
    room_.notify_one();
    return;
  }
}

}  // namespace rlgo::learner
