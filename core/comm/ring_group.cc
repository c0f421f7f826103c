#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/comm/device_group.h"

namespace rlgo::comm {
namespace {

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

  void all_reduce_sum(float* data, size_t count) override {
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

 private:
  size_t begin_of(size_t piece, size_t count) const {
    return count / ranks_.size() * piece + std::min(piece, count % ranks_.size());
  }

  void send_piece(const float* data, size_t count, size_t piece) {
    const size_t begin = begin_of(piece, count);
    const size_t size = begin_of(piece + 1, count) - begin;
    std::string bytes(size * sizeof(float), '\0');
    if (size > 0) std::memcpy(bytes.data(), data + begin, bytes.size());
    mailbox_.send(ranks_[(place_ + 1) % ranks_.size()], Tag::reduce, std::move(bytes));
  }

  void receive_piece(float* data, size_t count, size_t piece, bool add) {
    const size_t begin = begin_of(piece, count);
    const size_t size = begin_of(piece + 1, count) - begin;
    const std::string bytes = next_from_left();
    if (bytes.size() != size * sizeof(float))
      fail("all-reduce: {} bytes from rank {} in place of {}: the ranks' buffers differ in size", bytes.size(), left(),
           size * sizeof(float));
    std::vector<float> values(size);
    if (size > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    for (size_t i = 0; i < size; ++i) data[begin + i] = add ? data[begin + i] + values[i] : values[i];
  }

  int left() const { return ranks_[(place_ + ranks_.size() - 1) % ranks_.size()]; }

  std::string next_from_left() {
    const Stopwatch watch;
    for (;;) {
      if (auto message = mailbox_.take(Tag::reduce, left())) return std::move(message->payload);
      if (watch.seconds() > options_.timeout_s)
        fail("all-reduce: rank {} did not answer within {} s", left(), options_.timeout_s);
      mailbox_.wait(5);
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
