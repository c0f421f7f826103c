#include "core/exec/device_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace rlgo::exec {
namespace {

// A host that hands over a kernel in handing_us, a stream that works on it for kernel_us, in synthetic time.
class FakeClock : public DeviceClock {
 public:
  FakeClock(double handing_us, double kernel_us) : handing_us_(handing_us), kernel_us_(kernel_us) {}
  double host_us() override { return host_; }
  void synchronize() override { host_ = std::max(host_, stream_); }
  void occupy(double us) override {
    for (; us > 0; us -= kProduct_us) queue(std::min(us, kProduct_us));
    ++holds;
  }
  void mark_begin() override { begin_ = std::max(host_, stream_); }
  void mark_end() override { end_ = std::max(host_, stream_); }
  double elapsed_us() override {
    synchronize();
    return end_ - begin_;
  }
  void run(int kernels = 1) {
    for (int i = 0; i < kernels; ++i) {
      host_ += handing_us_;
      queue(kernel_us_);
    }
  }
  int holds = 0;

 private:
  static constexpr double kProduct_us = 300;
  static constexpr size_t kQueue = 1000;  // launches that wait; with one more the host waits for the first
  void queue(double us) {
    while (!ends_.empty() && ends_.front() <= host_) ends_.pop_front();
    if (ends_.size() >= kQueue) {
      host_ = ends_.front();
      ends_.pop_front();
    }
    stream_ = std::max(host_, stream_) + us;
    ends_.push_back(stream_);
  }
  std::deque<double> ends_;
  double handing_us_, kernel_us_;
  double host_ = 0, stream_ = 0, begin_ = 0, end_ = 0;
};

TEST(DeviceClock, AShortKernelIsNotPricedByTheHost) {
  FakeClock clock(10, 2);
  EXPECT_DOUBLE_EQ(device_sample_us(
                       clock, [&] { clock.run(); }, 100),
                   2);
  EXPECT_EQ(clock.holds, 2) << "once to learn how long handing over takes";
}

TEST(DeviceClock, ALongKernelNeedsNoSecondTry) {
  FakeClock clock(10, 500);
  EXPECT_DOUBLE_EQ(device_sample_us(
                       clock, [&] { clock.run(); }, 4),
                   500);
  EXPECT_EQ(clock.holds, 1);
}

// A run of many kernels: more of them than the stream holds would be priced by the host.
TEST(DeviceClock, TheQueueIsNotFull) {
  constexpr int kKernels = 20;
  const auto sample = [](int batch) {
    FakeClock clock(10, 2);
    return device_sample_us(
        clock, [&] { clock.run(kKernels); }, batch);
  };
  EXPECT_DOUBLE_EQ(sample(most_runs(kKernels)), 2 * kKernels);
  EXPECT_GT(sample(500), 3 * kKernels);
  EXPECT_EQ(most_runs(5000), 1);
}

// A host so slow that no hold is long enough: an end, and an upper bound.
TEST(DeviceClock, GivesUpInTheEnd) {
  FakeClock clock(1e5, 2);
  EXPECT_LE(device_sample_us(
                clock, [&] { clock.run(); }, 100),
            1e5);
  EXPECT_LE(clock.holds, 4);
}

}  // namespace
}  // namespace rlgo::exec
