// Kernels of the plug-in's own, launched.
#include <algorithm>
#include <optional>

#include "core/gpu/cuda/session.h"

namespace rlgo::gpu {
namespace {

constexpr int64_t kThreads = 256, kMostBlocks = int64_t{1} << 20;
constexpr int64_t kLongRow = 1024;  // elements from which on a row gets kThreads threads rather than a warp

bool is_wide(int32_t type) { return type == kF64 || type == kI64 || type == kI32; }

class KernelCall : public Call {
 public:
  KernelCall(Session& session, const Step& step, const At& at) : session_(session), step_(step) {
    switch (step_.kind) {
      case kMap: {
        const Map& map = step_.map;
        bool wide = is_wide(map.out_type);
        for (int32_t k = 0; k < map.inputs; ++k) wide = wide || is_wide(map.types[k]);
        by_element("map", wide, map.count);
        break;
      }
      case kCopy:
        by_element("copy", {}, step_.copy.count);
        break;
      case kReduce:
        if (step_.reduce.fold == kArgMax || step_.reduce.fold == kArgMin) {
          by_element("place", is_wide(step_.reduce.type), step_.reduce.count);
        } else {
          by_row("reduce", is_wide(step_.reduce.type), step_.reduce.count, step_.reduce.length);
        }
        break;
      case kNorm:
        by_row("norm", is_wide(step_.norm.type), step_.norm.count, step_.norm.length);
        break;
      case kLines:
        by_row("lines", is_wide(step_.lines.type), step_.lines.count, step_.lines.length);
        break;
      case kPool:
        by_element("pool", is_wide(step_.pool.type), step_.pool.count);
        break;
      case kGather:
        by_element("gather", {}, step_.gather.count);
        break;
      case kResize:
        by_element("resize", is_wide(step_.resize.type), step_.resize.count);
        break;
      default:
        throw Failure("internal: a step of an unknown kind (this is a bug of rlgo)");
    }
    step_.map.at = at;  // the first member of each
  }

  void enqueue() override {
    void* parameters[] = {&step_.map};
    check(cudaLaunchKernel(kernel_, dim3(blocks_), dim3(threads_), parameters, 0, session_.stream), "cudaLaunchKernel");
  }

 private:
  void find(std::string name, std::optional<bool> wide) {
    if (wide) name += *wide ? "_double" : "_single";
    kernel_ = session_.kernel(name);
  }
  void by_element(const char* name, std::optional<bool> wide, int64_t count) {
    find(name, wide);
    threads_ = kThreads;
    blocks_ = static_cast<unsigned>(std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, kMostBlocks));
  }
  void by_row(const char* name, bool wide, int64_t count, int64_t length) {
    find(name, wide);
    threads_ = length < kLongRow ? 32 : kThreads;
    blocks_ = static_cast<unsigned>(std::clamp<int64_t>(count, 1, kMostBlocks));
  }

  Session& session_;
  Step step_;
  const void* kernel_ = nullptr;
  unsigned blocks_ = 1, threads_ = kThreads;
};

}  // namespace

std::unique_ptr<Call> make_kernel(Session& session, const Step& step, const At& at) {
  return std::make_unique<KernelCall>(session, step, at);
}

}  // namespace rlgo::gpu
