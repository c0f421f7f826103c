#include "replay/background_writer.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "replay/h5.h"

namespace rlgo::replay {

BackgroundWriter::BackgroundWriter(std::filesystem::path folder, StoreHeader header, WriterOptions options,
                                   size_t most_waiting)
    : writer_(std::move(folder), std::move(header), options), most_waiting_(most_waiting) {
  RLGO_CHECK(most_waiting >= 1);
  if (h5::has_threads()) thread_ = std::thread([this] { work(); });
}

BackgroundWriter::~BackgroundWriter() {
  try {
    close();
  } catch (const std::exception&) {
    // Nobody is left to inform; parts written earlier are whole.
  }
}

void BackgroundWriter::append(std::shared_ptr<const mdp::CodedTrajectory> trajectory) {
  if (!thread_.joinable()) return write(trajectory, {});
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return error_ || waiting_.size() < most_waiting_; });
  rethrow();
  waiting_.push_back(std::move(trajectory));
  work_.notify_one();
}

void BackgroundWriter::tick(double now_seconds) {
  if (!thread_.joinable()) return write(nullptr, now_seconds);
  const std::lock_guard lock(mutex_);
  rethrow();
  now_seconds_ = now_seconds;  // looked at when the thread wakes, at least ten times a second
}

void BackgroundWriter::close() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    work_.notify_one();
    thread_.join();
  }
  rethrow();
  writer_.close();
  parts_ = writer_.parts_written();
}

int64_t BackgroundWriter::parts_written() const {
  const std::lock_guard lock(mutex_);
  return parts_;
}

double BackgroundWriter::cpu_us() const {
  const std::lock_guard lock(mutex_);
  return cpu_us_;
}

void BackgroundWriter::rethrow() {
  if (error_) std::rethrow_exception(error_);
}

void BackgroundWriter::write(const std::shared_ptr<const mdp::CodedTrajectory>& trajectory,
                             std::optional<double> now_seconds) {
  if (trajectory) writer_.append(*trajectory);
  if (now_seconds) writer_.tick(*now_seconds);
}

void BackgroundWriter::work() {
  const ThreadStopwatch cpu;
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait_for(lock, std::chrono::milliseconds(100), [this] { return ending_ || !waiting_.empty(); });
    if (ending_ && waiting_.empty()) return;
    auto batch = std::exchange(waiting_, {});
    const auto now = std::exchange(now_seconds_, {});
    room_.notify_one();
    lock.unlock();
    std::exception_ptr error;
    try {
      for (const auto& trajectory : batch) write(trajectory, {});
      write(nullptr, now);
    } catch (...) {
      error = std::current_exception();
    }
    batch.clear();
    lock.lock();
    parts_ = writer_.parts_written();
    cpu_us_ = cpu.us();
    if (!error) continue;
    error_ = error;
    room_.notify_one();
    return;
  }
}

}  // namespace rlgo::replay
