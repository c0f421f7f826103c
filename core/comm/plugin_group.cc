#include "core/comm/plugin_group.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace rlgo::comm {
namespace {

constexpr double kLookEveryUs = 1000;  // at the mailbox, which costs system calls
constexpr double kAnnounceS = 2;
constexpr double kSpinUs = 2000;  // most sums are there by then; after it, sleep between looks

class PluginGroup final : public DeviceGroup {
 public:
  PluginGroup(const RlgoNcclPlugin& plugin, Mailbox& mailbox, std::vector<int> ranks, int device, GroupOptions options)
      : plugin_(plugin), mailbox_(mailbox), ranks_(std::move(ranks)), device_(device), options_(std::move(options)) {
    if (std::ranges::count(ranks_, mailbox.rank()) == 0)
      fail("NCCL group of {} ranks: rank {} is no member", ranks_.size(), mailbox.rank());
  }
  void join() {
    const auto place = static_cast<int>(std::ranges::find(ranks_, mailbox_.rank()) - ranks_.begin());
    const auto id = agree_on_id(place == 0);
    const int status = plugin_.begin_init(id.data(), place, size(), device_, &group_, error_.data(), error_.size());
    if (status != kRlgoNcclDone) give_up(status);
    wait_until_done("join", plugin_.poll_begun);
  }
  ~PluginGroup() override {
    if (group_ == nullptr) return;
    // On the way out of an error the others know already, and nobody takes leave.
    broken_ || std::uncaught_exceptions() > exceptions_ ? plugin_.abandon(group_) : plugin_.destroy(group_);
  }
  PluginGroup(const PluginGroup&) = delete;
  PluginGroup& operator=(const PluginGroup&) = delete;

  int size() const override { return static_cast<int>(ranks_.size()); }
  bool on_gpu() const override { return true; }
  std::string name() const override { return fmt::format("NCCL, {} ranks, device {}", size(), device_); }

  // The mailbox belongs to another thread, where backward calls this: it stays untouched.
  void begin_sum(void* data, size_t count, Number type) override {
    check_usable();
    const int status =
        plugin_.begin_sum(group_, data, count, type == Number::f64 ? 1 : 0, error_.data(), error_.size());
    if (status != kRlgoNcclDone) give_up(status);
    wait_until_done("begin a sum", plugin_.poll_begun);
  }
  void wait() override {
    check_usable();
    wait_until_done("sum", plugin_.poll_sums);
  }

 private:
  using Poll = int (*)(void*, char*, size_t);

  std::array<char, kRlgoNcclIdBytes> agree_on_id(bool first) {
    std::array<char, kRlgoNcclIdBytes> id{};
    if (!first) {
      receive_id(id);
      return id;
    }
    if (const int status = plugin_.unique_id(id.data(), error_.data(), error_.size()); status != kRlgoNcclDone)
      give_up(status);
    const std::vector<int> others(ranks_.begin() + 1, ranks_.end());
    for (int rank : others) mailbox_.send(rank, Tag::nccl_id, std::string(id.data(), id.size()));
    mailbox_.flush(options_.timeout_s, others);
    return id;
  }

  void receive_id(std::array<char, kRlgoNcclIdBytes>& id) {
    const Stopwatch watch;
    for (;;) {
      if (auto message = mailbox_.take(Tag::nccl_id, ranks_.front())) {
        if (message->payload.size() != id.size())
          fail("NCCL id of {} bytes from rank {}", message->payload.size(), ranks_.front());
        std::memcpy(id.data(), message->payload.data(), id.size());
        return;
      }
      look_for_stop();
      if (watch.seconds() > options_.timeout_s)
        throw NoAnswer(fmt::format("no NCCL id from rank {} within {} s", ranks_.front(), options_.timeout_s));
      mailbox_.wait(5);
    }
  }

  void look_for_stop() {
    for (int rank : ranks_) {
      if (rank == mailbox_.rank()) continue;
      if (auto message = mailbox_.take(Tag::stop, rank)) {
        broken_ = true;
        fail("learner rank {} ended: {}", rank, message->payload);
      }
    }
  }

  // The mailbox belongs to the thread that made the group; backward may call from another one.
  bool own_thread() const { return std::this_thread::get_id() == thread_; }

  void wait_until_done(const char* what, Poll poll) {
    const Stopwatch watch;
    Stopwatch since_look;
    for (;;) {
      const int status = poll(group_, error_.data(), error_.size());
      if (status == kRlgoNcclDone) return;
      if (status != kRlgoNcclBusy) give_up(status);
      if (watch.seconds() > options_.timeout_s) {
        broken_ = true;
        throw NoAnswer(fmt::format("NCCL on device {}: not all learners came to {} within {} s", device_, what,
                                   options_.timeout_s));
      }
      if (own_thread() && since_look.us() > kLookEveryUs) {
        since_look.restart();
        look_for_stop();
      }
      if (watch.us() < kSpinUs) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  void check_usable() const {
    if (group_ == nullptr || broken_) fail("NCCL on device {}: the group was given up", device_);
  }

  // NCCL may end a communicator only where all ranks do: so the others learn of a failure here before the destructor
  // abandons. A silent rank is not announced: each member notices it, and the first decides.
  [[noreturn]] void give_up(int status) {
    broken_ = true;
    const auto why = fmt::format("NCCL on device {}: {}", device_, error_.data());
    if (status == kRlgoNcclNoAnswer) throw NoAnswer(why);
    if (own_thread()) announce_stop(mailbox_, ranks_, why);
    throw Error(why);
  }

  const RlgoNcclPlugin& plugin_;
  Mailbox& mailbox_;
  std::vector<int> ranks_;
  int device_;
  GroupOptions options_;
  int exceptions_ = std::uncaught_exceptions();
  bool broken_ = false;  // a step failed: what is under way is abandoned at the end
  std::thread::id thread_ = std::this_thread::get_id();
  void* group_ = nullptr;
  std::array<char, 512> error_{};
};

}  // namespace

std::unique_ptr<DeviceGroup> plugin_group(const RlgoNcclPlugin& plugin, Mailbox& mailbox, std::vector<int> ranks,
                                          int device, GroupOptions options) {
  auto group = std::make_unique<PluginGroup>(plugin, mailbox, std::move(ranks), device, std::move(options));
  group->join();
  return group;
}

void announce_stop(Mailbox& mailbox, const std::vector<int>& ranks, const std::string& reason) {
  std::vector<int> others;
  for (const int rank : ranks) {
    if (rank != mailbox.rank()) others.push_back(rank);
  }
  for (const int rank : others) mailbox.send(rank, Tag::stop, reason);
  mailbox.flush(kAnnounceS, others);
}

}  // namespace rlgo::comm
