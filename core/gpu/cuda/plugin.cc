#include <cstdio>
#include <cstring>
#include <vector>

#include "core/gpu/cuda/gpu_plugin.h"
#include "core/gpu/cuda/session.h"

namespace rlgo::gpu {
namespace {

struct Loaded {
  Session& session;
  Memory arena;
  std::vector<int64_t> offsets, bytes;
  std::vector<std::unique_ptr<Call>> calls;
  std::vector<std::string> names;  // of the calls

  void* at(int buffer) const { return static_cast<char*>(arena.data()) + offsets[static_cast<size_t>(buffer)]; }
  // body(call) for each; what it throws gets the operator's name.
  template <typename F>
  void each(F body) const {
    for (size_t i = 0; i < calls.size(); ++i) named(i, [&] { body(*calls[i]); });
  }
  template <typename F>
  void named(size_t step, F body) const {
    try {
      body();
    } catch (const Failure& e) {
      throw Failure(names[step] + ": " + e.what(), e.no_memory);
    }
  }
  void enqueue() const {
    each([](Call& call) { call.enqueue(); });
  }
};

// Runs `body`; what it throws is written down.
template <typename F>
int guarded(char* error, size_t size, F body) {
  try {
    body();
    return kRlgoGpuDone;
  } catch (const Failure& e) {
    std::snprintf(error, size, "%s", e.what());
    return e.no_memory ? kRlgoGpuNoMemory : kRlgoGpuFailed;
  } catch (const std::exception& e) {
    std::snprintf(error, size, "%s", e.what());
    return kRlgoGpuFailed;
  }
}

Loaded& of(void* loaded) {
  auto& it = *static_cast<Loaded*>(loaded);
  check(cudaSetDevice(it.session.device), "cudaSetDevice");  // of this thread
  return it;
}

std::unique_ptr<Call> make_call(Session& session, const Step& step, const Loaded& in) {
  At at{};
  for (int k = 0; k < kMostInputs; ++k) at.in[k] = step.in[k] == kNone ? nullptr : in.at(step.in[k]);
  at.out = in.at(step.out);
  if (step.kind == kConv) return make_conv(session, step.conv, at);
  if (step.kind == kMatMul) return make_matmul(session, step.matmul, at);
  return make_kernel(session, step, at);
}

int open(int device, void** session, char* error, size_t error_size) {
  return guarded(error, error_size, [&] { *session = new Session(device); });
}
void close(void* session) { delete static_cast<Session*>(session); }

int load(void* session, const RlgoGpuProgram* program, void** loaded, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    auto& on = *static_cast<Session*>(session);
    check(cudaSetDevice(on.device), "cudaSetDevice");
    std::unique_ptr<Loaded> made(new Loaded{.session = on,
                                            .arena = {},
                                            .offsets = {program->offsets, program->offsets + program->buffer_count},
                                            .bytes = {program->bytes, program->bytes + program->buffer_count},
                                            .calls = {},
                                            .names = {program->names, program->names + program->step_count}});
    made->arena.grow(static_cast<size_t>(program->arena_bytes));
    check(cudaMemsetAsync(made->arena.data(), 0, made->arena.bytes(), on.stream), "cudaMemsetAsync");
    for (size_t s = 0; s < program->step_count; ++s)
      made->named(s, [&] { made->calls.push_back(make_call(on, program->steps[s], *made)); });
    on.wait();
    *loaded = made.release();
  });
}
void unload(void* loaded) { delete static_cast<Loaded*>(loaded); }

int copy_in(void* loaded, int buffer, const void* data, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    const auto& it = of(loaded);
    const auto bytes = static_cast<size_t>(it.bytes[static_cast<size_t>(buffer)]);
    check(cudaMemcpy(it.at(buffer), data, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  });
}

int copy_out(void* loaded, int buffer, void* data, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    const auto& it = of(loaded);
    const auto bytes = static_cast<size_t>(it.bytes[static_cast<size_t>(buffer)]);
    check(cudaMemcpy(data, it.at(buffer), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  });
}

int choose(void* loaded, char* error, size_t error_size) {
  return guarded(error, error_size, [&] { of(loaded).each([](Call& call) { call.choose(); }); });
}

int run(void* loaded, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    const auto& it = of(loaded);
    it.enqueue();
    it.session.wait();
  });
}

int time(void* loaded, int runs, double* us, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    const auto& it = of(loaded);
    it.enqueue();  // where it fails, it fails here rather than within a capture; work space has its size
    it.session.wait();
    *us = it.calls.empty() ? 0 : it.session.time_us([&] { it.enqueue(); }, runs);
  });
}

void describe(void* loaded, char* text, size_t size) {
  std::string all;
  for (const auto& call : static_cast<Loaded*>(loaded)->calls) {
    const auto line = call->chosen();
    if (!line.empty()) all += line + "\n";
  }
  std::snprintf(text, size, "%s", all.c_str());
}

}  // namespace
}  // namespace rlgo::gpu

const RlgoGpuPlugin* rlgo_gpu_plugin() {
  namespace gpu = rlgo::gpu;
  static const RlgoGpuPlugin plugin{
      kRlgoGpuPluginVersion, CUDART_VERSION, gpu::open,   gpu::close, gpu::load, gpu::unload,
      gpu::copy_in,          gpu::copy_out,  gpu::choose, gpu::run,   gpu::time, gpu::describe};
  return &plugin;
}
