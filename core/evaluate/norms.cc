// Normalisations: each element in relation to those around it. Sums are formed in double.
#include <cmath>
#include <limits>

#include "core/evaluate/exponential.h"
#include "core/evaluate/kernels.h"
#include "core/evaluate/strided.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;

// body(elements of one line along the axis `axis`, in double precision, to be changed).
template <typename F>
Tensors along_axis(const Call& call, F body) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const int64_t length = x.shape()[axis], step = row_major(x.shape())[axis];
  visit_float(x.dtype(), [&]<typename T>() {
    const T* from = x.data<T>();
    T* to = out.data<T>();
    parallel(call.run, x.elements() / length, std::max<int64_t>(1, kPiece / 8 / length),
             [&](int64_t begin, int64_t end) {
               std::vector<double> line(static_cast<size_t>(length));
               for (int64_t r = begin; r < end; ++r) {
                 const int64_t base = r / step * step * length + r % step;
                 for (int64_t i = 0; i < length; ++i)
                   line[static_cast<size_t>(i)] = static_cast<double>(from[base + i * step]);
                 body(line);
                 for (int64_t i = 0; i < length; ++i)
                   to[base + i * step] = static_cast<T>(line[static_cast<size_t>(i)]);
               }
             });
  });
  return {out};
}

// Shifts the line so that its largest element is 0. A line of infinities has no such shift: NaN.
void shift(std::vector<double>& line) {
  double most = -std::numeric_limits<double>::infinity();
  for (const double value : line) most = value > most ? value : most;
  for (double& value : line) value -= most;
}

template <typename T>
double sum_of(const T* x, int64_t count) {
  std::array<double, 8> lanes{};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (size_t k = 0; k < 8; ++k) lanes[k] += static_cast<double>(x[i + static_cast<int64_t>(k)]);
  }
  for (; i < count; ++i) lanes[0] += static_cast<double>(x[i]);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

template <typename T>
double squares_of(const T* x, int64_t count, double mean) {
  std::array<double, 8> lanes{};
  int64_t i = 0;
  const auto square = [&](int64_t at) {
    const double away = static_cast<double>(x[at]) - mean;
    return away * away;
  };
  for (; i + 8 <= count; i += 8) {
    for (size_t k = 0; k < 8; ++k) lanes[k] += square(i + static_cast<int64_t>(k));
  }
  for (; i < count; ++i) lanes[0] += square(i);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// Each run of `length` neighbouring elements, divided by its deviation from its mean (or from 0, without `centred`);
// then the parameters: `span` neighbouring elements have one scale and bias, of which there are as many as in in[1].
Tensors normalised(const Call& call, int64_t length, int64_t span, bool centred) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  const double eps = call.attrs().f(Attr::eps), count = static_cast<double>(length);
  const int64_t parameters = call.in[1].elements();
  visit_float(x.dtype(), [&]<typename T>() {
    const T *from = x.data<T>(), *scale = call.in[1].data<T>();
    const T* bias = call.in.size() == 3 ? call.in[2].data<T>() : nullptr;
    T* to = out.data<T>();
    parallel(call.run, x.elements() / length, std::max<int64_t>(1, kPiece / 4 / length),
             [&](int64_t begin, int64_t end) {
               for (int64_t start = begin * length; start < end * length; start += length) {
                 const double mean = centred ? sum_of(from + start, length) / count : 0;
                 const double inverse = 1 / std::sqrt(squares_of(from + start, length, mean) / count + eps);
                 const auto set = [&](int64_t at, int64_t p) {
                   const double unit = (static_cast<double>(from[at]) - mean) * inverse * static_cast<double>(scale[p]);
                   to[at] = static_cast<T>(unit + (bias != nullptr ? static_cast<double>(bias[p]) : 0.0));
                 };
                 if (span == 1) {
                   for (int64_t i = 0; i < length; ++i) set(start + i, i);
                   continue;
                 }
                 for (int64_t at = start; at < start + length; at += span) {
                   for (int64_t i = 0; i < span; ++i) set(at + i, at / span % parameters);
                 }
               }
             });
  });
  return {out};
}

Tensors of_channels(const Call& call, int64_t groups) {
  const auto& shape = call.in[0].shape();
  const int64_t plane = call.in[0].elements() / (shape[0] * shape[1]);
  return normalised(call, shape[1] / groups * plane, plane, true);
}

}  // namespace

Tensors softmax_kernel(const Call& call) {
  return along_axis(call, [](std::vector<double>& line) {
    shift(line);
    exponentials(line.data(), static_cast<int64_t>(line.size()), line.data());
    const double factor = 1 / sum_of(line.data(), static_cast<int64_t>(line.size()));
    for (double& value : line) value *= factor;
  });
}

Tensors log_softmax_kernel(const Call& call) {
  return along_axis(call, [](std::vector<double>& line) {
    shift(line);
    double sum = 0;
    for (const double value : line) sum += std::exp(value);
    const double log = std::log(sum);
    for (double& value : line) value -= log;
  });
}

// Lines of zeros stay zeros.
Tensors lp_norm_kernel(const Call& call) {
  const bool of_squares = call.attrs().i(Attr::order) == 2;
  return along_axis(call, [=](std::vector<double>& line) {
    double sum = 0;
    for (const double value : line) sum += of_squares ? value * value : std::abs(value);
    const double norm = of_squares ? std::sqrt(sum) : sum;
    for (double& value : line) value /= norm == 0 ? 1 : norm;
  });
}

Tensors layer_norm_kernel(const Call& call) { return normalised(call, call.in[1].elements(), 1, true); }
Tensors rms_norm_kernel(const Call& call) { return normalised(call, call.in[1].elements(), 1, false); }
Tensors instance_norm_kernel(const Call& call) { return of_channels(call, call.in[0].shape()[1]); }
Tensors group_norm_kernel(const Call& call) { return of_channels(call, call.attrs().i(Attr::group)); }

Tensors batch_norm_kernel(const Call& call) {
  const Tensor& x = call.in[0];
  Tensor out = call.output();
  const int64_t channels = x.shape()[1], planes = x.shape()[0] * channels, plane = x.elements() / planes;
  const double eps = call.attrs().f(Attr::eps);
  visit_float(x.dtype(), [&]<typename T>() {
    const auto at = [&](size_t k, int64_t c) { return static_cast<double>(call.in[k].data<T>()[c]); };
    const T* from = x.data<T>();
    T* to = out.data<T>();
    parallel(call.run, planes, std::max<int64_t>(1, kPiece / 2 / plane), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t c = p % channels;
        const double factor = at(1, c) / std::sqrt(at(4, c) + eps), bias = at(2, c), mean = at(3, c);
        for (int64_t i = p * plane; i < (p + 1) * plane; ++i)
          to[i] = static_cast<T>((static_cast<double>(from[i]) - mean) * factor + bias);
      }
    });
  });
  return {out};
}

}  // namespace rlgo::evaluate
