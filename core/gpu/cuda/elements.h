// Elements in memory and functions of them: for nvcc, and for the tests' stand-in of a GPU, which runs them on the
// host.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <cstring>

#include "core/gpu/steps.h"

#ifdef __CUDACC__
#define RLGO_DEVICE __device__ inline
#else
#define RLGO_DEVICE inline
#endif

namespace rlgo::gpu {

// T, here and below: float for floats of up to 32 bits, double for the rest.
template <typename T>
RLGO_DEVICE T load(const void* data, int32_t type, int64_t i) {
  switch (type) {
    case kF32:
      return static_cast<T>(static_cast<const float*>(data)[i]);
    case kF16:
      return static_cast<T>(__half2float(static_cast<const __half*>(data)[i]));
    case kBF16: {
      const uint32_t bits = static_cast<uint32_t>(static_cast<const uint16_t*>(data)[i]) << 16;
      float value;
      memcpy(&value, &bits, sizeof(value));
      return static_cast<T>(value);
    }
    case kF64:
      return static_cast<T>(static_cast<const double*>(data)[i]);
    case kI64:
      return static_cast<T>(static_cast<const int64_t*>(data)[i]);
    case kI32:
      return static_cast<T>(static_cast<const int32_t*>(data)[i]);
    case kI8:
      return static_cast<T>(static_cast<const int8_t*>(data)[i]);
    default:
      return static_cast<T>(static_cast<const uint8_t*>(data)[i]);  // and booleans
  }
}

// To the nearest for floats; integers lose their fraction and high bits.
template <typename T>
RLGO_DEVICE void store(void* data, int32_t type, int64_t i, T value) {
  switch (type) {
    case kF32:
      return void(static_cast<float*>(data)[i] = static_cast<float>(value));
    case kF16:
      return void(static_cast<__half*>(data)[i] = __float2half(static_cast<float>(value)));
    case kBF16: {
      const float single = static_cast<float>(value);
      uint32_t bits;
      memcpy(&bits, &single, sizeof(bits));
      if (single == single) bits += 0x7fff + (bits >> 16 & 1);  // to the nearest, of two the even one
      return void(static_cast<uint16_t*>(data)[i] = static_cast<uint16_t>(bits >> 16));
    }
    case kF64:
      return void(static_cast<double*>(data)[i] = static_cast<double>(value));
    case kI64:
      return void(static_cast<int64_t*>(data)[i] = static_cast<int64_t>(value));
    case kI32:
      return void(static_cast<int32_t*>(data)[i] = static_cast<int32_t>(static_cast<int64_t>(value)));
    case kBool:
      return void(static_cast<uint8_t*>(data)[i] = value != T(0));
    default:  // of 8 bits, with a sign or without
      return void(static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(static_cast<int64_t>(value)));
  }
}

// log(1 + exp(x)), without overflow.
template <typename T>
RLGO_DEVICE T softplus(T x) {
  return (x < 0 ? T(0) : x) + log1p(exp(-fabs(x)));
}
// A NaN stays one.
template <typename T>
RLGO_DEVICE T clamp(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}

// The map's function of one element.
template <typename T>
RLGO_DEVICE T unary(const Map& p, T x) {
  const T a = T(p.numbers[0]), b = T(p.numbers[1]), c = T(p.numbers[2]);
  switch (p.function) {
#define RLGO_FUNCTION(name, onnx, since, writer, work, value) \
  case k_##name:                                              \
    return value;
#include "core/ops/functions.def"
#undef RLGO_FUNCTION
    case k_gelu:
      return x * T(0.5) * (T(1) + erf(x * T(0.70710678118654752)));
    case k_gelu_tanh:
      return T(0.5) * x * (T(1) + tanh(T(0.79788456080286536) * (x + T(0.044715) * x * x * x)));
    case k_clip:
      return clamp(x, a, b);
    case k_leaky_relu:
      return x > 0 ? x : x * a;
    case k_hard_sigmoid:
      return clamp(x * a + b, T(0), T(1));
    case k_exponential_unit:  // a * (exp(x * b) - 1) below 0, times c
      return x <= 0 ? a * c * expm1(x * b) : x * c;
    case k_swish:
      return x / (T(1) + exp(-x * a));
    case k_thresholded_relu:
      return x > a ? x : T(0);
    case k_logical_not:
      return T(x == 0);
    default:  // cast
      return x;
  }
}

// A function of two elements.
template <typename T>
RLGO_DEVICE T binary(int32_t function, T a, T b) {
  switch (function) {
    case k_add:
      return a + b;
    case k_sub:
      return a - b;
    case k_mul:
      return a * b;
    case k_div:
      return a / b;
    case k_quotient:  // of integers
      return b == 0 ? T(0) : trunc(a / b);
    case k_fmod:
      return fmod(a, b);
    case k_mod: {  // of the divisor's sign
      const T rest = fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case k_pow:
      return pow(a, b);
    case k_min:
      return a != a || a < b ? a : b;
    case k_max:
      return a != a || a > b ? a : b;
    case k_prelu:
      return a > 0 ? a : a * b;
    case k_equal:
      return T(a == b);
    case k_less:
      return T(a < b);
    case k_less_equal:
      return T(a <= b);
    case k_logical_and:
      return T(a != 0 && b != 0);
    default:  // logical_or
      return T(a != 0 || b != 0);
  }
}

}  // namespace rlgo::gpu
