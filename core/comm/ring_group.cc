#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/comm/device_group.h"

namespace rlgo::comm {
namespace {

constexpr size_t kShortBytes = 8192;  // up to here each sends to each

class RingGroup : public DeviceGroup {
 public:
  RingGroup(Mailbox& mailbox, std::vector<int> ranks, GroupOptions options)
      : mailbox_(mailbox), ranks_(std::move(ranks)), options_(std::move(options)) {
    const auto self = std::find(ranks_.begin(), ranks_.end(), mailbox_.rank());
    if (self == ranks_.end()) fail("group of {} ranks: rank {} is no member", ranks_.size(), mailbox_.rank());
    place_ = static_cast<size_t>(self - ranks_.begin());
  }
  int size() const override { return static_cast<int>(ranks_.size()); }
  bool on_gpu() const override { return false; }
  std::string name() const override {
    return fmt::format("ring of {} ranks on the CPU{}{}", ranks_.size(), options_.transport.empty() ? "" : ", through ",
                       options_.transport);
  }

  void begin_sum(void* data, size_t count, Number type) override {
    if (type == Number::f32) {
      sum(static_cast<float*>(data), count);
    } else {
      sum(static_cast<double*>(data), count);
    }
  }
  void wait() override {}

 private:
  template <typename T>
  void sum(T* data, size_t count) {
    if (ranks_.size() == 1) return;
    if (count * sizeof(T) <= kShortBytes) {
      sum_directly(data, count);
    } else {
      sum_around(data, count);
    }
  }

  // All add in the same order, so that rounding is the same everywhere.
  template <typename T>
  void sum_directly(T* data, size_t count) {
    const std::string own = bytes_of(data, count);
    for (size_t place = 0; place < ranks_.size(); ++place) {
      if (place != place_) mailbox_.send(ranks_[place], Tag::reduce, own);
    }
    std::vector<T> total(count);
    for (size_t place = 0; place < ranks_.size(); ++place) {
      const auto values = place == place_ ? std::vector<T>(data, data + count) : receive<T>(ranks_[place], count);
      for (size_t i = 0; i < count; ++i) total[i] = place == 0 ? values[i] : total[i] + values[i];
    }
    std::copy(total.begin(), total.end(), data);
  }

  template <typename T>
  void sum_around(T* data, size_t count) {
    const size_t n = ranks_.size();
    // Step k of the first round: piece p - k leaves rank p, which adds its own to piece p - k - 1.
    for (size_t k = 0; k + 1 < n; ++k) {
      send_piece(data, count, (place_ + n - k) % n);
      receive_piece(data, count, (place_ + 2 * n - k - 1) % n, true);
    }
    // Rank p holds the sum of piece p + 1 now.
    for (size_t k = 0; k + 1 < n; ++k) {
      send_piece(data, count, (place_ + 1 + n - k) % n);
      receive_piece(data, count, (place_ + n - k) % n, false);
    }
  }

  size_t begin_of(size_t piece, size_t count) const {
    return count / ranks_.size() * piece + std::min(piece, count % ranks_.size());
  }

  template <typename T>
  static std::string bytes_of(const T* data, size_t count) {
    std::string bytes(count * sizeof(T), '\0');
    if (count > 0) std::memcpy(bytes.data(), data, bytes.size());
    return bytes;
  }

  template <typename T>
  void send_piece(const T* data, size_t count, size_t piece) {
    const size_t begin = begin_of(piece, count);
    mailbox_.send(ranks_[(place_ + 1) % ranks_.size()], Tag::reduce,
                  bytes_of(data + begin, begin_of(piece + 1, count) - begin));
  }

  template <typename T>
  void receive_piece(T* data, size_t count, size_t piece, bool add) {
    const size_t begin = begin_of(piece, count);
    const int left = ranks_[(place_ + ranks_.size() - 1) % ranks_.size()];
    const auto values = receive<T>(left, begin_of(piece + 1, count) - begin);
    for (size_t i = 0; i < values.size(); ++i) data[begin + i] = add ? data[begin + i] + values[i] : values[i];
  }

  template <typename T>
  std::vector<T> receive(int from, size_t count) {
    const std::string bytes = next_from(from);
    if (bytes.size() != count * sizeof(T))
      fail("all-reduce: {} bytes from rank {} in place of {}: the ranks' buffers differ in size", bytes.size(), from,
           count * sizeof(T));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  std::string next_from(int from) {
    const Stopwatch watch;
    for (;;) {
      if (auto message = mailbox_.take(Tag::reduce, from)) return std::move(message->payload);
      for (int rank : ranks_) {
        if (auto message = mailbox_.take(Tag::stop, rank)) fail("learner rank {} ended: {}", rank, message->payload);
      }
      if (watch.seconds() > options_.timeout_s)
        throw NoAnswer(fmt::format("learner rank {} did not answer within {} s", from, options_.timeout_s));
      mailbox_.wait(0.3);  // what is waited for is on its way: no long sleeps
    }
  }

  Mailbox& mailbox_;
  std::vector<int> ranks_;
  GroupOptions options_;
  size_t place_ = 0;
};

}  // namespace

std::unique_ptr<DeviceGroup> ring_group(Mailbox& mailbox, std::vector<int> ranks, GroupOptions options) {
  return std::make_unique<RingGroup>(mailbox, std::move(ranks), std::move(options));
}

}  // namespace rlgo::comm
