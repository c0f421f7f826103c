// What rank 0 pays MPI for messages that it looks for (MPI_Improbe, as core/comm/mpi/mpi_comm.cc does) and for such as it
// has preposted receives for (64 of 64 KiB, MPI_Testsome); no part of rlgo. Processor time; the other ranks send, or
// sleep.
//
//   mpicxx -O2 -std=c++20 results/mpi_receive.cc -o /tmp/mpi_receive && mpirun -np 33 /tmp/mpi_receive BYTES PER_SECOND
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

constexpr int kPool = 64, kBytes = 65600, kGo = 1, kLooked = 2, kPosted = 3;
constexpr double kSeconds = 6;

double clock_us(clockid_t which) {
  timespec t{};
  clock_gettime(which, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}
double cpu_us() { return clock_us(CLOCK_THREAD_CPUTIME_ID); }
double wall_us() { return clock_us(CLOCK_MONOTONIC); }

// Until it is over, without keeping the core.
void finish(MPI_Request request) {
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) usleep(500);
  }
}

class Receiver {
 public:
  explicit Receiver(bool posted) : posted_(posted) {
    requests_.fill(MPI_REQUEST_NULL);
    for (auto& buffer : buffers_) buffer.resize(kBytes);
    for (int i = 0; posted_ && i < kPool; ++i) post(i);
  }
  ~Receiver() {
    for (auto& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  void post(int i) {
    MPI_Irecv(buffers_[i].data(), kBytes, MPI_BYTE, MPI_ANY_SOURCE, kPosted, MPI_COMM_WORLD, &requests_[i]);
  }
  // One look; those that came, of which those of one byte are a sender's last.
  int look(int& ends) {
    if (!posted_) start();
    int count = 0;
    MPI_Testsome(kPool, requests_.data(), &count, done_.data(), statuses_.data());
    if (count == MPI_UNDEFINED) count = 0;
    for (int i = 0; i < count; ++i) {
      int bytes = 0;
      MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes);
      ends += bytes == 1;
      if (!posted_) continue;
      const std::string taken(buffers_[done_[i]].data(), static_cast<size_t>(bytes));  // the buffer is needed again
      sink_ += taken.size();
      post(done_[i]);
    }
    return count;
  }

 private:
  void start() {
    for (int i = 0; i < kPool; ++i) {
      if (requests_[i] != MPI_REQUEST_NULL) continue;
      int found = 0, bytes = 0;
      MPI_Message message;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, kLooked, MPI_COMM_WORLD, &found, &message, &status);
      if (!found) return;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      buffers_[i] = std::string(static_cast<size_t>(bytes), '\0');
      MPI_Imrecv(buffers_[i].data(), bytes, MPI_BYTE, &message, &requests_[i]);
    }
  }
  bool posted_;
  std::array<MPI_Request, kPool> requests_;
  std::array<std::string, kPool> buffers_;
  std::array<int, kPool> done_{};
  std::array<MPI_Status, kPool> statuses_{};
  size_t sink_ = 0;
};

// Of a look while nothing comes, and of posting a receive, us.
void idle(int ranks) {
  constexpr int kLooks = 20000;
  int ends = 0;
  Receiver looked(false), posted(true);
  const double begin = cpu_us();
  for (int i = 0; i < kLooks; ++i) {
    int found = 0;
    MPI_Message message;
    MPI_Improbe(MPI_ANY_SOURCE, kLooked, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
  }
  const double between = cpu_us();
  for (int i = 0; i < kLooks; ++i) posted.look(ends);
  const double end = cpu_us();
  std::vector<MPI_Request> more(1000);
  std::vector<char> room(8);
  for (auto& request : more) MPI_Irecv(room.data(), 8, MPI_BYTE, MPI_ANY_SOURCE, kGo, MPI_COMM_WORLD, &request);
  const double filled = cpu_us();
  for (auto& request : more) MPI_Cancel(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
  std::printf("%d ranks, nothing comes: improbe %.2f us, testsome of 64 receives %.2f us; to post one %.2f us\n", ranks,
              (between - begin) / kLooks, (end - between) / kLooks, (filled - end) / 1000);
}

void receive(bool posted, int ranks, int bytes) {
  Receiver receiver(posted);
  for (int to = 1; to < ranks; ++to) MPI_Send(nullptr, 0, MPI_BYTE, to, kGo, MPI_COMM_WORLD);
  const double cpu = cpu_us(), wall = wall_us();
  long messages = 0;
  for (int ends = 0; ends < ranks - 1;) {
    const int came = receiver.look(ends);
    messages += came;
    if (came == 0) usleep(1000);
  }
  const double used = cpu_us() - cpu;
  std::printf("%d ranks, %d B, %s: %ld messages, %.1f us each, %.4f cores\n", ranks, bytes,
              posted ? "preposted" : "looked for", messages, used / static_cast<double>(messages),
              used / (wall_us() - wall));
  std::fflush(stdout);
}

void send(bool posted, int rank, int ranks, int bytes, double per_s) {
  for (int come = 0; !come;) {
    MPI_Iprobe(0, kGo, MPI_COMM_WORLD, &come, MPI_STATUS_IGNORE);
    if (!come) usleep(20000);
  }
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const std::string message(static_cast<size_t>(bytes), 'x');
  const int tag = posted ? kPosted : kLooked;
  const double every = 1e6 * (ranks - 1) / per_s, begin = wall_us();
  MPI_Request request;
  for (double next = begin + every * rank / ranks; wall_us() - begin < 1e6 * kSeconds; next += every) {
    const double early = next - wall_us();
    if (early > 0) usleep(static_cast<useconds_t>(early));
    MPI_Isend(message.data(), bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
    finish(request);
  }
  MPI_Isend(message.data(), 1, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
  finish(request);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes = argc > 1 ? std::atoi(argv[1]) : 400;
  const double per_s = argc > 2 ? std::atof(argv[2]) : 1000;
  if (rank == 0) {
    sleep(1);
    idle(ranks);
  }
  for (const bool posted : {false, true}) {
    if (rank == 0) {
      receive(posted, ranks, bytes);
    } else {
      send(posted, rank, ranks, bytes, per_s);
    }
    MPI_Request together;
    MPI_Ibarrier(MPI_COMM_WORLD, &together);
    finish(together);
  }
  MPI_Finalize();
}
