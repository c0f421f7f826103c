// Convolutions by cuDNN: bias and ReLU in the same call where it does that, algorithms by its heuristics, then by time.
#include <algorithm>
#include <vector>

#include "core/gpu/cuda/session.h"

namespace rlgo::gpu {
namespace {

cudnnDataType_t cudnn_type(int32_t type) {
  if (type == kF16) return CUDNN_DATA_HALF;
  return type == kBF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

template <size_t n>
std::vector<int> ints(const int64_t (&from)[n], int count) {
  std::vector<int> to;
  for (int i = 0; i < count; ++i) {
    if (from[i] > INT32_MAX) throw Failure("an extent of more than 31 bits");
    to.push_back(static_cast<int>(from[i]));
  }
  return to;
}

// A descriptor of cuDNN's.
template <typename T, cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)>
class Descriptor {
 public:
  Descriptor() { check(create(&it_), "cudnnCreateDescriptor"); }
  ~Descriptor() { destroy(it_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator T() const { return it_; }  // NOLINT(google-explicit-constructor)

 private:
  T it_ = nullptr;
};
using Tensor = Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using Filter = Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using Activation =
    Descriptor<cudnnActivationDescriptor_t, cudnnCreateActivationDescriptor, cudnnDestroyActivationDescriptor>;
using Convolution =
    Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor>;

void set_tensor(const Tensor& tensor, cudnnDataType_t type, const std::vector<int>& extents) {
  std::vector<int> steps(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) steps[d - 1] = steps[d] * extents[d];
  check(cudnnSetTensorNdDescriptor(tensor, type, static_cast<int>(extents.size()), extents.data(), steps.data()),
        "cudnnSetTensorNdDescriptor");
}

class ConvCall : public Call {
 public:
  ConvCall(Session& session, const Conv& conv, const At& at) : session_(session), conv_(conv), at_(at) {
    const auto type = cudnn_type(conv.type);
    const int rank = conv.axes + 2;
    set_tensor(x_, type, ints(conv.x, rank));
    set_tensor(y_, type, ints(conv.y, rank));
    const auto w = ints(conv.w, rank);
    check(cudnnSetFilterNdDescriptor(w_, type, CUDNN_TENSOR_NCHW, rank, w.data()), "cudnnSetFilterNdDescriptor");
    const auto pads = ints(conv.pads, conv.axes), strides = ints(conv.strides, conv.axes),
               dilations = ints(conv.dilations, conv.axes);
    check(cudnnSetConvolutionNdDescriptor(how_, conv.axes, pads.data(), strides.data(), dilations.data(),
                                          CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "cudnnSetConvolutionNdDescriptor");
    check(cudnnSetConvolutionGroupCount(how_, conv.group), "cudnnSetConvolutionGroupCount");
    // float32 without TF32; 16 bits on the units made for them.
    check(cudnnSetConvolutionMathType(how_, conv.type == kF32 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH),
          "cudnnSetConvolutionMathType");
    check(cudnnSetActivationDescriptor(act_, conv.relu != 0 ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
                                       CUDNN_PROPAGATE_NAN, 0),
          "cudnnSetActivationDescriptor");
    std::vector<int> channels(static_cast<size_t>(rank), 1);
    channels[1] = static_cast<int>(conv.y[1]);
    set_tensor(bias_, type, channels);
    const size_t bias_bytes = static_cast<size_t>(conv.y[1]) * 4;
    if (conv.relu != 0 && at.in[2] == nullptr) {  // cuDNN has no ReLU without a bias
      zeros_.grow(bias_bytes);
      check(cudaMemsetAsync(zeros_.data(), 0, bias_bytes, session.stream), "cudaMemsetAsync");
      at_.in[2] = zeros_.data();
    }
    propose();
    kept_ = proposals_.front();
  }

  void choose() override {
    double us = 0;
    kept_ = proposals_[static_cast<size_t>(fastest(
        session_, static_cast<int>(proposals_.size()), [&](int i) { run(proposals_[static_cast<size_t>(i)]); }, us))];
  }
  void enqueue() override { run(kept_); }
  std::string chosen() const override {
    return std::string(conv_.transposed != 0 ? "transposed convolution" : "convolution") + ": algorithm " +
           std::to_string(kept_.algorithm) + (kept_.fused ? ", bias and activation fused" : "");
  }

 private:
  struct Proposal {
    int algorithm = 0;
    bool fused = false;
    size_t workspace = 0;
  };

  template <typename Algo>
  void add(const Algo* found, int count) {
    const bool biased = at_.in[2] != nullptr;
    for (int i = 0; i < count; ++i) {
      if (found[i].status != CUDNN_STATUS_SUCCESS || found[i].memory > kMostWorkspace) continue;
      // One call with the bias; without a ReLU cuDNN takes this algorithm only.
      if (biased && (conv_.relu != 0 || found[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM))
        proposals_.push_back({static_cast<int>(found[i].algo), true, found[i].memory});
      if (conv_.relu == 0) proposals_.push_back({static_cast<int>(found[i].algo), false, found[i].memory});
    }
  }

  void propose() {
    constexpr int kMost = 8;
    int count = 0;
    if (conv_.transposed != 0) {
      cudnnConvolutionBwdDataAlgoPerf_t found[kMost];
      check(cudnnGetConvolutionBackwardDataAlgorithm_v7(session_.cudnn, w_, x_, how_, y_, kMost, &count, found),
            "cudnnGetConvolutionBackwardDataAlgorithm");
      for (int i = 0; i < count; ++i) {
        if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].memory <= kMostWorkspace)
          proposals_.push_back({static_cast<int>(found[i].algo), false, found[i].memory});
      }
    } else {
      cudnnConvolutionFwdAlgoPerf_t found[kMost];
      check(cudnnGetConvolutionForwardAlgorithm_v7(session_.cudnn, x_, w_, how_, y_, kMost, &count, found),
            "cudnnGetConvolutionForwardAlgorithm");
      add(found, count);
    }
    if (proposals_.empty()) throw Failure("cuDNN has no algorithm for this convolution");
  }

  void run(const Proposal& p) {
    const float one = 1, zero = 0;
    session_.workspace.grow(p.workspace);
    void* const work = session_.workspace.data();
    if (conv_.transposed != 0) {
      check(cudnnConvolutionBackwardData(session_.cudnn, &one, w_, at_.in[1], x_, at_.in[0], how_,
                                         static_cast<cudnnConvolutionBwdDataAlgo_t>(p.algorithm), work, p.workspace,
                                         &zero, y_, at_.out),
            "cudnnConvolutionBackwardData");
      return;
    }
    const auto algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(p.algorithm);
    if (p.fused) {
      check(cudnnConvolutionBiasActivationForward(session_.cudnn, &one, x_, at_.in[0], w_, at_.in[1], how_, algorithm,
                                                  work, p.workspace, &zero, y_, at_.out, bias_, at_.in[2], act_, y_,
                                                  at_.out),
            "cudnnConvolutionBiasActivationForward");
      return;
    }
    check(cudnnConvolutionForward(session_.cudnn, &one, x_, at_.in[0], w_, at_.in[1], how_, algorithm, work,
                                  p.workspace, &zero, y_, at_.out),
          "cudnnConvolutionForward");
    if (at_.in[2] != nullptr)
      check(cudnnAddTensor(session_.cudnn, &one, bias_, at_.in[2], &one, y_, at_.out), "cudnnAddTensor");
  }

  Session& session_;
  Conv conv_;
  At at_;
  Tensor x_, y_, bias_;
  Filter w_;
  Activation act_;
  Convolution how_;
  Memory zeros_;
  std::vector<Proposal> proposals_;  // cuDNN's order: the one that it thinks fastest first
  Proposal kept_;
};

}  // namespace

std::unique_ptr<Call> make_conv(Session& session, const Conv& conv, const At& at) {
  return std::make_unique<ConvCall>(session, conv, at);
}

}  // namespace rlgo::gpu
