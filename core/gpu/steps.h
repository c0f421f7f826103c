// What a GPU is given to run: kernel calls in the form that the CUDA plug-in, its kernels and their tests share. Plain
// data, without CUDA's headers.
#pragma once

#include <cstdint>

namespace rlgo::gpu {

constexpr int kMostAxes = 8;    // of a tensor
constexpr int kMostInputs = 5;  // of a step
constexpr int kNone = -1;       // instead of the number of a buffer

// Element types in memory; the values are those of ops::DType.
enum Type : int32_t { kF32 = 1, kU8 = 2, kI8 = 3, kI32 = 6, kI64 = 7, kBool = 9, kF16 = 10, kF64 = 11, kBF16 = 16 };

// Functions of elements at the same place (kernel map).
enum Function : int32_t {
#define RLGO_MAP(name, inputs) k_##name,
#define RLGO_FUNCTION(name, ...) RLGO_MAP(name, 1)
#include "core/gpu/functions.def"
#include "core/ops/functions.def"
#undef RLGO_FUNCTION
#undef RLGO_MAP
};

// Pointers of a call, filled in where the buffers have addresses. The first member of all parameters below.
struct At {
  const void* in[kMostInputs];
  void* out;
};

// out[i] = function(in[0][...], in[1][...], ...); step 0 repeats an element.
struct Map {
  At at;
  int64_t count;
  int64_t extents[kMostAxes];
  int64_t steps[kMostInputs][kMostAxes];  // of the inputs; the output is row-major
  float numbers[4];                       // attributes
  int32_t axes, function, inputs;
  int32_t types[kMostInputs], out_type;
};

// out[to + i * to_steps] = in[from + i * from_steps] for all i below the extents.
struct Copy {
  At at;
  int64_t count, from, to;
  int64_t extents[kMostAxes], from_steps[kMostAxes], to_steps[kMostAxes];
  int32_t axes, bytes;  // of an element: 1, 2, 4 or 8
};

// One output for each place along the kept axes: a fold over the others.
enum Fold : int32_t { kSum, kMean, kMax, kMin, kProduct, kL1, kL2, kSquares, kLogSum, kLogSumExp, kArgMax, kArgMin };
struct Reduce {
  At at;
  int64_t count, length;  // outputs, elements of each
  int64_t kept[kMostAxes], kept_steps[kMostAxes], folded[kMostAxes], folded_steps[kMostAxes];
  int32_t kept_axes, folded_axes, fold, last;  // last: of equal extremes the last
  int32_t type, out_type;
};

// Neighbouring elements divided by their deviation; then scale and bias, one for each `span` neighbours.
struct Norm {
  At at;  // x, scale, bias (may be null)
  int64_t count, length, span, parameters;
  float eps;
  int32_t centred, type;
};

// Lines along one axis.
enum LineFunction : int32_t { kSoftmax, kLogSoftmax, kNorm1, kNorm2 };
struct Lines {
  At at;
  int64_t count, length, step;
  int32_t function, type;
};

// Windows over three spatial axes.
struct Pool {
  At at;
  int64_t count;
  int64_t in[3], out[3], kernel[3], strides[3], dilations[3], begins[3], ends[3];
  int32_t mean, count_pad, type;
};

// out[a, i, c] = in[0][a, in[1][i], c], indices below 0 from the end.
struct Gather {
  At at;
  int64_t count, extent, indices, inner;
  int32_t bytes, index_type;
};

// Images made larger: nearest, or linear between two pixels.
struct Resize {
  At at;
  int64_t count, in[2], out[2];
  double scale[2];
  int32_t linear, corners, type;  // corners: align_corners
};

// x[N,C,...], w[O,C/group,...], bias[O] or none -> [N,O,...] (cuDNN). Transposed: x[N,C,...], w[C,O/group,...].
struct Conv {
  int64_t x[5], w[5], y[5];  // extents, `axes` + 2 of them
  int64_t pads[3], strides[3], dilations[3];
  int32_t axes, group, relu, transposed, type;
};

// y[batch,m,n] = a[batch,m,k] b[batch,k,n], row-major (cuBLASLt).
enum Epilogue : int32_t { kPlain, kRelu, kGelu };
struct MatMul {
  int64_t batch, m, n, k;
  int64_t a_step, b_step;  // between matrices of the batch, in elements; 0: the same for all
  int32_t epilogue, type;
};

enum Kind : int32_t { kMap, kCopy, kReduce, kNorm, kLines, kPool, kGather, kResize, kConv, kMatMul };
struct Step {
  Kind kind;
  int32_t in[kMostInputs];  // buffers; kNone behind the last, and for a bias that is not there
  int32_t out;
  union {
    Map map;
    Copy copy;
    Reduce reduce;
    Norm norm;
    Lines lines;
    Pool pool;
    Gather gather;
    Resize resize;
    Conv conv;
    MatMul matmul;
  };
};

}  // namespace rlgo::gpu
