#include <deque>
#include <mutex>

#include "core/base/error.h"
#include "core/comm/comm.h"

namespace rlgo::comm {
namespace {

// The in-trays of all ranks; the ranks share them.
struct Tray {
  std::mutex mutex;
  std::deque<Packet> packets;
};
struct Trays {
  explicit Trays(int size) : of(static_cast<size_t>(size)) {}
  std::vector<Tray> of;
};

class LocalComm : public Comm {
 public:
  LocalComm(std::shared_ptr<Trays> trays, int rank, int size) : trays_(std::move(trays)), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(int to, Bytes bytes, size_t offset, size_t size) override {
    if (to < 0 || to >= size_) fail("message to rank {}, but there are ranks 0..{}", to, size_ - 1);
    if (size > kMaxPacketBytes) fail("packet of {} bytes, at most {} are possible", size, kMaxPacketBytes);
    Packet packet{rank_, bytes->substr(offset, size)};
    Tray& tray = trays_->of[static_cast<size_t>(to)];
    const std::lock_guard lock(tray.mutex);
    tray.packets.push_back(std::move(packet));
  }
  std::optional<Packet> try_receive() override {
    Tray& tray = trays_->of[static_cast<size_t>(rank_)];
    const std::lock_guard lock(tray.mutex);
    if (tray.packets.empty()) return std::nullopt;
    Packet packet = std::move(tray.packets.front());
    tray.packets.pop_front();
    return packet;
  }
  size_t pending_bytes(int) const override { return 0; }
  bool close(double, int) override { return true; }
  std::string name() const override {
    return size_ == 1 ? "one process" : fmt::format("one process ({} ranks)", size_);
  }

 private:
  std::shared_ptr<Trays> trays_;
  int rank_;
  int size_;
};

}  // namespace

std::vector<std::unique_ptr<Comm>> local_comms(int size) {
  if (size < 1) fail("a group of {} ranks", size);
  auto trays = std::make_shared<Trays>(size);
  std::vector<std::unique_ptr<Comm>> comms;
  for (int rank = 0; rank < size; ++rank) comms.push_back(std::make_unique<LocalComm>(trays, rank, size));
  return comms;
}

std::unique_ptr<Comm> self_comm() { return std::move(local_comms(1).front()); }

}  // namespace rlgo::comm
