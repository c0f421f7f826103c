#include <cudnn.h>

#include <cstring>

#include "core/gpu/cuda/elements.h"
#include "tests/cudnn/stubs/stub.h"
#include "tests/nccl/stubs/stub.h"

namespace {

using rlgo::gpu::load;
using rlgo::gpu::store;

StubLibraries script;
StubConvs convs;
constexpr size_t kWorkspace = 4096;  // that algorithm 1 asks for

struct Tensor {
  int32_t type = 0;
  std::vector<int> extents;
};
struct How {
  std::vector<int> pads, strides, dilations;
  int group = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

int32_t type_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF ? rlgo::gpu::kF16 : type == CUDNN_DATA_BFLOAT16 ? rlgo::gpu::kBF16 : rlgo::gpu::kF32;
}
template <typename T>
const Tensor& tensor(T descriptor) {
  return *reinterpret_cast<Tensor*>(descriptor);
}
const How& how(cudnnConvolutionDescriptor_t descriptor) { return *reinterpret_cast<How*>(descriptor); }

// x[N,C,...] and y[N,O,...] of a convolution by w[O,C/group,...] fit together.
bool fit(const Tensor& x, const Tensor& w, const How& h, const Tensor& y) {
  const size_t rank = x.extents.size();
  if (w.extents.size() != rank || y.extents.size() != rank || h.pads.size() + 2 != rank || rank < 4) return false;
  if (x.type != w.type || x.type != y.type || x.extents[0] != y.extents[0]) return false;
  if (x.extents[1] != w.extents[1] * h.group || y.extents[1] != w.extents[0] || w.extents[0] % h.group != 0)
    return false;
  if ((h.math == CUDNN_FMA_MATH) != (x.type == rlgo::gpu::kF32)) return false;  // no TF32
  for (size_t d = 2; d < rank; ++d) {
    const int span = h.dilations[d - 2] * (w.extents[d] - 1) + 1;
    if (y.extents[d] != (x.extents[d] + 2 * h.pads[d - 2] - span) / h.strides[d - 2] + 1) return false;
  }
  return true;
}

// body(place in x, in w, in y) for each product of the convolution.
template <typename F>
void each_product(const Tensor& x, const Tensor& w, const How& h, const Tensor& y, F body) {
  const auto axis = [](const std::vector<int>& list, size_t rank, size_t d, int none) {
    const size_t first = 3 - rank;
    return d < first ? none : list[d - first];
  };
  const size_t rank = h.pads.size();
  int xs[3], ws[3], ys[3], pad[3], stride[3], dilation[3];
  for (size_t d = 0; d < 3; ++d) {
    const auto spatial = [&](const Tensor& t) { return axis({t.extents.begin() + 2, t.extents.end()}, rank, d, 1); };
    xs[d] = spatial(x), ws[d] = spatial(w), ys[d] = spatial(y);
    pad[d] = axis(h.pads, rank, d, 0), stride[d] = axis(h.strides, rank, d, 1);
    dilation[d] = axis(h.dilations, rank, d, 1);
  }
  const int outputs = w.extents[0], inner = w.extents[1], channels = x.extents[1];
  for (int n = 0; n < x.extents[0]; ++n)
    for (int o = 0; o < outputs; ++o)
      for (int c = 0; c < inner; ++c)
        for (int a = 0; a < ys[0] * ys[1] * ys[2]; ++a)
          for (int k = 0; k < ws[0] * ws[1] * ws[2]; ++k) {
            const int oa[3] = {a / (ys[1] * ys[2]), a / ys[2] % ys[1], a % ys[2]};
            const int ka[3] = {k / (ws[1] * ws[2]), k / ws[2] % ws[1], k % ws[2]};
            int64_t at = 0;
            bool inside = true;
            for (size_t d = 0; d < 3; ++d) {
              const int i = oa[d] * stride[d] - pad[d] + ka[d] * dilation[d];
              inside = inside && i >= 0 && i < xs[d];
              at = at * xs[d] + i;
            }
            const int channel = o / (outputs / h.group) * inner + c;
            if (inside)
              body((static_cast<int64_t>(n) * channels + channel) * xs[0] * xs[1] * xs[2] + at,
                   (static_cast<int64_t>(o) * inner + c) * ws[0] * ws[1] * ws[2] + k,
                   (static_cast<int64_t>(n) * outputs + o) * ys[0] * ys[1] * ys[2] + a);
          }
}

int64_t count(const Tensor& t) {
  int64_t all = 1;
  for (const int extent : t.extents) all *= extent;
  return all;
}

// y = act(convolution + bias).
struct Convolution {
  Tensor x, w, y;
  How h;
  const void *from, *filter, *bias;
  void* to;
  bool relu;
  void operator()() const {
    std::vector<double> sums(static_cast<size_t>(count(y)), 0.0);
    each_product(x, w, h, y, [&](int64_t i, int64_t k, int64_t o) {
      sums[static_cast<size_t>(o)] += load<double>(from, x.type, i) * load<double>(filter, w.type, k);
    });
    const int64_t plane = count(y) / (y.extents[0] * y.extents[1]);
    for (int64_t o = 0; o < count(y); ++o) {
      double value = sums[static_cast<size_t>(o)];
      if (bias != nullptr) value += load<double>(bias, y.type, o / plane % y.extents[1]);
      store(to, y.type, o, relu && value < 0 ? 0.0 : value);
    }
  }
};

cudnnStatus_t run(const Convolution& work, int algorithm, size_t workspace) {
  if (!fit(work.x, work.w, work.h, work.y)) return CUDNN_STATUS_BAD_PARAM;
  if (algorithm == script.failing_conv) return CUDNN_STATUS_EXECUTION_FAILED;
  if (algorithm == 1 && workspace < kWorkspace) return CUDNN_STATUS_BAD_PARAM;
  stub_enqueue(work, script.conv_us.at(static_cast<size_t>(algorithm)));
  return CUDNN_STATUS_SUCCESS;
}

template <typename Algo, typename Perf>
cudnnStatus_t propose(int most, int* found, Perf* proposals) {
  *found = 0;
  if (script.conv_unsupported) return CUDNN_STATUS_NOT_SUPPORTED;
  for (int a = 0; a < static_cast<int>(script.conv_us.size()) && *found < most; ++a) {
    proposals[*found] = {};
    proposals[*found].algo = static_cast<Algo>(a);
    proposals[*found].memory = a == 1 ? kWorkspace : 0;
    ++*found;
  }
  return CUDNN_STATUS_SUCCESS;
}

template <typename T, typename D>
cudnnStatus_t make(D* descriptor) {
  *descriptor = reinterpret_cast<D>(new T);
  return CUDNN_STATUS_SUCCESS;
}
template <typename T, typename D>
cudnnStatus_t drop(D descriptor) {
  delete reinterpret_cast<T*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

void stub_cudnn(const StubLibraries& to) {
  script = to;
  convs = {};
}
StubConvs stub_convs() { return convs; }

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (script.no_handle) return CUDNN_STATUS_NOT_INITIALIZED;
  *handle = reinterpret_cast<cudnnHandle_t>(&script);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t) { return CUDNN_STATUS_SUCCESS; }
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t stream) {
  return stream == nullptr ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_NOT_INITIALIZED) return "CUDNN_STATUS_NOT_INITIALIZED";
  return status == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}
void cudnnGetLastErrorString(char* text, size_t size) { std::strncpy(text, "said the stub", size); }

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* d) { return make<Tensor>(d); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t d) { return drop<Tensor>(d); }
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* d) { return make<Tensor>(d); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t d) { return drop<Tensor>(d); }
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* d) { return make<How>(d); }
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t d) { return drop<How>(d); }
cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* d) { return make<int>(d); }
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t d) { return drop<int>(d); }

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t d, cudnnDataType_t type, int rank, const int* extents,
                                         const int* steps) {
  int step = 1;
  for (int k = rank; k-- > 0; step *= extents[k]) {
    if (steps[k] != step || extents[k] < 1) return CUDNN_STATUS_BAD_PARAM;
  }
  if (rank < 4) return CUDNN_STATUS_BAD_PARAM;
  *reinterpret_cast<Tensor*>(d) = {type_of(type), {extents, extents + rank}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type, cudnnTensorFormat_t, int rank,
                                         const int* extents) {
  *reinterpret_cast<Tensor*>(d) = {type_of(type), {extents, extents + rank}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t d, int axes, const int* pads,
                                              const int* strides, const int* dilations, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t) {
  if (mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_BAD_PARAM;
  *reinterpret_cast<How*>(d) = {{pads, pads + axes}, {strides, strides + axes}, {dilations, dilations + axes}};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int group) {
  reinterpret_cast<How*>(d)->group = group;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t math) {
  reinterpret_cast<How*>(d)->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t d, cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t, double) {
  *reinterpret_cast<int*>(d) = mode;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t h,
                                                     cudnnTensorDescriptor_t y, int most, int* found,
                                                     cudnnConvolutionFwdAlgoPerf_t* proposals) {
  if (!fit(tensor(x), tensor(w), how(h), tensor(y))) return CUDNN_STATUS_BAD_PARAM;
  return propose<cudnnConvolutionFwdAlgo_t>(most, found, proposals);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t dy, cudnnConvolutionDescriptor_t h,
                                                          cudnnTensorDescriptor_t dx, int most, int* found,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* proposals) {
  if (!fit(tensor(dx), tensor(w), how(h), tensor(dy))) return CUDNN_STATUS_BAD_PARAM;
  return propose<cudnnConvolutionBwdDataAlgo_t>(most, found, proposals);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void*, cudnnTensorDescriptor_t x, const void* from,
                                      cudnnFilterDescriptor_t w, const void* filter, cudnnConvolutionDescriptor_t h,
                                      cudnnConvolutionFwdAlgo_t algorithm, void*, size_t workspace, const void*,
                                      cudnnTensorDescriptor_t y, void* to) {
  ++convs.plain;
  return run({tensor(x), tensor(w), tensor(y), how(h), from, filter, nullptr, to, false}, algorithm, workspace);
}
cudnnStatus_t cudnnConvolutionBiasActivationForward(cudnnHandle_t, const void*, cudnnTensorDescriptor_t x,
                                                    const void* from, cudnnFilterDescriptor_t w, const void* filter,
                                                    cudnnConvolutionDescriptor_t h, cudnnConvolutionFwdAlgo_t algorithm,
                                                    void*, size_t workspace, const void*, cudnnTensorDescriptor_t,
                                                    const void*, cudnnTensorDescriptor_t bias, const void* summand,
                                                    cudnnActivationDescriptor_t act, cudnnTensorDescriptor_t y,
                                                    void* to) {
  ++convs.fused;
  const bool relu = *reinterpret_cast<int*>(act) == CUDNN_ACTIVATION_RELU;
  if (!relu && algorithm != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM) return CUDNN_STATUS_NOT_SUPPORTED;
  if (summand == nullptr || tensor(bias).extents[1] != tensor(y).extents[1]) return CUDNN_STATUS_BAD_PARAM;
  return run({tensor(x), tensor(w), tensor(y), how(h), from, filter, summand, to, relu}, algorithm, workspace);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t, const void*, cudnnFilterDescriptor_t w, const void* filter,
                                           cudnnTensorDescriptor_t dy, const void* from, cudnnConvolutionDescriptor_t h,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void*, size_t, const void*,
                                           cudnnTensorDescriptor_t dx, void* to) {
  ++convs.transposed;
  const Tensor x = tensor(dx), kernel = tensor(w), y = tensor(dy);
  const How spread = how(h);
  if (!fit(x, kernel, spread, y)) return CUDNN_STATUS_BAD_PARAM;
  const auto work = [=] {
    std::vector<double> sums(static_cast<size_t>(count(x)), 0.0);
    each_product(x, kernel, spread, y, [&](int64_t i, int64_t k, int64_t o) {
      sums[static_cast<size_t>(i)] += load<double>(from, y.type, o) * load<double>(filter, kernel.type, k);
    });
    for (int64_t i = 0; i < count(x); ++i) store(to, x.type, i, sums[static_cast<size_t>(i)]);
  };
  stub_enqueue(work, script.conv_us.at(static_cast<size_t>(algorithm)));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnAddTensor(cudnnHandle_t, const void*, cudnnTensorDescriptor_t bias, const void* summand, const void*,
                             cudnnTensorDescriptor_t y, void* to) {
  ++convs.additions;
  const Tensor sum = tensor(y);
  if (tensor(bias).extents[1] != sum.extents[1]) return CUDNN_STATUS_BAD_PARAM;
  const auto work = [=] {
    const int64_t plane = count(sum) / (sum.extents[0] * sum.extents[1]);
    for (int64_t o = 0; o < count(sum); ++o)
      store(to, sum.type, o,
            load<double>(to, sum.type, o) + load<double>(summand, sum.type, o / plane % sum.extents[1]));
  };
  stub_enqueue(work, 2);
  return CUDNN_STATUS_SUCCESS;
}
}
