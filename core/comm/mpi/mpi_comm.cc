#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <list>
#include <thread>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/watchdog.h"
#include "core/comm/mpi/mpi_comm.h"

namespace rlgo::comm {
namespace {

constexpr int kTag = 1;
// Receives that are under way at once, over all senders: bounds the memory that peers can make this rank allocate.
constexpr size_t kMaxReceives = 64;
constexpr size_t kMaxReceiveBytes = size_t{512} << 20;
// What arrives in a few pieces: it is there a look or two later, however soon one looks.
constexpr size_t kShortBytes = size_t{256} << 10;

struct Sending {
  MPI_Request request = MPI_REQUEST_NULL;
  size_t size = 0;
  Bytes bytes;
};

struct Receiving {
  MPI_Request request = MPI_REQUEST_NULL;
  Packet packet;
  bool done = false;
  bool broken = false;
};

class MpiComm : public Comm {
 public:
  MpiComm(int* argc, char*** argv) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized) fail("MPI is initialised already: one mpi_comm() per process");
    int provided = 0;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) fail("MPI_Init_thread failed");
    if (provided < MPI_THREAD_FUNNELED) fail("this MPI library does not allow threads (MPI_THREAD_FUNNELED is needed)");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    pending_to_.resize(static_cast<size_t>(size_));
    sends_.resize(static_cast<size_t>(size_));
    forgotten_.resize(static_cast<size_t>(size_));
    find_nodes();
  }
  ~MpiComm() override {
    if (!closed_) MpiComm::close(10, 1);
  }
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name() const override { return fmt::format("MPI ({} ranks)", size_); }

  void send(int to, Bytes bytes, size_t offset, size_t size) override {
    if (to < 0 || to >= size_) fail("message to rank {}, but there are ranks 0..{}", to, size_ - 1);
    if (size > kMaxPacketBytes) fail("packet of {} bytes, at most {} are possible", size, kMaxPacketBytes);
    RLGO_CHECK(!closed_);
    auto& queue = sends_[static_cast<size_t>(to)];
    const bool idle = queue.empty();
    Sending& sending = queue.emplace_back();
    const int status =
        MPI_Isend(bytes->data() + offset, static_cast<int>(size), MPI_BYTE, to, kTag, MPI_COMM_WORLD, &sending.request);
    if (status != MPI_SUCCESS) {
      queue.pop_back();
      return;
    }
    if (idle) sending_to_.push_back(to);
    sending.size = size;
    sending.bytes = std::move(bytes);
    pending_to_[static_cast<size_t>(to)] += size;
    pending_ += size;
  }

  std::optional<Packet> try_receive() override {
    if (closed_) return std::nullopt;
    // What has arrived with the last look is handed out before the next one.
    if (auto packet = take_received()) return packet;
    reap_sends();
    start_receives();
    test_receives();
    return take_received();
  }

  std::vector<int> nodes() const override { return nodes_; }

  size_t pending_bytes(int to) const override { return to < 0 ? pending_ : pending_to_.at(static_cast<size_t>(to)); }

  bool receiving() const override { return receiving_bytes_ > kShortBytes; }

  void forget(int rank) override { set_forgotten(rank, true); }
  void remember(int rank) override { set_forgotten(rank, false); }

  bool close(double max_s, int status) override {
    if (closed_) return true;
    closed_ = true;
    const bool all = barrier(max_s);
    // This actor failed, alone: the others continue without it, as if it had been killed.
    if (!all && rank_ != 0 && status != 0) std::_Exit(status);
    {
      // MPI allows its main thread alone, so the abort may hang: the watchdog does not wait for it.
      const Watchdog watchdog(max_s + (rank_ == 0 ? 1 : 4), status, [status] { MPI_Abort(MPI_COMM_WORLD, status); });
      MPI_Finalize();
    }
    return all;
  }

 private:
  // All ranks together, once, at the start. A node has the number of its lowest rank.
  void find_nodes() {
    MPI_Comm node = MPI_COMM_NULL;
    int first = rank_;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
      MPI_Bcast(&first, 1, MPI_INT, 0, node);
      MPI_Comm_free(&node);
    }
    nodes_.resize(static_cast<size_t>(size_));
    MPI_Allgather(&first, 1, MPI_INT, nodes_.data(), 1, MPI_INT, MPI_COMM_WORLD);
  }

  // Each test makes MPI look at all it has under way. So of each receiver only the oldest send is tested, and those of
  // all receivers at once, until none of them has left.
  void reap_sends() {
    for (bool any = true; any && !sending_to_.empty();) {
      requests_.clear();
      for (int to : sending_to_) requests_.push_back(sends_[static_cast<size_t>(to)].front().request);
      any = test_some();
      for (int i : done_) leave(sending_to_[static_cast<size_t>(i)]);
      std::erase_if(sending_to_, [this](int to) { return sends_[static_cast<size_t>(to)].empty(); });
    }
  }

  // The oldest send to this rank is over, well or not.
  void leave(int to) {
    auto& queue = sends_[static_cast<size_t>(to)];
    pending_to_[static_cast<size_t>(to)] -= queue.front().size;
    pending_ -= queue.front().size;
    queue.pop_front();
  }

  // Tests requests_; done_: places of those that are over, broken_: whether each of these failed. Whether there is any.
  bool test_some() {
    int count = 0;
    const int all = static_cast<int>(requests_.size());
    done_.resize(requests_.size());
    statuses_.resize(requests_.size());
    broken_.clear();
    const int status = MPI_Testsome(all, requests_.data(), &count, done_.data(), statuses_.data());
    done_.resize(count == MPI_UNDEFINED ? 0 : static_cast<size_t>(count));
    for (size_t i = 0; i < done_.size(); ++i)
      broken_.push_back(status == MPI_ERR_IN_STATUS && statuses_[i].MPI_ERROR != MPI_SUCCESS &&
                        statuses_[i].MPI_ERROR != MPI_ERR_PENDING);
    return !done_.empty();
  }

  void start_receives() {
    while (receiving_ < kMaxReceives && receiving_bytes_ < kMaxReceiveBytes) {
      int found = 0;
      MPI_Message message;
      MPI_Status status;
      if (MPI_Improbe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &found, &message, &status) != MPI_SUCCESS || !found) return;
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      Receiving& receiving = receives_.emplace_back();
      receiving.packet.source = status.MPI_SOURCE;
      receiving.packet.bytes.resize(static_cast<size_t>(count));
      count_receive(receiving, 1);
      if (MPI_Imrecv(receiving.packet.bytes.data(), count, MPI_BYTE, &message, &receiving.request) != MPI_SUCCESS) {
        receiving.done = receiving.broken = true;
      }
    }
  }

  // Those of forgotten ranks do not count.
  void count_receive(const Receiving& receiving, int sign) {
    if (forgotten_[static_cast<size_t>(receiving.packet.source)]) return;
    receiving_ += static_cast<size_t>(sign);
    receiving_bytes_ += static_cast<size_t>(sign) * receiving.packet.bytes.size();
  }

  void set_forgotten(int rank, bool forgotten) {
    if (forgotten_.at(static_cast<size_t>(rank)) == forgotten) return;
    const auto count = [&](int sign) {
      for (const auto& receiving : receives_) {
        if (receiving.packet.source == rank) count_receive(receiving, sign);
      }
    };
    if (forgotten) count(-1);
    forgotten_[static_cast<size_t>(rank)] = forgotten;
    if (!forgotten) count(1);
  }

  // Tests the receives that are under way, of each sender the oldest (a test of all costs MPI as much as one of one).
  void test_receives() {
    requests_.clear();
    tested_.clear();
    std::vector<int> senders;
    for (auto& receiving : receives_) {
      const int source = receiving.packet.source;
      if (std::find(senders.begin(), senders.end(), source) != senders.end()) continue;
      senders.push_back(source);
      if (receiving.done) continue;
      requests_.push_back(receiving.request);
      tested_.push_back(&receiving);
    }
    if (requests_.empty() || !test_some()) return;
    for (size_t i = 0; i < done_.size(); ++i) {
      Receiving& receiving = *tested_[static_cast<size_t>(done_[i])];
      receiving.done = true;
      receiving.broken = broken_[i];
    }
  }

  // The first whole packet that no earlier packet of the same sender stands before.
  std::optional<Packet> take_received() {
    std::vector<int> waiting;
    for (auto it = receives_.begin(); it != receives_.end();) {
      const bool first = std::find(waiting.begin(), waiting.end(), it->packet.source) == waiting.end();
      if (!it->done || !first) {
        waiting.push_back(it->packet.source);
        ++it;
        continue;
      }
      count_receive(*it, -1);
      Packet packet = std::move(it->packet);
      const bool broken = it->broken;
      it = receives_.erase(it);
      if (!broken) return packet;
    }
    return std::nullopt;
  }

  bool barrier(double max_s) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
    const Stopwatch watch;
    for (;;) {
      int done = 0;
      if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
      if (done) return true;
      if (watch.seconds() > max_s) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  int rank_ = 0;
  int size_ = 1;
  std::vector<int> nodes_;  // [size_]
  bool closed_ = false;
  std::vector<std::deque<Sending>> sends_;  // to each rank
  std::vector<int> sending_to_;             // ranks that something is on its way to
  std::list<Receiving> receives_;
  std::vector<size_t> pending_to_;
  size_t pending_ = 0;
  std::vector<bool> forgotten_;  // [size_]
  // Of one test of several requests.
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> done_;
  std::vector<bool> broken_;
  std::vector<Receiving*> tested_;
  size_t receiving_ = 0, receiving_bytes_ = 0;  // under way, from ranks that are not forgotten
};

}  // namespace

std::unique_ptr<Comm> mpi_comm(int* argc, char*** argv) { return std::make_unique<MpiComm>(argc, argv); }

}  // namespace rlgo::comm
