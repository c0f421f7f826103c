// Products of matrices by cuBLASLt. It stores columns; row-major y = a b is its y^T = b^T a^T, so a bias of a row of y
// is one of its columns, which is what its epilogue adds.
#include <vector>

#include "core/gpu/cuda/session.h"

namespace rlgo::gpu {
namespace {

constexpr size_t kBlasWorkspace = size_t{32} << 20;  // what NVIDIA recommends for Hopper, and more than older GPUs need

cudaDataType_t data_type(int32_t type) {
  if (type == kF64) return CUDA_R_64F;
  if (type == kF16) return CUDA_R_16F;
  return type == kBF16 ? CUDA_R_16BF : CUDA_R_32F;
}

cublasLtEpilogue_t epilogue_of(const MatMul& matmul, bool biased) {
  if (matmul.epilogue == kRelu) return biased ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  if (matmul.epilogue == kGelu) return biased ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return biased ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* it) const {
    destroy(it);
  }
};
template <typename T, auto destroy>
using Owned = std::unique_ptr<T, Destroy<destroy>>;

class MatMulCall : public Call {
  using Layout = Owned<cublasLtMatrixLayoutOpaque_t, cublasLtMatrixLayoutDestroy>;

 public:
  MatMulCall(Session& session, const MatMul& matmul, const At& at)
      : session_(session), at_(at), wide_(matmul.type == kF64) {
    const bool biased = at.in[2] != nullptr;
    // float32 without TF32, as convolutions.
    cublasLtMatmulDesc_t how = nullptr;
    check(cublasLtMatmulDescCreate(&how, wide_ ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                   wide_ ? CUDA_R_64F : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    how_.reset(how);
    epilogue_ = epilogue_of(matmul, biased);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_);
    if (biased) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, at.in[2]);
    const auto type = data_type(matmul.type);
    b_ = layout(type, matmul.n, matmul.k, matmul.batch, matmul.b_step);
    a_ = layout(type, matmul.k, matmul.m, matmul.batch, matmul.a_step);
    y_ = layout(type, matmul.n, matmul.m, matmul.batch, matmul.m * matmul.n);
    propose();
  }

  void choose() override {
    double us = 0;
    kept_ = fastest(
        session_, static_cast<int>(proposals_.size()), [&](int i) { run(i); }, us);
  }
  void enqueue() override { run(kept_); }
  std::string chosen() const override {
    return "matmul: proposal " + std::to_string(kept_) + " of " + std::to_string(proposals_.size()) + ", epilogue " +
           std::to_string(epilogue_);
  }

 private:
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(how_.get(), attribute, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }
  static Layout layout(cudaDataType_t type, int64_t rows, int64_t columns, int64_t batch, int64_t step) {
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate");
    Layout kept(made);
    if (batch == 1) return kept;
    const auto count = static_cast<int32_t>(batch);
    check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
          "cublasLtMatrixLayoutSetAttribute");
    check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof(step)),
          "cublasLtMatrixLayoutSetAttribute");
    return kept;
  }

  void propose() {
    constexpr int kMost = 8;
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kBlasWorkspace,
                                               sizeof(kBlasWorkspace)),
          "cublasLtMatmulPreferenceSetAttribute");
    proposals_.resize(kMost);
    int count = 0;
    const auto status = cublasLtMatmulAlgoGetHeuristic(session_.blas, how_.get(), b_.get(), a_.get(), y_.get(),
                                                       y_.get(), preference, kMost, proposals_.data(), &count);
    cublasLtMatmulPreferenceDestroy(preference);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    proposals_.resize(static_cast<size_t>(count));
    std::erase_if(proposals_, [](const auto& p) { return p.state != CUBLAS_STATUS_SUCCESS; });
    if (proposals_.empty()) throw Failure("cuBLASLt has no algorithm for this product");
  }

  void run(int i) {
    const auto& proposal = proposals_[static_cast<size_t>(i)];
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    session_.workspace.grow(proposal.workspaceSize);
    check(cublasLtMatmul(session_.blas, how_.get(), wide_ ? static_cast<const void*>(&wide_one) : &one, at_.in[1],
                         b_.get(), at_.in[0], a_.get(), wide_ ? static_cast<const void*>(&wide_zero) : &zero, at_.out,
                         y_.get(), at_.out, y_.get(), &proposal.algo, session_.workspace.data(), proposal.workspaceSize,
                         session_.stream),
          "cublasLtMatmul");
  }

  Session& session_;
  At at_;
  bool wide_;
  cublasLtEpilogue_t epilogue_ = CUBLASLT_EPILOGUE_DEFAULT;
  Owned<cublasLtMatmulDescOpaque_t, cublasLtMatmulDescDestroy> how_;
  Layout a_, b_, y_;
  std::vector<cublasLtMatmulHeuristicResult_t> proposals_;
  int kept_ = 0;
};

}  // namespace

std::unique_ptr<Call> make_matmul(Session& session, const MatMul& matmul, const At& at) {
  return std::make_unique<MatMulCall>(session, matmul, at);
}

}  // namespace rlgo::gpu
