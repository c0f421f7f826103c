#include <cublasLt.h>

#include <cstring>

#include "core/gpu/cuda/elements.h"
#include "tests/cudnn/stubs/stub.h"
#include "tests/nccl/stubs/stub.h"

namespace {

using rlgo::gpu::load;
using rlgo::gpu::store;

StubLibraries script;
std::vector<int> epilogues;

struct How {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct Layout {
  int32_t type;
  int64_t rows, columns, lead, step = 0;
  int32_t batch = 1;
};
template <typename T, typename D>
T& of(D descriptor) {
  return *reinterpret_cast<T*>(const_cast<void*>(static_cast<const void*>(descriptor)));
}
int32_t type_of(cudaDataType_t type) {
  if (type == CUDA_R_64F) return rlgo::gpu::kF64;
  return type == CUDA_R_16F ? rlgo::gpu::kF16 : type == CUDA_R_16BF ? rlgo::gpu::kBF16 : rlgo::gpu::kF32;
}

// All matrices column by column.
struct Product {
  How how;
  Layout a, b, d;
  const void *left, *right;
  void* to;
  void operator()() const {
    for (int64_t m = 0; m < d.batch; ++m)
      for (int64_t c = 0; c < d.columns; ++c)
        for (int64_t r = 0; r < d.rows; ++r) {
          double sum = 0;
          for (int64_t k = 0; k < a.columns; ++k)
            sum += load<double>(left, a.type, m * a.step + k * a.lead + r) *
                   load<double>(right, b.type, m * b.step + c * b.lead + k);
          if ((how.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) sum += load<double>(how.bias, d.type, r);
          if ((how.epilogue & CUBLASLT_EPILOGUE_RELU) != 0 && sum < 0) sum = 0;
          if ((how.epilogue & CUBLASLT_EPILOGUE_GELU) != 0)
            sum = 0.5 * sum * (1 + std::tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
          store(to, d.type, m * d.step + c * d.lead + r, sum);
        }
  }
};

}  // namespace

void stub_cublaslt(const StubLibraries& to) {
  script = to;
  epilogues.clear();
}
std::vector<int> stub_epilogues() { return epilogues; }

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&script);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE";
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t compute, cudaDataType_t scale) {
  *d = reinterpret_cast<cublasLtMatmulDesc_t>(new How{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete &of<How>(d);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size) {
  auto& how = of<How>(d);
  if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE && size == sizeof(how.epilogue)) {
    std::memcpy(&how.epilogue, value, size);
  } else if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER && size == sizeof(how.bias)) {
    std::memcpy(&how.bias, value, size);
  } else {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t lead) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{type_of(type), static_cast<int64_t>(rows), static_cast<int64_t>(columns), lead});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of<Layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t what,
                                                const void* value, size_t size) {
  auto& to = of<Layout>(layout);
  if (what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && size == sizeof(to.batch)) {
    std::memcpy(&to.batch, value, size);
  } else if (what == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && size == sizeof(to.step)) {
    std::memcpy(&to.step, value, size);
  } else {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(&script);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t what, const void*, size_t) {
  return what == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t, int most,
                                              cublasLtMatmulHeuristicResult_t* found, int* count) {
  *count = 0;
  if (script.matmul_unsupported) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto &left = of<Layout>(a), &right = of<Layout>(b), &to = of<Layout>(d);
  const bool wide = to.type == rlgo::gpu::kF64;
  if (left.columns != right.rows || left.rows != to.rows || right.columns != to.columns || c != d ||
      left.batch != to.batch || right.batch != to.batch || left.type != to.type || right.type != to.type ||
      of<How>(how).compute != (wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F) ||
      (wide && of<How>(how).epilogue != CUBLASLT_EPILOGUE_DEFAULT))
    return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < most && i < static_cast<int>(script.matmul_us.size()); ++i) {
    found[i] = {};
    found[i].algo.data[0] = static_cast<uint64_t>(i);
    found[i].workspaceSize = 1024;
    ++*count;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t how, const void*, const void* left,
                              cublasLtMatrixLayout_t a, const void* right, cublasLtMatrixLayout_t b, const void*,
                              const void*, cublasLtMatrixLayout_t, void* to, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t* algo, void* workspace, size_t size, cudaStream_t stream) {
  if (workspace == nullptr || size < 1024 || stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  epilogues.push_back(static_cast<int>(of<How>(how).epilogue));
  stub_enqueue(Product{of<How>(how), of<Layout>(a), of<Layout>(b), of<Layout>(d), left, right, to},
               script.matmul_us.at(algo->data[0]));
  return CUBLAS_STATUS_SUCCESS;
}
}
