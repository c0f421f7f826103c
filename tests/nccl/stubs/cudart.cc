#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "tests/nccl/stubs/stub.h"

namespace {

using Clock = std::map<const void*, int>;  // steps of each stream that are known to come before

struct Stream {
  Clock clock;
  int begun = 0, ended = 0;  // sums
};
struct Event {
  Clock clock;
  Stream* stream = nullptr;
  int sums = 0;  // of the stream that come before it
  double us = 0;
};
struct Data {
  Clock written, summed;
};

std::mutex mutex;
std::map<int, Stream> default_streams;  // by device
std::map<const void*, Data> data_of;
int violations = 0;
thread_local int device = 0;
thread_local Clock host;  // what the thread has waited for

void join(Clock& clock, const Clock& other) {
  for (const auto& [stream, step] : other) clock[stream] = std::max(clock[stream], step);
}
bool knows(const Clock& clock, const Clock& other) {
  return std::all_of(other.begin(), other.end(), [&](const auto& step) {
    const auto at = clock.find(step.first);
    return at != clock.end() && at->second >= step.second;
  });
}
Stream& stream_of(cudaStream_t stream) {
  return stream == nullptr ? default_streams[device] : *reinterpret_cast<Stream*>(stream);
}
// The stream's next step; what the host waited for comes before it.
Clock& step(Stream& stream) {
  join(stream.clock, host);
  ++stream.clock[&stream];
  return stream.clock;
}

}  // namespace

extern "C" {

cudaError_t cudaSetDevice(int to) {
  device = to;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;  // would wait for the default stream
  *stream = reinterpret_cast<cudaStream_t>(new Stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<Stream*>(stream);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  auto& of = stream_of(stream);
  *reinterpret_cast<Event*>(event) = {step(of), &of, of.begun, stub_now_us()};
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard lock(mutex);
  join(step(stream_of(stream)), reinterpret_cast<Event*>(event)->clock);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(mutex);
  const auto& one = *reinterpret_cast<Event*>(event);
  if (one.stream->ended < one.sums) return cudaErrorNotReady;
  join(host, one.clock);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = static_cast<float>((reinterpret_cast<Event*>(to)->us - reinterpret_cast<Event*>(from)->us) / 1000);
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "stub";
}

void stub_write(const void* data) {
  const std::lock_guard lock(mutex);
  auto& clock = step(default_streams[device]);
  if (!knows(clock, data_of[data].summed)) ++violations;
  data_of[data] = {clock, {}};
}
void stub_read(const void* data) {
  const std::lock_guard lock(mutex);
  if (!knows(step(default_streams[device]), data_of[data].summed)) ++violations;
}
void stub_sum_begins(void* stream, const void* data) {
  const std::lock_guard lock(mutex);
  auto& of = *reinterpret_cast<Stream*>(stream);
  const auto& clock = step(of);
  if (!knows(clock, data_of[data].written)) ++violations;
  data_of[data].summed = clock;
  ++of.begun;
}
void stub_sum_ends(void* stream) {
  const std::lock_guard lock(mutex);
  ++reinterpret_cast<Stream*>(stream)->ended;
}
void stub_forget() {
  const std::lock_guard lock(mutex);
  data_of.clear();
}
int stub_violations() {
  const std::lock_guard lock(mutex);
  return violations;
}
}
